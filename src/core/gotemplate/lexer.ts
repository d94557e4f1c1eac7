import { TemplateError } from "./value.ts";

export type Token =
  | { type: "text"; text: string }
  | { type: "open" | "close" }
  | { type: "space" | "pipe" | "left" | "right" | "comma" | "declare" | "assign" | "dot" }
  | { type: "string"; text: string; value: string }
  | { type: "number" | "char" | "field" | "variable" | "word"; text: string };

const ONE_CHAR = { "|": "pipe", "(": "left", ")": "right", ",": "comma", "=": "assign" } as const;
const PATTERNS: readonly { type: "number" | "field" | "variable" | "word"; pattern: RegExp }[] = [
  { type: "number", pattern: /[+-]?(?:0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*)?\.?\d[\d_]*\.?(?:[eEpP][+-]?\d+)?)/y },
  { type: "field", pattern: /\.[\p{L}_][\p{L}\p{Nd}_]*/uy },
  { type: "variable", pattern: /\$(?:[\p{L}_][\p{L}\p{Nd}_]*)?/uy },
  { type: "word", pattern: /[\p{L}_][\p{L}\p{Nd}_]*/uy },
];

/** Splits a template into text and the tokens of its actions; trim markers are applied, comments dropped. */
export function lex(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let trimNext = false;
  while (at <= source.length) {
    const open = source.indexOf("{{", at);
    const end = open === -1 ? source.length : open;
    const trims = open !== -1 && /^-[ \t\r\n]/.test(source.slice(open + 2, open + 4));
    pushText(tokens, source.slice(at, end), trimNext, trims);
    if (open === -1) break;
    const start = open + 2 + (trims ? 2 : 0);
    const comment = lexComment(source, start);
    const closed = comment ?? lexAction(source, start, tokens);
    at = closed.at;
    trimNext = closed.trims;
  }
  return tokens;
}

function pushText(tokens: Token[], text: string, trimStart: boolean, trimEnd: boolean): void {
  let kept = trimStart ? text.replace(/^[ \t\r\n]+/, "") : text;
  if (trimEnd) kept = kept.replace(/[ \t\r\n]+$/, "");
  if (kept !== "") tokens.push({ type: "text", text: kept });
}

interface Closed {
  at: number;
  trims: boolean;
}

function lexComment(source: string, at: number): Closed | undefined {
  if (!source.startsWith("/*", at)) return undefined;
  const end = source.indexOf("*/", at + 2);
  if (end === -1) throw new TemplateError("unclosed comment");
  const rest = source.slice(end + 2);
  const close = /^([ \t\r\n]-)?\}\}/.exec(rest);
  if (close === null) throw new TemplateError("comment ends before closing delimiter");
  return { at: end + 2 + close[0].length, trims: close[1] !== undefined };
}

function lexAction(source: string, start: number, tokens: Token[]): Closed {
  tokens.push({ type: "open" });
  let at = start;
  while (at < source.length) {
    const close = closing(source, at);
    if (close !== undefined) {
      tokens.push({ type: "close" });
      return close;
    }
    at = lexToken(source, at, tokens);
  }
  throw new TemplateError("unclosed action");
}

function closing(source: string, at: number): Closed | undefined {
  if (source.startsWith("}}", at)) return { at: at + 2, trims: false };
  const trimmed = /[ \t\r\n]-\}\}/y;
  trimmed.lastIndex = at;
  return trimmed.test(source) ? { at: at + 4, trims: true } : undefined;
}

/** Puts one token on the list and returns where the next begins. */
function lexToken(source: string, at: number, tokens: Token[]): number {
  const char = source[at] ?? "";
  if (/[ \t\r\n]/.test(char)) return lexSpace(source, at, tokens);
  if (char === '"' || char === "`") return lexString(source, at, tokens);
  if (char === "'") return lexChar(source, at, tokens);
  if (source.startsWith(":=", at)) {
    tokens.push({ type: "declare" });
    return at + 2;
  }
  if (char in ONE_CHAR) {
    tokens.push({ type: ONE_CHAR[char as keyof typeof ONE_CHAR] });
    return at + 1;
  }
  for (const { type, pattern } of PATTERNS) {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0];
    if (text === undefined) continue;
    tokens.push({ type, text });
    return at + text.length;
  }
  if (char === ".") {
    tokens.push({ type: "dot" });
    return at + 1;
  }
  throw new TemplateError(`unexpected ${JSON.stringify(char)} in an action`);
}

function lexSpace(source: string, start: number, tokens: Token[]): number {
  let at = start;
  while (/[ \t\r\n]/.test(source[at] ?? "") && closing(source, at) === undefined) at++;
  tokens.push({ type: "space" });
  return at;
}

function lexString(source: string, start: number, tokens: Token[]): number {
  const quote = source[start] ?? "";
  let at = start + 1;
  while (at < source.length && source[at] !== quote) {
    if (quote === '"' && source[at] === "\\") at++;
    else if (quote === '"' && source[at] === "\n") break;
    at++;
  }
  if (source[at] !== quote) throw new TemplateError(quote === '"' ? "unterminated quoted string" : "unterminated raw quoted string");
  const text = source.slice(start, at + 1);
  tokens.push({ type: "string", text, value: quote === "`" ? text.slice(1, -1) : unquote(text.slice(1, -1)) });
  return at + 1;
}

function lexChar(source: string, start: number, tokens: Token[]): number {
  const match = /^'(\\.[^']*|[^'\\\n])'/u.exec(source.slice(start));
  if (match === null) throw new TemplateError("unterminated character constant");
  tokens.push({ type: "char", text: unquote(match[1] ?? "") });
  return start + match[0].length;
}

const ESCAPES: Record<string, string> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "\\": "\\", '"': '"', "'": "'" };

function unquote(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-7]{3}|[\s\S]|$)/g, (_, written: string) => {
    const simple = ESCAPES[written];
    if (simple !== undefined) return simple;
    const code = /^[xuU]./.test(written)
      ? Number.parseInt(written.slice(1), 16)
      : /^[0-7]{3}$/.test(written)
        ? Number.parseInt(written, 8)
        : Number.NaN;
    if (Number.isNaN(code) || code > 0x10ffff) throw new TemplateError(`invalid syntax: \\${written} is no escape of a Go string`);
    return String.fromCodePoint(code);
  });
}
