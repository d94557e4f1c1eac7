/** What expr-lang is made of: its pieces, the nodes they are read into, and how tight its operators bind. */
import { fails } from "./values.ts";

/** A piece of an expression, with where it stands (0-based offset). */
export type Token =
  | { kind: "number"; value: number; at: number }
  | { kind: "string" | "name" | "sign"; value: string; at: number }
  | { kind: "end"; value: ""; at: number };

/** In this order a piece is looked for at each place. `1..3` is a range: its first number ends before the dots. */
const PATTERNS = {
  /** Blanks and comments. */
  space: /\s+|\/\*[\s\S]*?\*\/|\/\/[^\n]*/y,
  string: /'(?:\\[\s\S]|[^'\\])*'|"(?:\\[\s\S]|[^"\\])*"|`[^`]*`/y,
  number: /0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][+-]?\d+)?/y,
  name: /[A-Za-z_$][\w$]*/y,
  sign: /\?\?|\?\.|\*\*|[=!<>]=|&&|\|\||\.\.|[-+*/%^<>!?:,.()[\]{}|#;=]/y,
};
const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", a: "\u0007", b: "\b", f: "\f", v: "\v" };

/** Splits an expression of expr-lang into its pieces. Throws ExpressionError. */
export function tokens(source: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const [kind, text] = pieceAt(source, at);
    if (kind === "number") found.push({ kind, value: numberIn(text, at), at });
    else if (kind !== "space") found.push({ kind, value: kind === "string" ? unquote(text) : text, at });
    at += text.length;
  }
  found.push({ kind: "end", value: "", at });
  return found;
}

function pieceAt(source: string, at: number): [kind: keyof typeof PATTERNS, text: string] {
  for (const [kind, pattern] of Object.entries(PATTERNS)) {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0];
    if (text !== undefined) return [kind as keyof typeof PATTERNS, text];
  }
  const character = source[at] ?? "";
  throw /['"`]/.test(character) ? fails("EXPR_OPEN_TEXT", { at }) : fails("EXPR_BAD_CHARACTER", { character, at });
}

function numberIn(text: string, at: number): number {
  const value = Number(text.replaceAll("_", ""));
  if (Number.isNaN(value)) throw fails("EXPR_BAD_NUMBER", { at });
  return value;
}

function unquote(quoted: string): string {
  const text = quoted.slice(1, -1);
  if (quoted.startsWith("`")) return text;
  return text.replace(/\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|([\s\S]))/g, (_, x?: string, u?: string, letter = "") => {
    const code = x ?? u;
    return code === undefined ? (ESCAPES[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16));
  });
}

/** An expression, read. `at`: 0-based offset of the piece that made it. */
export type Node =
  | { kind: "literal"; value: number | string | boolean | null; at: number }
  | { kind: "name"; name: string; at: number }
  /** `#`: the item a predicate is asked of. */
  | { kind: "item"; at: number }
  | { kind: "list"; items: Node[]; at: number }
  | { kind: "map"; pairs: [Node, Node][]; at: number }
  | { kind: "member"; of: Node; key: Node; optional: boolean; at: number }
  /** All that stands behind the first `?.`: where that meets nil, the whole is nil. */
  | { kind: "chain"; of: Node; at: number }
  | { kind: "slice"; of: Node; from: Node | undefined; to: Node | undefined; at: number }
  | { kind: "unary"; op: string; of: Node; at: number }
  | { kind: "binary"; op: string; left: Node; right: Node; at: number }
  | { kind: "choice"; test: Node; yes: Node; no: Node; at: number }
  | { kind: "call"; name: string; args: Node[]; at: number };

/** Of operators that `not` may stand before, as in `not in`. */
export const COMPARES = 20;

/** As in expr-lang, by power: a higher number binds tighter. */
export const BINARY: ReadonlyMap<string, number> = new Map(
  Object.entries({
    0: "|",
    10: "or ||",
    15: "and &&",
    [COMPARES]: "== != < > <= >= in contains startsWith endsWith matches",
    25: "..",
    30: "+ -",
    60: "* / %",
    100: "** ^",
    500: "??",
  }).flatMap(([power, operators]) => operators.split(" ").map((op): [string, number] => [op, Number(power)])),
);
export const NOT = 50;
export const SIGN = 90;

/** Functions whose last argument is asked of each item: `{# > 1}`, or without braces. */
export const PREDICATES: ReadonlySet<string> = new Set(
  "all any none one filter map count find findIndex findLast findLastIndex sum".split(" "),
);
