import { errorText, redact } from "../../core/base/error-text.ts";
import { GitError } from "./port.ts";

/** A git command that ended with something else than 0, as it was said. */
export class GitFailure extends Error {
  override name = "GitFailure";
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  constructor(exitCode: number, stdout: string, stderr: string) {
    super(redact(stderr.trim()) || `git ended with ${exitCode}`);
    this.exitCode = exitCode;
    this.stdout = stdout;
    this.stderr = redact(stderr);
  }
}

/** What a host answered instead of what was asked for: it cannot, or wants to be asked less. */
export class HostFailure extends GitFailure {
  override name = "HostFailure";
  constructor(url: string, status: number) {
    super(128, "", `fatal: unable to access '${url}/': The requested URL returned error: ${status}`);
  }
}

const CAUSES: readonly [GitError["kind"], RegExp][] = [
  ["Unauthorized", /authentication failed|could not read (username|password)|returned error: (401|403)|invalid credentials|access denied/i],
  ["NotFound", /repository .*not found|returned error: (404|30\d)|does not appear to be a git repository|couldn't find remote ref/i],
  ["Unavailable", /could not resolve host|failed to connect|couldn't connect|connection (refused|reset|timed out)|timed out|too slow/i],
  ["Unavailable", /returned error: (5\d\d|429)|hung up unexpectedly|early eof|rpc failed|recv failure|ssl/i],
  ["Unavailable", /unable to create '.*\.lock'|cannot lock ref|No space left/i],
  ["NotFound", /bad object|not a valid object name|unknown revision|invalid object name|Not a valid commit/i],
];

/** Whether it failed as it does with a host that is down: no answer, or one of a server that cannot. */
export function isHostsFault(error: unknown): boolean {
  return (
    error instanceof GitFailure &&
    /could not resolve host|failed to connect|couldn't connect|connection (refused|reset|timed out)|returned error: 50[234]/i.test(
      error.stderr,
    )
  );
}

/** What went wrong, as GitError: `doing` says what was being done (`fetch from https://…`). The cause is the failure itself, without secrets. */
export function gitError(doing: string, error: unknown): GitError {
  if (error instanceof GitError) return error;
  const said = error instanceof GitFailure ? error.stderr : redact(errorText(error));
  const kind = error instanceof GitFailure ? (CAUSES.find(([, pattern]) => pattern.test(said))?.[0] ?? "Invalid") : "Unavailable";
  return new GitError(kind, `${doing}: ${lastWords(said)}`, { cause: error });
}

/** The lines that say why, without git's hints and progress. */
function lastWords(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("hint:") && !/^(remote: )?(Counting|Compressing|Receiving|Resolving)/.test(line));
  const telling = lines.filter((line) => /^(fatal|error|remote):/.test(line));
  return (telling.length > 0 ? telling : lines).slice(0, 6).join(" · ").slice(0, 1000) || "git gave no reason";
}

/** What the remote itself wrote (`remote: …` lines): a hook's or a ruleset's own words. */
export function remoteWords(stderr: string): string {
  const lines = stderr
    .split("\n")
    .filter((line) => line.startsWith("remote:"))
    .map((line) => line.slice("remote:".length).trim())
    .filter((line) => line !== "");
  return lines.join(" ").slice(0, 1000);
}
