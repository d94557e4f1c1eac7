/** Sprig's functions of text, but for those that search by regular expressions. */
import { compareText } from "../base/compare-text.ts";
import { type Budget, checkLength, spend } from "./budget.ts";
import { byteLength, quoteGo, sliceBytes } from "./builtins.ts";
import { type FunctionTable, fn, fnSpending } from "./functions.ts";
import { fails, formatValue, type GoMap, type GoValue, isNothing, stringMap, typedList } from "./value.ts";

/** sprig's strslice: what it does to take any value for a list of texts. */
function texts(value: GoValue): string[] {
  return (Array.isArray(value) ? value : [value]).filter((item) => !isNothing(item)).map(formatValue);
}

const SPACE = /[\t\n\v\f\r \u0085\u00a0]+/g;
const FIRST_SPACE = /^[\t\n\v\f\r \u0085\u00a0]+/;
const IS_SPACE = /[\t\n\v\f\r \u0085\u00a0]/;
const NOT_ASCII = /[\u0080-\uffff]/;

/** From the end by hand: a regular expression would look on from each space there is. */
function trim(value: string): string {
  let end = value.length;
  while (end > 0 && IS_SPACE.test(value.charAt(end - 1))) end--;
  return value.slice(0, end).replace(FIRST_SPACE, "");
}

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
function asMap(budget: Budget, parts: readonly string[]): GoMap {
  // A map of so many keys takes far more than the texts in it.
  spend(budget, parts.length);
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

export const TEXT_FUNCTIONS: FunctionTable = {
  trim: fn("string", trim),
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
  quote: fn("any...", (...values) => texts(values).map(quoteGo).join(" ")),
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
  split: fnSpending("string string", (budget, separator, text) => asMap(budget, splitText(separator, text))),
  splitList: fn("string string", (separator, text) => typedList(splitText(separator, text), "string")),
  splitn: fnSpending("string int string", (budget, separator, count, text) => asMap(budget, splitCount(separator, count, text))),
};
