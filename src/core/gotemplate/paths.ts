/** Go's path.Clean: lexical, with forward slashes. */
export function cleanPath(path: string): string {
  const rooted = path.startsWith("/");
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!rooted) kept.push("..");
  }
  const joined = kept.join("/");
  if (rooted) return `/${joined}`;
  return joined === "" ? "." : joined;
}

/** Go's path.Base. */
export function baseName(path: string): string {
  if (path === "") return ".";
  const trimmed = path.replace(/\/+$/, "");
  return trimmed === "" ? "/" : trimmed.slice(trimmed.lastIndexOf("/") + 1);
}

/** Go's path.Dir: `.` for a file at the root. */
export function dirName(path: string): string {
  return cleanPath(path.slice(0, path.lastIndexOf("/") + 1));
}
