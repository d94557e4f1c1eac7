import { globMatcher } from "./glob.ts";

/** Where GitHub looks for it; the first that is there counts. */
export const CODEOWNERS = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"] as const;

interface Line {
  matches: (path: string) => boolean;
  owners: string[];
}

/** The last line that matches a path owns it; a line without owners takes the path out. */
export function parseCodeowners(text: string): Line[] {
  const lines: Line[] = [];
  for (const line of text.split("\n")) {
    const [pattern = "", ...owners] = line
      .replace(/(^|\s)#.*$/, "")
      .trim()
      .split(/\s+/);
    if (pattern !== "") lines.push({ matches: matcherOf(pattern), owners });
  }
  return lines;
}

export function ownersOf(lines: readonly Line[], path: string): readonly string[] {
  return lines.findLast((line) => line.matches(path))?.owners ?? [];
}

function matcherOf(pattern: string): Line["matches"] {
  const anchored = pattern.startsWith("/") || pattern.slice(0, -1).includes("/");
  const bare = pattern.replace(/^\//, "").replace(/\/$/, "");
  const glob = `${anchored ? "" : "**/"}${bare}`;
  // `apps/*` owns what lies in apps, not what lies deeper; a folder owns all below it.
  const globs = pattern.endsWith("/") ? [`${glob}/**`] : pattern.endsWith("/*") ? [glob] : [glob, `${glob}/**`];
  const matchers = globs.flatMap((one) => globMatcher(one, "paths") ?? []);
  return (path) => matchers.some((matches) => matches(path));
}
