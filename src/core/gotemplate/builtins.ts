/**
 * The functions that text/template brings itself, as Go's reflect and fmt have them: what compares with what, what an index may be, and how
 * values are printed. `and` and `or` are part of the interpreter.
 */
import { compareText } from "../base/compare-text.ts";
import { checkLength } from "./budget.ts";
import { type FunctionTable, fn } from "./functions.ts";
import { ESCAPES } from "./lexer.ts";
import {
  entry,
  fails,
  formatFloat,
  formatValue,
  GoInt,
  type GoValue,
  isMap,
  isNothing,
  isStringMap,
  sortedKeys,
  truth,
  typeName,
} from "./value.ts";

function basicKind(value: GoValue): string {
  if (value instanceof GoInt) return "int";
  return isNothing(value) ? "object" : typeof value;
}

/** Go compares within a kind only: a number from data (float64) and a literal `3` (int) do not compare. */
function checkKinds(fn: string, left: GoValue, right: GoValue): void {
  if (basicKind(left) !== basicKind(right)) throw fails("GO_INCOMPARABLE", { fn, left: typeName(left), right: typeName(right) });
}

function equal(a: GoValue, b: GoValue): boolean {
  if (isNothing(a) || isNothing(b)) return isNothing(a) === isNothing(b);
  const composite = [a, b].find((value) => Array.isArray(value) || isMap(value));
  if (composite !== undefined) throw fails("GO_NOT_COMPARABLE", { type: typeName(composite) });
  checkKinds("eq", a, b);
  return a instanceof GoInt && b instanceof GoInt ? a.value === b.value : a === b;
}

function less(fn: string, a: GoValue, b: GoValue): boolean {
  checkKinds(fn, a, b);
  if (a instanceof GoInt && b instanceof GoInt) return a.value < b.value;
  if (typeof a === "number" && typeof b === "number") return a < b;
  if (typeof a === "string" && typeof b === "string") return compareText(a, b) < 0;
  throw fails("GO_NO_ORDER", { fn, type: typeName(a) });
}

function lessOrEqual(fn: string, a: GoValue, b: GoValue): boolean {
  return less(fn, a, b) || equal(a, b);
}

function index(value: GoValue, ...keys: GoValue[]): GoValue {
  if (value === undefined || (value === null && keys.length === 0)) throw fails("GO_INDEX_OF", { what: "untyped nil" });
  return keys.reduce(indexOnce, value);
}

function indexOnce(value: GoValue, key: GoValue): GoValue {
  if (value === undefined || value === null) throw fails("GO_INDEX_OF", { what: "nil pointer" });
  const keyType = isNothing(key) ? undefined : typeName(key);
  if (isMap(value)) {
    if (typeof key !== "string") throw fails("GO_KEY_TYPE", { type: keyType });
    return entry(value, key) ?? (isStringMap(value) ? "" : null);
  }
  if (!Array.isArray(value) && typeof value !== "string") throw fails("GO_NO_INDEX", { type: typeName(value) });
  if (!(key instanceof GoInt)) throw fails("GO_INDEX_TYPE", { type: keyType });
  const items = typeof value === "string" ? Array.from(new TextEncoder().encode(value), (byte) => new GoInt(byte, "uint8")) : value;
  if (key.value < 0 || key.value >= items.length) throw fails("GO_OUT_OF_RANGE", { index: key.value });
  return items[key.value];
}

function length(value: GoValue): GoInt {
  if (typeof value === "string") return new GoInt(byteLength(value));
  if (Array.isArray(value)) return new GoInt(value.length);
  if (isMap(value)) return new GoInt(Object.keys(value).length);
  throw fails("GO_NO_LENGTH", { type: isNothing(value) ? undefined : typeName(value) });
}

function isEqualToAny(first: GoValue, ...others: GoValue[]): boolean {
  if (others.length === 0) throw fails("GO_ONE_ARGUMENT", { fn: "eq" });
  return others.some((other) => equal(first, other));
}

interface Verb {
  flags: string;
  width: number;
  precision: number | undefined;
  verb: string;
}

const VERB = /%([-+# 0]*)(\d*)(?:\.(\d*))?([\s\S]?)/gu;

/** Go's fmt.Sprintf, its complaints about wrong verbs included. */
function sprintf(format: string, ...args: readonly GoValue[]): string {
  let used = 0;
  const result = format.replace(VERB, (whole, flags: string, width: string, precision: string | undefined, verb: string) => {
    if (verb === "%") return "%";
    if (verb === "") return "%!(NOVERB)";
    if (verb === "*" || verb === "[" || flags.includes("#")) throw fails("LACKS_VERB", { verb: whole });
    if (used >= args.length) return `%!${verb}(MISSING)`;
    const value = args[used++];
    return formatArg(value, { flags, width: Number(width), precision: precision === undefined ? undefined : Number(precision), verb });
  });
  if (used >= args.length) return result;
  const extra = args.slice(used).map((value) => (isNothing(value) ? "<nil>" : `${typeName(value)}=${formatValue(value)}`));
  return `${result}%!(EXTRA ${extra.join(", ")})`;
}

/** Go's fmt.Sprint: a space between two operands when neither is text. */
function sprint(...args: readonly GoValue[]): string {
  const isApart = (index: number) => index > 0 && typeof args[index] !== "string" && typeof args[index - 1] !== "string";
  return args.map((value, index) => (isApart(index) ? " " : "") + formatValue(value)).join("");
}

function formatArg(value: GoValue, verb: Verb): string {
  if (verb.verb === "T") return pad(typeName(value), verb);
  if (isNothing(value)) return verb.verb === "v" ? pad("<nil>", verb) : `%!${verb.verb}(<nil>)`;
  if (Array.isArray(value)) return `[${value.map((item) => formatItem(item, verb)).join(" ")}]`;
  if (isMap(value)) {
    const pairs = sortedKeys(value).map((key) => `${formatArg(key, verb)}:${formatItem(entry(value, key), verb)}`);
    return `map[${pairs.join(" ")}]`;
  }
  const text = scalar(value, verb);
  if (text !== undefined) return text;
  if (verb.width > 0 || verb.precision !== undefined || verb.flags !== "")
    throw fails("LACKS_VERB_OF", { verb: verb.verb, of: typeName(value) });
  return `%!${verb.verb}(${typeName(value)}=${formatValue(value)})`;
}

/** Within a list or map nil is written alike for every verb. */
function formatItem(value: GoValue, verb: Verb): string {
  return isNothing(value) ? "<nil>" : formatArg(value, verb);
}

/** undefined: the verb does not fit the type. */
function scalar(value: GoValue, verb: Verb): string | undefined {
  if (typeof value === "string") return ofText(value, verb);
  if (value instanceof GoInt) return ofInt(value.value, verb);
  if (typeof value === "number") return ofFloat(value, verb);
  if (typeof value === "boolean") return verb.verb === "t" || verb.verb === "v" ? pad(String(value), verb) : undefined;
  return verb.verb === "s" || verb.verb === "v" ? pad(formatValue(value), verb) : undefined;
}

function ofText(value: string, verb: Verb): string | undefined {
  const cut = verb.precision === undefined ? value : [...value].slice(0, verb.precision).join("");
  if (verb.verb === "s" || verb.verb === "v") return pad(cut, verb);
  if (verb.verb === "q") return pad(quoteGo(cut), verb);
  if (verb.verb !== "x" && verb.verb !== "X") return undefined;
  const hex = [...new TextEncoder().encode(cut)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return pad(verb.verb === "X" ? hex.toUpperCase() : hex, verb);
}

const BASES: Record<string, number> = { d: 10, v: 10, x: 16, X: 16, o: 8, b: 2 };

function ofInt(value: number, verb: Verb): string | undefined {
  if (verb.verb === "q" || (verb.verb === "c" && (value < 0 || value > 0x10ffff))) throw fails("LACKS_VERB_FOR", { verb: verb.verb });
  if (verb.verb === "c") return pad(String.fromCodePoint(value), verb);
  const base = BASES[verb.verb];
  if (base === undefined) return undefined;
  checkLength(verb.precision ?? 0);
  const digits = Math.abs(value)
    .toString(base)
    .padStart(verb.precision ?? 0, "0");
  return padNumber(value < 0, verb.verb === "X" ? digits.toUpperCase() : digits, verb);
}

function ofFloat(value: number, verb: Verb): string | undefined {
  const size = Math.abs(value);
  const negative = value < 0 || Object.is(value, -0);
  switch (verb.verb) {
    case "f":
    case "F":
      if (size >= 1e21) throw fails("LACKS_VERB_FOR", { verb: "f" });
      return padNumber(negative, size.toFixed(verb.precision ?? 6), verb);
    case "e":
      return padNumber(negative, size.toExponential(verb.precision ?? 6).replace(/e([+-])(\d)$/, "e$10$2"), verb);
    case "g":
    case "v":
      if (verb.precision !== undefined) throw fails("LACKS_PRECISION", { verb: verb.verb });
      return padNumber(negative, formatFloat(size), verb);
    case "x":
    case "X":
      throw fails("LACKS_VERB_FOR", { verb: "x" });
    default:
      return undefined;
  }
}

function padNumber(isNegative: boolean, digits: string, verb: Verb): string {
  const sign = isNegative ? "-" : verb.flags.includes("+") ? "+" : verb.flags.includes(" ") ? " " : "";
  checkLength(verb.width);
  const filled = /^[^-]*0[^-]*$/.test(verb.flags) ? digits.padStart(verb.width - sign.length, "0") : digits;
  return pad(sign + filled, verb);
}

function pad(text: string, { flags, width }: Verb): string {
  checkLength(width);
  const missing = Math.max(0, width - [...text].length);
  if (flags.includes("-")) return text + " ".repeat(missing);
  return (flags.includes("0") ? "0" : " ").repeat(missing) + text;
}

const SHORT = new Map(Object.entries(ESCAPES).map(([letter, char]) => [char, `\\${letter}`]));

/** Quotes a text as Go's %q and strconv.Quote do. */
export function quoteGo(text: string): string {
  return `"${Array.from(text, escaped).join("")}"`;
}

function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (char !== "'" && SHORT.has(char)) return SHORT.get(char) ?? "";
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code <= 0x7f || /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(char)) return char;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Go cuts text by bytes: what would cut a character in two is refused. */
export function sliceBytes(text: string, start: number, end: number, name: string): string {
  if (!/[\u0080-\uffff]/.test(text)) return text.slice(start, end);
  const bytes = new TextEncoder().encode(text).slice(start, end);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw fails("LACKS_HALF_CHARACTER", { fn: name, text });
  }
}

export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

export const BUILTINS: FunctionTable = {
  and: fn("raw...", () => undefined),
  or: fn("raw...", () => undefined),
  not: fn("raw", (value) => !truth(value)),
  eq: fn("raw raw...", isEqualToAny),
  ne: fn("raw raw", (a, b) => !equal(a, b)),
  lt: fn("raw raw", (a, b) => less("lt", a, b)),
  le: fn("raw raw", (a, b) => lessOrEqual("le", a, b)),
  gt: fn("raw raw", (a, b) => !lessOrEqual("gt", a, b)),
  ge: fn("raw raw", (a, b) => !less("ge", a, b)),
  index: fn("raw raw...", index),
  len: fn("raw", length),
  print: fn("any...", sprint),
  println: fn("any...", (...args) => `${args.map((arg) => formatValue(arg)).join(" ")}\n`),
  printf: fn("string any...", sprintf),
};
