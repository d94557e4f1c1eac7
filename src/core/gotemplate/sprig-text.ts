/**
 * Sprig's functions of text. RE2JS is RE2 as Go has it: the same syntax, the same first match, time linear in the input. What Go does around a
 * match stands here: which empty matches count, what `$1` means in a replacement, how a text is split.
 */
import { type Matcher, RE2JS, RE2JSException } from "re2js";
import { compareText } from "../base/compare-text.ts";
import { type Budget, checkLength, spendOnText } from "./budget.ts";
import { byteLength, quoted, sliceBytes } from "./builtins.ts";
import { type FunctionTable, fn, fnSpending, withMust } from "./functions.ts";
import { fails, formatValue, type GoMap, type GoValue, isNothing, stringMap, TemplateError, typedList } from "./value.ts";

/** sprig's strslice: what it does to take any value for a list of texts. */
function texts(value: GoValue): string[] {
  return (Array.isArray(value) ? value : [value]).filter((item) => !isNothing(item)).map(formatValue);
}

const SPACE = /[\t\n\v\f\r \u0085\u00a0]+/g;
const OUTER_SPACE = /^[\t\n\v\f\r \u0085\u00a0]+|[\t\n\v\f\r \u0085\u00a0]+$/g;
const NOT_ASCII = /[\u0080-\uffff]/;

function trimAll(cutset: string, value: string): string {
  const chars = [...value];
  const isKept = (char: string) => !cutset.includes(char);
  const from = chars.findIndex(isKept);
  return from === -1 ? "" : chars.slice(from, chars.findLastIndex(isKept) + 1).join("");
}

function trunc(width: number, value: string): string {
  const length = byteLength(value);
  if (width < 0 && length + width > 0) return sliceBytes(value, length + width, length, "trunc");
  return width >= 0 && length > width ? sliceBytes(value, 0, width, "trunc") : value;
}

function substr(start: number, end: number, value: string): string {
  const length = byteLength(value);
  const from = Math.max(start, 0);
  const to = start >= 0 && (end < 0 || end > length) ? length : end;
  if (to > length || from > to) throw fails("GO_BOUNDS", { fn: "substr", from, to, length });
  return sliceBytes(value, from, to, "substr");
}

function replaceAll(old: string, fresh: string, value: string): string {
  if (old !== "") return joined(value.split(old), fresh);
  checkLength((value.length + 1) * (fresh.length + 1));
  return `${fresh}${[...value].map((char) => char + fresh).join("")}`;
}

function joined(parts: readonly string[], separator: string): string {
  checkLength(parts.reduce((sum, part) => sum + part.length + separator.length, 0));
  return parts.join(separator);
}

/** Go maps character by character: never one to several, nor by what stands around it. */
function upper(value: string): string {
  if (!NOT_ASCII.test(value)) return value.toUpperCase();
  return Array.from(value, (char) => (char.toUpperCase().length === char.length ? char.toUpperCase() : char)).join("");
}

function lower(value: string): string {
  if (!NOT_ASCII.test(value)) return value.toLowerCase();
  return Array.from(value, (char) => String.fromCodePoint(char.toLowerCase().codePointAt(0) ?? 0)).join("");
}

function withoutSpace(value: string): string {
  if (NOT_ASCII.test(value)) throw fails("LACKS_NOSPACE");
  return value.replace(SPACE, "");
}

function repeat(count: number, value: string): string {
  if (count < 0) throw fails("GO_REPEAT");
  checkLength(count * value.length);
  return value.repeat(count);
}

function indent(width: number, value: string): string {
  const pad = repeat(width, " ");
  return pad + replaceAll("\n", `\n${pad}`, value);
}

function splitText(separator: string, value: string): string[] {
  return separator === "" ? [...value] : value.split(separator);
}

/** `_0`, `_1`, …. */
function asMap(parts: readonly string[]): GoMap {
  return stringMap(Object.fromEntries(parts.map((part, index) => [`_${index}`, part])));
}

function splitCount(separator: string, count: number, value: string): string[] {
  if (count === 0) return [];
  const parts = splitText(separator, value);
  if (count < 0 || parts.length <= count) return parts;
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)];
}

function abbrev(width: number, value: string): string {
  if (width < 4 || byteLength(value) <= width) return value;
  return `${sliceBytes(value, 0, width - 3, "abbrev")}...`;
}

const compiled = new Map<string, RE2JS>();
const MOST_COMPILED = 200;
/** Linear time is still time times the pattern's size. */
const LONGEST_INPUT = 20_000;

interface Match {
  start: number;
  end: number;
  text: string;
  /** By number or name; nothing where there is no such group, or it took no part. */
  group(name: string): string;
}

function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const expression = parsePattern(pattern);
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  compiled.set(pattern, expression);
  return expression;
}

function parsePattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    // Go takes these, and means the first group of the name.
    if (error.message.includes("duplicate capture group name")) throw fails("LACKS_GROUPS", { pattern });
    throw fails("GO_PATTERN", { said: error.message });
  }
}

/** All matches from left to right. An empty one right behind another match is none. */
function* matches(budget: Budget, pattern: string, input: string): Generator<Match> {
  if (input.length > LONGEST_INPUT) throw fails("LACKS_LONG_INPUT", { most: LONGEST_INPUT });
  const matcher = compile(pattern).matcher(input);
  let last = -1;
  // Each search may go to the end of the input before it knows of a match.
  for (spendOnText(budget, input.length); matcher.find(); spendOnText(budget, input.length - matcher.end())) {
    const [start, end] = [matcher.start(), matcher.end()];
    if (start === end && end === last) continue;
    last = end;
    yield { start, end, text: input.slice(start, end), group: (name) => groupOf(matcher, name) };
  }
}

function groupOf(matcher: Matcher, name: string): string {
  if (!/^\d+$/.test(name)) return Object.hasOwn(matcher.namedGroups, name) ? (matcher.group(name) ?? "") : "";
  return Number(name) <= matcher.groupCount() ? (matcher.group(Number(name)) ?? "") : "";
}

/** Go's `$1`, `${1}`, `$name`: a name takes as many letters, digits and underscores as there are. */
function expand(replacement: string, match: Match): string {
  return replacement.replace(/\$(?:\$|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu, (_, braced?: string, bare?: string) => {
    const name = braced ?? bare;
    return name === undefined ? "$" : match.group(name);
  });
}

function replace(budget: Budget, pattern: string, input: string, fill: (match: Match) => string): string {
  let result = "";
  let at = 0;
  for (const match of matches(budget, pattern, input)) {
    result += input.slice(at, match.start) + fill(match);
    at = match.end;
  }
  return result + input.slice(at);
}

function splitBy(budget: Budget, pattern: string, input: string, count: number): string[] {
  if (count === 0) return [];
  if (pattern.length > 0 && input.length === 0) return [""];
  const parts: string[] = [];
  let start = 0;
  let end = 0;
  for (const match of matches(budget, pattern, input)) {
    if (count > 0 && parts.length === count - 1) break;
    end = match.start;
    if (match.end !== 0) parts.push(input.slice(start, end));
    start = match.end;
  }
  if (end !== input.length) parts.push(input.slice(start));
  return parts;
}

function find(budget: Budget, pattern: string, input: string, count: number): string[] {
  const found = matches(budget, pattern, input).map((match) => match.text);
  return (count < 0 ? found : found.take(count)).toArray();
}

/** Sprig drops the error of a pattern that is none. */
function isMatch(budget: Budget, pattern: string, input: string): boolean {
  try {
    compile(pattern);
  } catch (error) {
    if (error instanceof TemplateError && !error.lacks) return false;
    throw error;
  }
  return find(budget, pattern, input, 1).length > 0;
}

export const TEXT_FUNCTIONS: FunctionTable = {
  trim: fn("string", (text) => text.replace(OUTER_SPACE, "")),
  trimAll: fn("string string", trimAll),
  trimall: fn("string string", trimAll),
  trimSuffix: fn("string string", (suffix, text) => (text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text)),
  trimPrefix: fn("string string", (prefix, text) => (text.startsWith(prefix) ? text.slice(prefix.length) : text)),
  upper: fn("string", upper),
  lower: fn("string", lower),
  title: fn("string", (text) =>
    text.replace(/(^|[^\p{L}\p{Nd}_])(\p{L})/gu, (_, before: string, letter: string) => before + upper(letter)),
  ),
  untitle: fn("string", (text) => text.replace(/(^|\s)(\p{L})/gu, (_, before: string, letter: string) => before + lower(letter))),
  nospace: fn("string", withoutSpace),
  contains: fn("string string", (part, text) => text.includes(part)),
  hasPrefix: fn("string string", (prefix, text) => text.startsWith(prefix)),
  hasSuffix: fn("string string", (suffix, text) => text.endsWith(suffix)),
  replace: fn("string string string", replaceAll),
  repeat: fn("int string", repeat),
  substr: fn("int int string", substr),
  trunc: fn("int string", trunc),
  abbrev: fn("int string", abbrev),
  indent: fn("int string", indent),
  nindent: fn("int string", (width, text) => `\n${indent(width, text)}`),
  plural: fn("string string int", (one, many, count) => (count === 1 ? one : many)),
  quote: fn("any...", (...values) => texts(values).map(quoted).join(" ")),
  squote: fn("any...", (...values) =>
    texts(values)
      .map((text) => `'${text}'`)
      .join(" "),
  ),
  cat: fn("any...", (...values) => texts(values).join(" ")),
  toString: fn("any", formatValue),
  toStrings: fn("any", (value) => typedList(texts(value), "string")),
  join: fn("string any", (separator, value) => joined(texts(value), separator)),
  sortAlpha: fn("any", (value) => typedList((value === null ? ["<nil>"] : texts(value)).sort(compareText), "string")),
  split: fn("string string", (separator, text) => asMap(splitText(separator, text))),
  splitList: fn("string string", (separator, text) => typedList(splitText(separator, text), "string")),
  splitn: fn("string int string", (separator, count, text) => asMap(splitCount(separator, count, text))),
  ...withMust({
    regexMatch: fnSpending("string string", (budget, pattern, input) => find(budget, pattern, input, 1).length > 0),
    regexFind: fnSpending("string string", (budget, pattern, input) => find(budget, pattern, input, 1)[0] ?? ""),
    regexFindAll: fnSpending("string string int", (budget, pattern, input, count) =>
      typedList(find(budget, pattern, input, count), "string"),
    ),
    regexReplaceAll: fnSpending("string string string", (budget, pattern, input, by) =>
      replace(budget, pattern, input, (match) => expand(by, match)),
    ),
    regexReplaceAllLiteral: fnSpending("string string string", (budget, pattern, input, by) => replace(budget, pattern, input, () => by)),
    regexSplit: fnSpending("string string int", (budget, pattern, input, count) =>
      typedList(splitBy(budget, pattern, input, count), "string"),
    ),
  }),
  regexMatch: fnSpending("string string", isMatch),
  regexQuoteMeta: fn("string", (text) => text.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&")),
};
