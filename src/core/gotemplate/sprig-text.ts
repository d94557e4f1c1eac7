import { compareText } from "../base/compare-text.ts";
import { type FunctionTable, fn } from "./functions.ts";
import { byteLength, quoted, sliceBytes } from "./printf.ts";
import { fails, formatValue, type GoMap, type GoValue, isNothing, lacks, stringMap, typedList } from "./value.ts";

/** Text longer than this comes from a mistake, or from malice. */
const LONGEST = 10_000_000;

/** sprig's strslice: what it does to take any value for a list of texts. */
function texts(value: GoValue): string[] {
  return present(Array.isArray(value) ? value : [value]).map(formatValue);
}

function present(values: readonly GoValue[]): GoValue[] {
  return values.filter((value) => !isNothing(value));
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
  if (old !== "") return value.split(old).join(fresh);
  return `${fresh}${[...value].map((char) => char + fresh).join("")}`;
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
  if (NOT_ASCII.test(value)) throw lacks("LACKS_NOSPACE");
  return value.replace(SPACE, "");
}

function repeat(count: number, value: string): string {
  if (count < 0) throw fails("GO_REPEAT");
  if (count * value.length > LONGEST) throw lacks("LACKS_LONG_TEXT", { most: LONGEST });
  return value.repeat(count);
}

function indent(width: number, value: string): string {
  const pad = repeat(width, " ");
  return pad + value.replaceAll("\n", `\n${pad}`);
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

const trimAllOf = fn("string string", trimAll);

export const TEXT_FUNCTIONS: FunctionTable = {
  trim: fn("string", (text) => text.replace(OUTER_SPACE, "")),
  trimAll: trimAllOf,
  trimall: trimAllOf,
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
  join: fn("string any", (separator, value) => texts(value).join(separator)),
  sortAlpha: fn("any", (value) => typedList((value === null ? ["<nil>"] : texts(value)).sort(compareText), "string")),
  split: fn("string string", (separator, text) => asMap(splitText(separator, text))),
  splitList: fn("string string", (separator, text) => typedList(splitText(separator, text), "string")),
  splitn: fn("string int string", (separator, count, text) => asMap(splitCount(separator, count, text))),
};
