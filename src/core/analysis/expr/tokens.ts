/** A piece of an expression, with where it stands (0-based offset). */
export type Token =
  | { kind: "number"; value: number; at: number }
  | { kind: "string"; value: string; at: number }
  | { kind: "name"; value: string; at: number }
  | { kind: "sign"; value: string; at: number }
  | { kind: "end"; value: ""; at: number };

/** An expression that cannot be read or does not hold for a value. `at`: 0-based offset in it. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
  readonly at: number | undefined;
  constructor(message: string, at?: number) {
    super(at === undefined ? message : `${message} (at ${at + 1})`);
    this.at = at;
  }
}

const SIGNS = ["??", "?.", "**", "==", "!=", "<=", ">=", "&&", "||", "..", ..."+-*/%^<>!?:,.()[]{}|#;="];
/** Blanks and comments. */
const SPACE = /\s+|\/\*[\s\S]*?\*\/|\/\/[^\n]*/y;
const NAME = /[A-Za-z_$][\w$]*/y;
const NUMBER = /0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][+-]?\d+)?/y;
const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r", a: "\u0007", b: "\b", f: "\f", v: "\v" };

/** Splits an expression of expr-lang into its pieces. Throws ExpressionError. */
export function tokens(source: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  while (at < source.length) {
    SPACE.lastIndex = at;
    const space = SPACE.exec(source);
    if (space !== null) {
      at += space[0].length;
      continue;
    }
    const token = one(source, at);
    found.push(token.token);
    at = token.end;
  }
  found.push({ kind: "end", value: "", at });
  return found;
}

function one(source: string, at: number): { token: Token; end: number } {
  const c = source[at] ?? "";
  if (c === "'" || c === '"' || c === "`") return quoted(source, at, c);
  // `1..3` is a range: its first number ends before the dots.
  if (/\d/.test(c) || (c === "." && /\d/.test(source[at + 1] ?? ""))) return number(source, at);
  NAME.lastIndex = at;
  const name = NAME.exec(source)?.[0];
  if (name !== undefined) return { token: { kind: "name", value: name, at }, end: at + name.length };
  const sign = SIGNS.find((known) => source.startsWith(known, at));
  if (sign === undefined) throw new ExpressionError(`${JSON.stringify(c)} means nothing here`, at);
  return { token: { kind: "sign", value: sign, at }, end: at + sign.length };
}

function number(source: string, at: number): { token: Token; end: number } {
  NUMBER.lastIndex = at;
  let text = NUMBER.exec(source)?.[0] ?? "";
  const whole = /^\d[\d_]*/.exec(text)?.[0] ?? "";
  if (source.startsWith("..", at + whole.length)) text = whole;
  const value = Number(text.replaceAll("_", ""));
  if (text === "" || Number.isNaN(value)) throw new ExpressionError("this is no number", at);
  return { token: { kind: "number", value, at }, end: at + text.length };
}

function quoted(source: string, at: number, quote: string): { token: Token; end: number } {
  let value = "";
  let i = at + 1;
  while (i < source.length && source[i] !== quote) {
    if (source[i] !== "\\" || quote === "`") {
      value += source[i++];
      continue;
    }
    const next = source[i + 1] ?? "";
    const code = /^\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4}))/.exec(source.slice(i, i + 6));
    if (code !== null) {
      value += String.fromCharCode(Number.parseInt(code[1] ?? code[2] ?? "", 16));
      i += code[0].length;
    } else {
      value += ESCAPES[next] ?? next;
      i += 2;
    }
  }
  if (source[i] !== quote) throw new ExpressionError("a text is not closed", at);
  return { token: { kind: "string", value, at }, end: i + 1 };
}
