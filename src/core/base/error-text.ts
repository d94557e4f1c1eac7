/** Tokens of GitHub in any text: by prefix, since their length is not fixed. */
const TOKEN = /\b(?:gh[pousr]_[\w.-]+|github_pat_\w+|v1\.[0-9a-f]{40})/g;

/** Takes tokens, and passwords in URLs, out of what a remote, a hook or GitHub says: that is anybody's words. */
export function redact(text: string): string {
  return text.replace(TOKEN, "[token]").replace(/\/\/[^/@\s]+@/g, "//");
}

/** What an error says; of what was thrown and is none, its text. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
