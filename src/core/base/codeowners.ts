import { globMatcher } from "./glob.ts";

/** Where GitHub looks for it; the first that is there counts. */
export const CODEOWNERS = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"] as const;

interface Line {
  matches: (path: string) => boolean;
  owners: string[];
}

/** A repository with more lines, or more patterns among them, is one whose owners are not looked up: somebody may own each path of it. */
const MOST_LINES = 10_000;
const MOST_PATTERNS = 500;
/** Characters of a line. */
const LONGEST_LINE = 4096;

/** The last line that matches a path owns it; a line without owners takes the path out. */
export function parseCodeowners(text: string): Line[] {
  const lines: Line[] = [];
  const all = text.split("\n", MOST_LINES + 1);
  let patterns = 0;
  for (const line of all) {
    const [pattern = "", ...owners] = line
      .slice(0, LONGEST_LINE)
      .replace(/(^|\s)#.*$/s, "")
      .trim()
      .split(/\s+/);
    if (pattern === "") continue;
    if (SPECIAL.test(pattern)) patterns += 1;
    lines.push({ matches: matcherOf(pattern), owners });
    if (patterns > MOST_PATTERNS) return [somebodyOf(lines)];
  }
  return all.length > MOST_LINES ? [somebodyOf(lines)] : lines;
}

function somebodyOf(lines: readonly Line[]): Line {
  return { matches: () => true, owners: lines.find(({ owners }) => owners.length > 0)?.owners ?? ["CODEOWNERS"] };
}

export function ownersOf(lines: readonly Line[], path: string): readonly string[] {
  return lines.findLast((line) => line.matches(path))?.owners ?? [];
}

const SPECIAL = /[*?[\]\\]/;

function matcherOf(pattern: string): Line["matches"] {
  const anchored = pattern.startsWith("/") || pattern.slice(0, -1).includes("/");
  const bare = pattern.replace(/^\//, "").replace(/\/$/, "");
  const isFolder = pattern.endsWith("/");
  // Quicker than a pattern, and most lines are plain names. A folder's name is no file's.
  if (!SPECIAL.test(pattern)) {
    if (anchored) return (path) => path.startsWith(`${bare}/`) || (!isFolder && path === bare);
    return (path) => `/${path}`.includes(`/${bare}/`) || (!isFolder && `/${path}`.endsWith(`/${bare}`));
  }
  const glob = `${anchored ? "" : "**/"}${bare}`;
  // `apps/*` owns what lies in apps, not what lies deeper; a folder owns all below it.
  const globs = isFolder ? [`${glob}/**`] : pattern.endsWith("/*") ? [glob] : [glob, `${glob}/**`];
  const matchers = globs.flatMap((one) => globMatcher(one, "paths") ?? []);
  return (path) => matchers.some((matches) => matches(path));
}
