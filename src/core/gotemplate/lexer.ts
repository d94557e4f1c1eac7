/**
 * Splits Go templates into tokens, and reads the literals among them. Trim markers are applied and comments dropped here; the parser, which
 * alone calls this, sees neither.
 */
import { fails } from "./value.ts";

/** In this order a token is looked for at each place. A space ends before one that belongs to a trimming `-}}`. */
const PATTERNS = {
  space: /(?:(?![ \t\r\n]-\}\})[ \t\r\n])+/y,
  string: /"(?:\\[\s\S]|[^"\\\n])*"|`[^`]*`/y,
  char: /'(?:\\.[^']*|[^'\\\n])'/uy,
  declare: /:=/y,
  pipe: /\|/y,
  left: /\(/y,
  right: /\)/y,
  comma: /,/y,
  assign: /=/y,
  number: /[+-]?(?:0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*)?\.?\d[\d_]*\.?(?:[eEpP][+-]?\d+)?)/y,
  field: /\.[\p{L}_][\p{L}\p{Nd}_]*/uy,
  variable: /\$(?:[\p{L}_][\p{L}\p{Nd}_]*)?/uy,
  word: /[\p{L}_][\p{L}\p{Nd}_]*/uy,
  dot: /\./y,
};
const UNTERMINATED = { '"': "quoted string", "`": "raw quoted string", "'": "character constant" } as const;

/** `text`: as it is written, but for plain text that was trimmed. */
export interface Token {
  type: keyof typeof PATTERNS | "text" | "open" | "close";
  text: string;
}

export function lex(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let trimNext = false;
  for (;;) {
    const open = source.indexOf("{{", at);
    const trims = open !== -1 && /^-[ \t\r\n]/.test(source.slice(open + 2, open + 4));
    let text = source.slice(at, open === -1 ? source.length : open);
    if (trimNext) text = text.replace(/^[ \t\r\n]+/, "");
    if (trims) text = text.replace(/(?<![ \t\r\n])[ \t\r\n]+$/, "");
    if (text !== "") tokens.push({ type: "text", text });
    if (open === -1) return tokens;
    const start = open + (trims ? 4 : 2);
    const close = source.startsWith("/*", start) ? endOfComment(source, start) : lexAction(source, start, tokens);
    at = close.end;
    trimNext = close.trims;
  }
}

interface Close {
  end: number;
  trims: boolean;
}

function closeAt(source: string, at: number): Close | undefined {
  const close = matchAt(/(?:[ \t\r\n]-)?\}\}/y, source, at);
  return close === undefined ? undefined : { end: at + close.length, trims: close.length > 2 };
}

function matchAt(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0];
}

function endOfComment(source: string, at: number): Close {
  const end = source.indexOf("*/", at + 2);
  if (end === -1) throw fails("GO_UNCLOSED", { what: "comment" });
  const close = closeAt(source, end + 2);
  if (close === undefined) throw fails("GO_COMMENT_END");
  return close;
}

function lexAction(source: string, start: number, tokens: Token[]): Close {
  tokens.push({ type: "open", text: "{{" });
  let at = start;
  while (at < source.length) {
    const close = closeAt(source, at);
    if (close !== undefined) {
      tokens.push({ type: "close", text: "}}" });
      return close;
    }
    const token = tokenAt(source, at);
    tokens.push(token);
    at += token.text.length;
  }
  throw fails("GO_UNCLOSED", { what: "action" });
}

function tokenAt(source: string, at: number): Token {
  for (const [type, pattern] of Object.entries(PATTERNS)) {
    const text = matchAt(pattern, source, at);
    if (text !== undefined) return { type: type as Token["type"], text };
  }
  const char = source[at] ?? "";
  if (char in UNTERMINATED) throw fails("GO_UNTERMINATED", { what: UNTERMINATED[char as keyof typeof UNTERMINATED] });
  throw fails("GO_UNEXPECTED", { token: char, in: "an action" });
}

export const ESCAPES: Record<string, string> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  '"': '"',
  "'": "'",
};

/** What a string or character constant stands for. */
export function unquote(quoted: string): string {
  const text = quoted.slice(1, -1);
  if (quoted.startsWith("`")) return text;
  return text.replace(/\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-7]{3}|[\s\S]|$)/g, (_, written: string) => {
    const simple = ESCAPES[written];
    if (simple !== undefined) return simple;
    const [digits, base] = /^[0-7]{3}$/.test(written) ? [written, 8] : [/^[xuU](.+)/.exec(written)?.[1] ?? "", 16];
    const code = Number.parseInt(digits, base);
    if (Number.isNaN(code) || code > 0x10ffff) throw fails("GO_BAD_ESCAPE", { written });
    return String.fromCodePoint(code);
  });
}

/** Reads a number of Go's syntax: an integer in any base (a leading 0 is octal), or a float. */
export function readNumber(written: string): { value: number; isInt: boolean } {
  const plain = written.replaceAll("_", "");
  const digits = plain.replace(/^[+-]/, "");
  const isInt = /^0[xX]/.test(digits) || !/[.eEpP]/.test(digits);
  const value = (plain.startsWith("-") ? -1 : 1) * Number(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
  if (Number.isNaN(value)) throw fails("GO_BAD_NUMBER", { written });
  if (isInt && !Number.isSafeInteger(value)) throw fails("GO_OVERFLOW", { written });
  return { value, isInt };
}
