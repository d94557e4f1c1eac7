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
