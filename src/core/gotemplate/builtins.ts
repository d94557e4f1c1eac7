import { compareText } from "../base/compare-text.ts";
import { type FunctionTable, fn } from "./functions.ts";
import { byteLength, sprint, sprintf } from "./printf.ts";
import { entry, fails, GoInt, type GoValue, isMap, isNothing, isStringMap, truth, typeName } from "./value.ts";

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

/** The functions text/template brings itself; `and` and `or` are part of the interpreter. */
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
  print: fn("any...", (...args) => sprint(args)),
  println: fn("any...", (...args) => `${args.map((arg) => sprint([arg])).join(" ")}\n`),
  printf: fn("string any...", (format, ...args) => sprintf(format, args)),
};
