/** Says whether git accepts a full ref name: the rules of git-check-ref-format, and no leading dash in any part. */
export function isRefName(ref: string): boolean {
  const parts = ref.split("/");
  return (
    parts.length >= 3 &&
    parts[0] === "refs" &&
    ref.length <= 250 &&
    !hasControl(ref) &&
    !/[ ~^:?*[\\]/.test(ref) &&
    !ref.includes("..") &&
    !ref.includes("@{") &&
    !ref.endsWith(".") &&
    parts.every((part) => part !== "" && !part.startsWith(".") && !part.startsWith("-") && !part.endsWith(".lock"))
  );
}

/** Says whether a text has a control character in it. */
export function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 32 || code === 127) return true;
  }
  return false;
}

export const TAGS = "refs/tags/";

/** The full name of a branch's ref, or of a tag's, which says itself that it is one. */
export function refOf(name: string): string {
  return name.startsWith(TAGS) ? name : `refs/heads/${name}`;
}

/** Whether a revision of a source names this branch or tag, in short or in full. */
export function namesRef(revision: string | undefined, name: string): boolean {
  return revision === refOf(name) || revision === name || (name.startsWith(TAGS) && revision === name.slice(TAGS.length));
}

/** As people call it. */
export function sayRef(name: string): string {
  return name.startsWith(TAGS) ? `tag ${name.slice(TAGS.length)}` : `branch ${name}`;
}
