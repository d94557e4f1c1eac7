import { globMatcher } from "./glob.ts";

/**
 * Compiles globs over paths of a repo, as GitHub's path filters have them: `*` within one folder, `**` over folders, `?` one character,
 * `[a-z]` one of them. A leading `!` takes paths out again, and a pattern without a wildcard is one file, or all of a folder.
 */
export function pathMatcher(globs: readonly string[]): (path: string) => boolean {
  const rules = globs.map((glob) => ({ out: glob.startsWith("!"), matches: ruleMatcher(glob.replace(/^!/, "")) }));
  return (path) => {
    let matched = false;
    for (const { out, matches } of rules) if (matches(path)) matched = !out;
    return matched;
  };
}

function ruleMatcher(glob: string): (path: string) => boolean {
  const clean = glob.replace(/(?<!\/)\/+$/, "");
  if (/[*?[]/.test(clean)) return globMatcher(clean, "paths") ?? (() => false);
  return (path) => path === clean || path.startsWith(`${clean}/`);
}

/** Why a text is no glob over paths; undefined where it is one. */
export function whyNoGlob(glob: string): "Empty" | "TooLong" | "Slash" | "Dots" | undefined {
  const bare = glob.replace(/^!/, "");
  if (bare === "") return "Empty";
  if (bare.length > 1000) return "TooLong";
  if (bare.startsWith("/")) return "Slash";
  return bare.split("/").includes("..") ? "Dots" : undefined;
}
