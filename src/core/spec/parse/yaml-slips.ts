/**
 * Which slip of the fingers a mistake in YAML most likely is: the parser tells where it gave up and in its own words, and people
 * tell by the line what they mistyped. Called by `yaml.ts` for the first mistake of a document.
 */
import { type Document, isAlias, Lexer, visit } from "yaml";
import { nearest } from "../../base/nearest.ts";
import { indentSlip, type Line, lineAt, type Mistake, type Slip } from "./yaml-indent.ts";

/** Names the slip; what is none of those known here is told in the parser's words. `from`: where its document begins. */
export function slipOf(text: string, mistake: Mistake, from = 0): Slip {
  const [offset] = mistake.pos;
  const line = lineAt(text, offset);
  const found =
    markerOf(line) ??
    blankOf(line) ??
    openOf(text, mistake, from) ??
    neverClosed(text, mistake, from) ??
    signOf(text, mistake) ??
    keyOf(line, mistake) ??
    indentSlip(text, line, mistake, from);
  if (found !== undefined && !(UNQUOTED_TEMPLATE.test(line.text) && found.what.kind !== "Blank")) return found;
  const template = UNQUOTED_TEMPLATE.test(text);
  return { what: { kind: "Parser", said: mistake.message.split("\n")[0] ?? "", template }, offset };
}

/** A line or a value that begins with `{{`: YAML reads it as a mapping. Inside of a text, as pins have it, it does no harm. */
const UNQUOTED_TEMPLATE = /^[ \t]*(?:- +)*(?:[\w.-]+: +)?\{\{/m;

/** What git leaves of a merge that nobody finished. */
function markerOf({ text, begins }: Line): Slip | undefined {
  const [marker] = /^(?:<{7}|={7}|>{7})(?= |$)/.exec(text) ?? [];
  return marker === undefined ? undefined : { what: { kind: "Conflict", marker }, offset: begins };
}

/** What looks like a space and is none. */
const BLANKS: readonly (readonly [string, RegExp])[] = [
  ["tab", /^ *\t/],
  ["no-break space", /^ *[\u00a0\u202f\u2007]/],
  ["wide space", /^ *[\u2000-\u200a\u3000]/],
];

function blankOf({ text, begins }: Line): Slip | undefined {
  for (const [blank, pattern] of BLANKS) {
    const [before] = pattern.exec(text) ?? [];
    if (before !== undefined) return { what: { kind: "Blank", blank }, offset: begins + before.length - 1 };
  }
  return undefined;
}

const PAIRS: Readonly<Record<string, string>> = { "{": "}", "[": "]" };

/** A quote or a bracket that is never closed, told where it opens: the parser notices it where something else begins. */
function openOf(text: string, { message, pos: [offset] }: Mistake, from: number): Slip | undefined {
  const isQuote = /^Missing closing ["']quote/.test(message);
  if (!isQuote && !/^Flow (?:map|sequence)\b/.test(message)) return undefined;
  const open: { sign: string; at: number }[] = [];
  for (const { token, at } of tokensOf(text, from)) {
    if (at > offset || (at === offset && !isQuote)) break;
    if (isQuote && /^["']/.test(token) && at + token.length >= offset)
      return { what: { kind: "QuoteOpen", sign: token[0] ?? "" }, offset: at };
    if (token in PAIRS) open.push({ sign: token, at });
    else if (token === PAIRS[open.at(-1)?.sign ?? ""]) open.pop();
  }
  const last = open.at(-1);
  if (isQuote || last === undefined) return undefined;
  return { what: { kind: "BracketOpen", sign: last.sign, close: PAIRS[last.sign] ?? "" }, offset: last.at };
}

/** A bracket before the mistake that nothing in the text closes, such as `stages: [` with lines of a block below it: the parser blames one of these. */
function neverClosed(text: string, { pos: [offset] }: Mistake, from: number): Slip | undefined {
  const open: { sign: string; at: number }[] = [];
  for (const { token, at } of tokensOf(text, from)) {
    if (token in PAIRS) open.push({ sign: token, at });
    else if (token === PAIRS[open.at(-1)?.sign ?? ""]) open.pop();
  }
  const last = open.findLast(({ at }) => at < offset);
  return last && { what: { kind: "BracketOpen", sign: last.sign, close: PAIRS[last.sign] ?? "" }, offset: last.at };
}

/** Marks of the lexer's own, which stand for nothing in the text. */
const OF_LEXER = new Set(["\u0002", "\u0018", "\u001f"]);

/** Not from the beginning of the file: of many documents each may have its mistake. */
function* tokensOf(text: string, from: number): Generator<{ token: string; at: number }> {
  let at = from;
  for (const token of new Lexer().lex(text.slice(from))) {
    if (OF_LEXER.has(token)) continue;
    yield { token, at };
    at += token.length;
  }
}

function signOf(text: string, { code, message, pos: [offset] }: Mistake): Slip | undefined {
  const sign = text[offset] ?? "";
  if (code === "BAD_SCALAR_START") return { what: { kind: "Reserved", sign }, offset };
  if (code === "UNEXPECTED_TOKEN" && /^Unexpected flow-(?:map|seq)-end/.test(message))
    return { what: { kind: "BracketExtra", sign }, offset };
  if (/^Unexpected scalar at node end/.test(message) && /["'] *$/.test(text.slice(Math.max(0, offset - 80), offset)))
    return { what: { kind: "AfterQuote" }, offset };
  return undefined;
}

const KEY = /^\s*(?:- +)*([\w./-]+)/;

/** A key without its colon, without a space after it, or with another one in its value. */
function keyOf({ text, begins }: Line, { code, message }: Mistake): Slip | undefined {
  const [before = "", key] = KEY.exec(text) ?? [];
  if (key === undefined) return undefined;
  const rest = text.slice(before.length).replace(/\s#.*$/, "");
  const offset = begins + before.length;
  if (code === "MULTILINE_IMPLICIT_KEY" || code === "MISSING_CHAR") {
    if (/^:(?!\/\/)\S/.test(rest)) return { what: { kind: "NoSpace", key }, offset };
    if (!/:(?:\s|$)/.test(rest)) return { what: { kind: "NoColon", key }, offset };
  }
  const [colon] = /^:\s+[^\s"'{[|>&*!][^"']*?(?=:(?:\s|$))/.exec(rest) ?? [];
  if (/^Nested mappings/.test(message) && colon !== undefined) return { what: { kind: "ColonInValue" }, offset: offset + colon.length };
  return undefined;
}

/** An alias of nothing before it; `anchor`: the one that was most likely meant. */
export function aliasSlip(document: Document, fallback: number): Slip | undefined {
  const anchors: string[] = [];
  let found: Slip | undefined;
  visit(document, {
    Node(_, node) {
      if (isAlias(node) && !anchors.includes(node.source)) {
        const { source: name } = node;
        found = { what: { kind: "Alias", name, near: nearest(name, anchors) }, offset: node.range?.[0] ?? fallback };
        return visit.BREAK;
      }
      if (!isAlias(node) && node.anchor !== undefined) anchors.push(node.anchor);
      return undefined;
    },
  });
  return found;
}

/** Bytes that are no UTF-8, as they come out of reading it. `isWhole`: it is another encoding, so that nothing can be read. */
export function otherEncoding(text: string): { offset: number; isWhole: boolean } | undefined {
  const offset = text.indexOf("\ufffd");
  const isWhole = text.includes("\u0000");
  return offset === -1 && !isWhole ? undefined : { offset: Math.max(0, offset), isWhole };
}
