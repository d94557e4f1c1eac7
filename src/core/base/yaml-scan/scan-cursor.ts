import type { Pair } from "./model.ts";

/** The scanner's place in the text, and the steps that move it. All of them give up (throw BAIL) on what they do not understand. */
export interface Cursor {
  readonly text: string;
  pos: number;
  /** Column of the content at `pos`; -1: the end of the file or a `---`/`...` line. */
  indent: number;
  lineStart: number;
  /** Where the last plain scalar's scan stopped: a colon, a comment's `#`, or the end of the line. */
  stop: number;
  depth: number;
  readonly json: boolean;
  /** A list of thousands of items has the same few keys in each. */
  readonly keys: Map<string, string>;
  /** Those of the mappings that are not read to their end: a list that is grown by `push` has room for a dozen more than it needs. */
  readonly pairs: Pair[];
}

export function keyOnce({ keys }: Cursor, key: string): string {
  const known = keys.get(key);
  if (known !== undefined) return known;
  keys.set(key, key);
  return key;
}

/** Thrown where the scanner gives up. Made once: its stack is of no use. */
export const BAIL = new Error("not for the line scanner");

/** Collections inside one another; more is no config file. */
export const MAX_DEPTH = 200;

export function enter(c: Cursor): void {
  if (++c.depth > MAX_DEPTH) throw new RangeError("nested too deep");
}

export function isBlank(c: Cursor, at: number): boolean {
  const code = c.text.charCodeAt(at);
  return code === 32 || code === 10 || code === 13 || Number.isNaN(code) || (code === 9 && tab());
}

function tab(): never {
  throw BAIL;
}

export function skipSpaces(c: Cursor, from: number): number {
  let at = from;
  while (c.text.charCodeAt(at) === 32) at++;
  return at;
}

/** Nothing but perhaps a comment stands from here to the end of the line. */
export function lineEnds(c: Cursor, at: number): boolean {
  const code = c.text.charCodeAt(at);
  if (code === 35) return c.text.charCodeAt(at - 1) === 32;
  return code === 10 || code === 13 || at >= c.text.length;
}

/** Ends the line after a value and goes to the next content. */
export function finishLine(c: Cursor, from: number): void {
  let at = from;
  let code = c.text.charCodeAt(at);
  while (code === 32 || code === 9) code = c.text.charCodeAt(++at);
  if (code === 35) {
    if (at === from && c.text.charCodeAt(at - 1) !== 32) throw BAIL;
  } else if (code !== 10 && code !== 13 && at < c.text.length) throw BAIL;
  const newline = code === 10 ? at : c.text.indexOf("\n", at);
  nextContent(c, newline === -1 ? c.text.length : newline + 1);
}

/** From the start of a line to the first character that is neither space nor comment. */
export function nextContent(c: Cursor, from: number): void {
  const { text } = c;
  let line = from;
  while (line < text.length) {
    const at = skipSpaces(c, line);
    const code = text.charCodeAt(at);
    if (code === 9) throw BAIL;
    if (code === 35 || code === 10 || code === 13) {
      const newline = code === 10 ? at : text.indexOf("\n", at);
      if (newline === -1) break;
      line = newline + 1;
      continue;
    }
    if (at >= text.length) break;
    c.pos = at;
    c.lineStart = line;
    c.indent = at - line;
    if (at === line || c.lineStart <= 1) boundary(c, code);
    return;
  }
  c.pos = text.length;
  c.lineStart = text.length;
  c.indent = -1;
}

function boundary(c: Cursor, code: number): void {
  if (code === 37) throw BAIL;
  if (code !== 45 && code !== 46) return;
  const { text, pos } = c;
  if (c.indent === 0 && (text.startsWith("---", pos) || text.startsWith("...", pos)) && isBlank(c, pos + 3)) c.indent = -1;
}

/** End of a plain scalar in block context, trimmed; `stop` says what ended it. */
export function plainEnd(c: Cursor, from: number): number {
  const { text } = c;
  if (!startsPlain(text.charCodeAt(from))) throw BAIL;
  let at = from;
  let end = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13) break;
    if (code === 32 || code === 9) continue;
    if (code === 58 && isBlank(c, at + 1)) break;
    if (code === 35 && end < at) break;
    end = at + 1;
  }
  c.stop = at;
  return end;
}

/** Indicators that cannot begin a plain scalar, and `?` and `:`, which seldom do. */
export function startsPlain(code: number): boolean {
  switch (code) {
    case 9:
    case 33: // !
    case 34: // "
    case 35: // #
    case 37: // %
    case 38: // &
    case 39: // '
    case 42: // *
    case 44: // ,
    case 58: // :
    case 62: // >
    case 63: // ?
    case 64: // @
    case 91: // [
    case 93: // ]
    case 96: // `
    case 123: // {
    case 124: // |
    case 125: // }
      return false;
  }
  return true;
}

/** After the closing quote of a quoted scalar on one line. */
export function quotedEnd(c: Cursor, from: number): number {
  const { text } = c;
  const quote = text.charCodeAt(from);
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13) break;
    if (code === 92 && quote === 34) {
      at++;
      if (!c.json && !'"\\/bfnrt0'.includes(text.charAt(at)) && !/^u[0-9A-Fa-f]{4}$/.test(text.slice(at, at + 5))) break;
    } else if (code === quote) {
      if (quote === 39 && text.charCodeAt(at + 1) === 39) at++;
      else return at + 1;
    }
  }
  throw BAIL;
}
