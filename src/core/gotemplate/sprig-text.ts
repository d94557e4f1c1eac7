import { compareText } from "../base/compare-text.ts";
import { type FunctionTable, fn, text } from "./functions.ts";
import { byteLength, checkRange, quoted, sliceBytes } from "./printf.ts";
import { formatValue, GoInt, type GoMap, type GoValue, setEntry, stringMap, TemplateError, typedList, UnsupportedError } from "./value.ts";

/** Text longer than this comes from a mistake, or from malice. */
const LONGEST = 10_000_000;

/** sprig's strslice: what it does to take any value for a list of texts. */
export function texts(value: GoValue): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [formatValue(value)];
  return value.filter((item) => item !== null && item !== undefined).map(formatValue);
}

function int(args: readonly GoValue[], index: number): number {
  const value = args[index];
  return value instanceof GoInt ? value.value : 0;
}

const SPACE = "[\\t\\n\\v\\f\\r \\u0085\\u00a0]";
const LEADING = new RegExp(`^${SPACE}+`);
const TRAILING = new RegExp(`${SPACE}+$`);

function trimCut(value: string, cutset: string, start: boolean, end: boolean): string {
  const chars = [...value];
  const cut = new Set(cutset);
  let from = 0;
  let to = chars.length;
  while (start && from < to && cut.has(chars[from] ?? "")) from++;
  while (end && to > from && cut.has(chars[to - 1] ?? "")) to--;
  return chars.slice(from, to).join("");
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
  checkRange(from, to, length);
  return sliceBytes(value, from, to, "substr");
}

function replaceAll(old: string, fresh: string, value: string): string {
  if (old !== "") return value.split(old).join(fresh);
  return `${fresh}${[...value].map((char) => char + fresh).join("")}`;
}

/** Go maps character by character: never one to several, nor by what stands around it. */
function upper(value: string): string {
  if (!/[\u0080-\uffff]/.test(value)) return value.toUpperCase();
  return Array.from(value, (char) => (char.toUpperCase().length === char.length ? char.toUpperCase() : char)).join("");
}

function lower(value: string): string {
  if (!/[\u0080-\uffff]/.test(value)) return value.toLowerCase();
  return Array.from(value, (char) => String.fromCodePoint(char.toLowerCase().codePointAt(0) ?? 0)).join("");
}

function withoutSpace(value: string): string {
  if (/[\u0080-\uffff]/.test(value))
    throw new UnsupportedError("nospace", "nospace of other than ASCII text is not supported: sprig breaks it");
  return value.replace(new RegExp(SPACE, "g"), "");
}

function title(value: string): string {
  return value.replace(/(^|[^\p{L}\p{Nd}_])(\p{L})/gu, (_, before: string, letter: string) => before + upper(letter));
}

function repeat(count: number, value: string): string {
  if (count < 0) throw new TemplateError("error calling repeat: strings: negative Repeat count");
  if (count * value.length > LONGEST) throw new UnsupportedError("repeat", `repeat would make more than ${LONGEST} characters`);
  return value.repeat(count);
}

function indent(width: number, value: string): string {
  const pad = repeat(width, " ");
  return pad + value.replaceAll("\n", `\n${pad}`);
}

function splitText(separator: string, value: string): string[] {
  return separator === "" ? [...value] : value.split(separator);
}

function asMap(parts: readonly string[]): GoMap {
  const map: GoMap = {};
  parts.forEach((part, index) => {
    setEntry(map, `_${index}`, part);
  });
  return stringMap(map as Record<string, string>);
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

function present(args: readonly GoValue[]): GoValue[] {
  return args.filter((value) => value !== undefined && value !== null);
}

function trimmed(value: string): string {
  return value.replace(LEADING, "").replace(TRAILING, "");
}

export const TEXT_FUNCTIONS: FunctionTable = {
  trim: fn("string", (a) => trimmed(text(a, 0))),
  trimAll: fn("string string", (a) => trimCut(text(a, 1), text(a, 0), true, true)),
  trimall: fn("string string", (a) => trimCut(text(a, 1), text(a, 0), true, true)),
  trimSuffix: fn("string string", (a) =>
    text(a, 0) !== "" && text(a, 1).endsWith(text(a, 0)) ? text(a, 1).slice(0, -text(a, 0).length) : text(a, 1),
  ),
  trimPrefix: fn("string string", (a) => (text(a, 1).startsWith(text(a, 0)) ? text(a, 1).slice(text(a, 0).length) : text(a, 1))),
  upper: fn("string", (a) => upper(text(a, 0))),
  lower: fn("string", (a) => lower(text(a, 0))),
  title: fn("string", (a) => title(text(a, 0))),
  untitle: fn("string", (a) => text(a, 0).replace(/(^|\s)(\p{L})/gu, (_, before: string, letter: string) => before + lower(letter))),
  nospace: fn("string", (a) => withoutSpace(text(a, 0))),
  contains: fn("string string", (a) => text(a, 1).includes(text(a, 0))),
  hasPrefix: fn("string string", (a) => text(a, 1).startsWith(text(a, 0))),
  hasSuffix: fn("string string", (a) => text(a, 1).endsWith(text(a, 0))),
  replace: fn("string string string", (a) => replaceAll(text(a, 0), text(a, 1), text(a, 2))),
  repeat: fn("int string", (a) => repeat(int(a, 0), text(a, 1))),
  substr: fn("int int string", (a) => substr(int(a, 0), int(a, 1), text(a, 2))),
  trunc: fn("int string", (a) => trunc(int(a, 0), text(a, 1))),
  abbrev: fn("int string", (a) => abbrev(int(a, 0), text(a, 1))),
  indent: fn("int string", (a) => indent(int(a, 0), text(a, 1))),
  nindent: fn("int string", (a) => `\n${indent(int(a, 0), text(a, 1))}`),
  plural: fn("string string int", (a) => (int(a, 2) === 1 ? text(a, 0) : text(a, 1))),
  quote: fn(
    "",
    (a) =>
      present(a)
        .map((value) => quoted(formatValue(value)))
        .join(" "),
    "any",
  ),
  squote: fn(
    "",
    (a) =>
      present(a)
        .map((value) => `'${formatValue(value)}'`)
        .join(" "),
    "any",
  ),
  cat: fn("", (a) => present(a).map(formatValue).join(" "), "any"),
  toString: fn("any", ([value]) => formatValue(value)),
  toStrings: fn("any", ([value]) => typedList(texts(value), "string")),
  join: fn("string any", (a) => texts(a[1]).join(text(a, 0))),
  sortAlpha: fn("any", ([value]) => typedList((value === null ? ["<nil>"] : texts(value)).sort(compareText), "string")),
  split: fn("string string", (a) => asMap(splitText(text(a, 0), text(a, 1)))),
  splitList: fn("string string", (a) => typedList(splitText(text(a, 0), text(a, 1)), "string")),
  splitn: fn("string int string", (a) => asMap(splitCount(text(a, 0), int(a, 1), text(a, 2)))),
};
