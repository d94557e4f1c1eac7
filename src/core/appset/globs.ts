/** undefined: the pattern is malformed. */
export type PathMatcher = ((path: string) => boolean) | undefined;

/** Go's path.Match, as git directory generators use it: `*` and `?` stop at `/`; there is no `**`. */
export function matchPath(pattern: string): PathMatcher {
  return compile(pattern, GO);
}

/**
 * Git's own pathspec, as git file generators use it by default: `*` and `?` cross `/`, and a pattern that names a
 * directory takes all below it.
 */
export function matchPathspec(pattern: string): PathMatcher {
  const literal = pattern.replace(/\/+$/, "");
  const glob = /[*?[\\]/.test(pattern) ? compile(pattern, GIT) : undefined;
  return (path) => path === pattern || literal === "" || literal === "." || path.startsWith(`${literal}/`) || glob?.(path) === true;
}

/** The new globbing (doublestar): `*` stops at `/`, `**` as a whole part of the path crosses it, `{a,b}` are alternatives. */
export function matchDoublestar(pattern: string): PathMatcher {
  return compile(pattern.replace(/^(\.?\/)+/, ""), DOUBLESTAR);
}

interface Syntax {
  star: string;
  any: string;
  /** What stands before a `[…]` to say what it may not match. */
  notInClass: string;
  /** What negates a `[…]`. */
  negations: string;
  /** `**` and `{a,b}`. */
  extended: boolean;
}

const GO: Syntax = { star: "[^/]*", any: "[^/]", notInClass: "", negations: "^", extended: false };
const GIT: Syntax = { star: "[\\s\\S]*", any: "[\\s\\S]", notInClass: "", negations: "^!", extended: false };
const DOUBLESTAR: Syntax = { star: "[^/]*", any: "[^/]", notInClass: "(?!/)", negations: "^!", extended: true };

function compile(pattern: string, syntax: Syntax): PathMatcher {
  let body = "";
  let depth = 0;
  for (let at = 0; at < pattern.length; ) {
    const part = piece(pattern, at, syntax, depth);
    if (part === undefined) return undefined;
    body += part.text;
    depth = part.depth;
    at = part.end;
  }
  if (depth !== 0) return undefined;
  try {
    const expression = new RegExp(`^(?:${body})$`, "u");
    return (path) => expression.test(path);
  } catch {
    return undefined;
  }
}

interface Piece {
  text: string;
  end: number;
  depth: number;
}

function piece(pattern: string, at: number, syntax: Syntax, depth: number): Piece | undefined {
  const char = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
  const next = at + char.length;
  if (char === "*") return { ...star(pattern, at, syntax), depth };
  if (char === "?") return { text: syntax.any, end: next, depth };
  if (char === "[") {
    const parsed = bracket(pattern, at, syntax.negations);
    return parsed === undefined ? undefined : { text: syntax.notInClass + parsed.text, end: parsed.end, depth };
  }
  if (char === "\\") return next < pattern.length ? { text: escaped(pattern[next] ?? ""), end: next + 1, depth } : undefined;
  if (syntax.extended && char === "{") return { text: "(?:", end: next, depth: depth + 1 };
  if (syntax.extended && char === "}" && depth > 0) return { text: ")", end: next, depth: depth - 1 };
  if (syntax.extended && char === "," && depth > 0) return { text: "|", end: next, depth };
  return { text: escaped(char), end: next, depth };
}

function star(pattern: string, at: number, syntax: Syntax): { text: string; end: number } {
  const run = /^\*+/.exec(pattern.slice(at))?.[0].length ?? 1;
  const end = at + run;
  const before = at === 0 || "/{,".includes(pattern[at - 1] ?? "");
  if (!syntax.extended || run !== 2 || !before) return { text: syntax.star, end };
  if (pattern[end] === "/") return { text: "(?:[^/]+/)*", end: end + 1 };
  return end === pattern.length || "},".includes(pattern[end] ?? "") ? { text: "[\\s\\S]*", end } : { text: syntax.star, end };
}

function bracket(pattern: string, start: number, negations: string): { text: string; end: number } | undefined {
  let at = start + 1;
  let body = "";
  const negated = pattern[at] !== undefined && negations.includes(pattern[at] ?? "");
  if (negated) at++;
  for (let first = true; at < pattern.length; first = false) {
    let char = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    if (char === "]" && !first) return { text: `[${negated ? "^" : ""}${body}]`, end: at + 1 };
    at += char.length;
    if (char === "\\") char = pattern[at++] ?? "";
    body += char !== "-" ? escaped(char) : first || pattern[at] === "]" ? "\\-" : "-";
  }
  return undefined;
}

function escaped(char: string): string {
  return /[\^$\\.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}
