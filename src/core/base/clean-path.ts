/** Go's `path.Clean`, by the letter: no `.`, no `..` but at the beginning, no slash at the end. */
export function cleanPath(path: string): string {
  const rooted = path.startsWith("/");
  const steps: string[] = [];
  for (const step of path.split("/")) {
    if (step === "" || step === ".") continue;
    if (step !== "..") steps.push(step);
    else if (steps.length > 0 && steps.at(-1) !== "..") steps.pop();
    else if (!rooted) steps.push("..");
  }
  const clean = steps.join("/");
  if (rooted) return `/${clean}`;
  return clean === "" ? "." : clean;
}

/** Go's `path.Join`. */
export function joinPath(...parts: readonly string[]): string {
  return cleanPath(parts.filter((part) => part !== "").join("/"));
}

/** Folders that a file is in, the inmost first; the root is none. */
export function foldersAbove(path: string): string[] {
  const steps = path.split("/").slice(0, -1);
  return steps.map((_, index) => steps.slice(0, steps.length - index).join("/"));
}
