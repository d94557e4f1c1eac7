import { compareText } from "../base/compare-text.ts";
import { type FunctionTable, fn, text } from "./functions.ts";
import { byteLength, sprint, sprintf } from "./printf.ts";
import { entry, GoInt, type GoValue, GoVersion, isMap, isStringMap, TemplateError, truth, typeName } from "./value.ts";

type BasicKind = "bool" | "int" | "float" | "string" | "other";

function basicKind(value: GoValue): BasicKind {
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return "float";
  if (typeof value === "string") return "string";
  return value instanceof GoInt ? "int" : "other";
}

/** Go compares within a kind only: a number from data (float64) and a literal `3` (int) do not compare. */
function equal(a: GoValue, b: GoValue): boolean {
  const kind = basicKind(a);
  if (isNothing(a) || isNothing(b)) return isNothing(a) === isNothing(b);
  if (isComposite(a) || isComposite(b)) {
    const composite = isComposite(a) ? a : b;
    throw new TemplateError(`error calling eq: non-comparable type ${typeName(composite)}`);
  }
  if (kind !== basicKind(b)) {
    throw new TemplateError(`error calling eq: incompatible types for comparison (${typeName(a)} and ${typeName(b)})`);
  }
  if (a instanceof GoInt && b instanceof GoInt) return a.value === b.value;
  return a === b;
}

function isNothing(value: GoValue): boolean {
  return value === undefined || value === null;
}

function isComposite(value: GoValue): boolean {
  return Array.isArray(value) || (isMap(value) && !(value instanceof GoVersion));
}

function less(a: GoValue, b: GoValue, name: string): boolean {
  const kind = basicKind(a);
  if (kind !== basicKind(b))
    throw new TemplateError(`error calling ${name}: incompatible types for comparison (${typeName(a)} and ${typeName(b)})`);
  if (a instanceof GoInt && b instanceof GoInt) return a.value < b.value;
  if (typeof a === "number" && typeof b === "number") return a < b;
  if (typeof a === "string" && typeof b === "string") return compareText(a, b) < 0;
  throw new TemplateError(`error calling ${name}: invalid type for comparison (${typeName(a)})`);
}

function lessOrEqual(a: GoValue, b: GoValue, name: string): boolean {
  return less(a, b, name) || equal(a, b);
}

function index(args: GoValue[]): GoValue {
  let value = args[0];
  if (value === undefined || (value === null && args.length === 1)) throw new TemplateError("error calling index: index of untyped nil");
  for (const key of args.slice(1)) value = indexOnce(value, key);
  return value;
}

function indexOnce(value: GoValue, key: GoValue): GoValue {
  if (value === undefined || value === null) throw new TemplateError("error calling index: index of nil pointer");
  if (isMap(value)) {
    if (key === undefined || key === null) throw new TemplateError("error calling index: value is nil; should be of type string");
    if (typeof key !== "string") throw new TemplateError(`error calling index: value has type ${typeName(key)}; should be string`);
    return entry(value, key) ?? (isStringMap(value) ? "" : null);
  }
  if (!Array.isArray(value) && typeof value !== "string")
    throw new TemplateError(`error calling index: can't index item of type ${typeName(value)}`);
  if (!(key instanceof GoInt))
    throw new TemplateError(`error calling index: cannot index slice/array with ${isNothing(key) ? "nil" : `type ${typeName(key)}`}`);
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  if (key.value < 0 || key.value >= bytes.length) throw new TemplateError(`error calling index: index out of range: ${key.value}`);
  const item = bytes[key.value];
  return typeof item === "number" && typeof value === "string" ? new GoInt(item, "uint8") : (item as GoValue);
}

function length(value: GoValue): GoInt {
  if (typeof value === "string") return new GoInt(byteLength(value));
  if (Array.isArray(value)) return new GoInt(value.length);
  if (isMap(value)) return new GoInt(Object.keys(value).length);
  throw new TemplateError(isNothing(value) ? "error calling len: len of nil pointer" : `error calling len: len of type ${typeName(value)}`);
}

/** The functions text/template brings itself; `and` and `or` are part of the interpreter. */
export const BUILTINS: FunctionTable = {
  and: fn("", () => undefined, "raw"),
  or: fn("", () => undefined, "raw"),
  not: fn("raw", ([value]) => !truth(value)),
  eq: fn(
    "raw",
    ([first, ...others]) => {
      if (others.length === 0) throw new TemplateError("error calling eq: missing argument for comparison");
      return others.some((other) => equal(first, other));
    },
    "raw",
  ),
  ne: fn("raw raw", ([a, b]) => !equal(a, b)),
  lt: fn("raw raw", ([a, b]) => less(a, b, "lt")),
  le: fn("raw raw", ([a, b]) => lessOrEqual(a, b, "le")),
  gt: fn("raw raw", ([a, b]) => !lessOrEqual(a, b, "gt")),
  ge: fn("raw raw", ([a, b]) => !less(a, b, "ge")),
  index: fn("raw", index, "raw"),
  len: fn("raw", ([value]) => length(value)),
  print: fn("", sprint, "any"),
  println: fn("", (args) => `${args.map((arg) => sprint([arg])).join(" ")}\n`, "any"),
  printf: fn("string", (args) => sprintf(text(args, 0), args.slice(1)), "any"),
};
