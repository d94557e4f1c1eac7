import { type FunctionTable, fn } from "./functions.ts";
import { fails, GoInt, type GoValue, typeName } from "./value.ts";

/** How sprig makes an int64 of anything: text in Go's number syntax, floats cut towards zero, what is no number is 0. */
export function toInt(value: GoValue): number {
  if (value instanceof GoInt) return value.value;
  if (typeof value === "number") return Number.isFinite(value) ? safe(Math.trunc(value)) : 0;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "string") return 0;
  const plain = value.replace(/\.0+$/, "");
  if (/^[+-]?0\d/.test(plain)) throw fails("LACKS_OCTAL", { text: value });
  return /^(?:0[xX][\da-fA-F]+|[+-]?\d+)$/.test(plain) ? safe(Number(plain)) : 0;
}

function safe(value: number): number {
  if (!Number.isSafeInteger(value)) throw fails("LACKS_BIG_INTEGER", { value });
  return value;
}

/** Each digit can be read in one way only: a long text that is no number costs its length. */
const FLOAT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

function toFloat(value: GoValue): number {
  if (value instanceof GoInt) return value.value;
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "string" && FLOAT.test(value) ? Number(value) : 0;
}

function int64(value: number): GoInt {
  return new GoInt(safe(value), "int64");
}

function divisor(fn: "div" | "mod", value: GoValue): number {
  const by = toInt(value);
  if (by === 0) throw fails("GO_DIVIDE", { fn });
  return by;
}

function round(value: GoValue, places: number, on = 0.5): number {
  const power = 10 ** places;
  const digit = power * toFloat(value);
  const fraction = digit - Math.trunc(digit);
  return (fraction >= on ? Math.ceil(digit) : Math.floor(digit)) / power;
}

const max = fn("any any...", (...values) => int64(Math.max(...values.map(toInt))));

export const MATH_FUNCTIONS: FunctionTable = {
  int: fn("any", (value) => new GoInt(toInt(value))),
  int64: fn("any", (value) => int64(toInt(value))),
  float64: fn("any", toFloat),
  /** 0 for what is no decimal integer. */
  atoi: fn("string", (text) => new GoInt(/^[+-]?\d+$/.test(text) ? safe(Number(text)) : 0)),
  add1: fn("any", (value) => int64(toInt(value) + 1)),
  add: fn("any...", (...values) => int64(values.map(toInt).reduce((sum, value) => sum + value, 0))),
  sub: fn("any any", (a, b) => int64(toInt(a) - toInt(b))),
  mul: fn("any any...", (...values) => int64(values.map(toInt).reduce((product, value) => product * value, 1))),
  div: fn("any any", (a, b) => int64(Math.trunc(toInt(a) / divisor("div", b)))),
  mod: fn("any any", (a, b) => int64(toInt(a) % divisor("mod", b) || 0)),
  max,
  biggest: max,
  min: fn("any any...", (...values) => int64(Math.min(...values.map(toInt)))),
  ceil: fn("any", (value) => Math.ceil(toFloat(value))),
  floor: fn("any", (value) => Math.floor(toFloat(value))),
  round: fn("any int float...", round),
  typeOf: fn("any", typeName),
  typeIs: fn("string any", (type, value) => type === typeName(value)),
};
