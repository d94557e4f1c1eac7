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
