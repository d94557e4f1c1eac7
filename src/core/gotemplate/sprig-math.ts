import { type FunctionTable, fn } from "./functions.ts";
import { GoInt, type GoValue, TemplateError, typeName, UnsupportedError } from "./value.ts";

/** How sprig makes an int64 of anything: text in Go's number syntax, floats cut towards zero, what is no number is 0. */
export function toInt(value: GoValue): number {
  if (value instanceof GoInt) return value.value;
  if (typeof value === "number") return Number.isFinite(value) ? safe(Math.trunc(value)) : 0;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "string") return 0;
  const plain = value.replace(/\.0+$/, "");
  if (/^[+-]?0\d/.test(plain))
    throw new UnsupportedError(
      "int",
      `the integer of ${JSON.stringify(value)} depends on the version of Argo CD (a leading zero may mean octal)`,
    );
  if (/^0[xX][\da-fA-F]+$/.test(plain)) return safe(Number(plain));
  return /^[+-]?\d+$/.test(plain) ? safe(Number(plain)) : 0;
}

function safe(value: number): number {
  if (!Number.isSafeInteger(value)) throw new UnsupportedError("int", `the integer ${value} is too large to be exact here`);
  return value;
}

function toFloat(value: GoValue): number {
  if (value instanceof GoInt) return value.value;
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "string" || !/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value)) return 0;
  return Number(value);
}

function int64(value: number): GoInt {
  return new GoInt(safe(value), "int64");
}

function divide(args: GoValue[], name: "div" | "mod"): GoInt {
  const [a = 0, b = 0] = args.map(toInt);
  if (b === 0) throw new TemplateError(`error calling ${name}: integer divide by zero`);
  return int64(name === "div" ? Math.trunc(a / b) : a % b || 0);
}

function round(args: GoValue[]): number {
  const places = args[1] instanceof GoInt ? args[1].value : 0;
  const on = typeof args[2] === "number" ? args[2] : 0.5;
  const power = 10 ** places;
  const digit = power * toFloat(args[0]);
  const fraction = digit - Math.trunc(digit);
  return (fraction >= on ? Math.ceil(digit) : Math.floor(digit)) / power;
}

/** `atoi` gives 0 for what is no decimal integer. */
function atoi(value: GoValue): GoInt {
  return new GoInt(typeof value === "string" && /^[+-]?\d+$/.test(value) ? safe(Number(value)) : 0);
}

function typeIs(args: GoValue[]): boolean {
  return args[0] === typeName(args[1]);
}

export const MATH_FUNCTIONS: FunctionTable = {
  int: fn("any", ([value]) => new GoInt(toInt(value))),
  int64: fn("any", ([value]) => int64(toInt(value))),
  float64: fn("any", ([value]) => toFloat(value)),
  atoi: fn("string", ([value]) => atoi(value)),
  add1: fn("any", ([value]) => int64(toInt(value) + 1)),
  add: fn("", (args) => int64(args.reduce((sum: number, value) => sum + toInt(value), 0)), "any"),
  sub: fn("any any", ([a, b]) => int64(toInt(a) - toInt(b))),
  mul: fn("any", (args) => int64(args.reduce((product: number, value) => product * toInt(value), 1)), "any"),
  div: fn("any any", (args) => divide(args, "div")),
  mod: fn("any any", (args) => divide(args, "mod")),
  max: fn("any", (args) => int64(Math.max(...args.map(toInt))), "any"),
  biggest: fn("any", (args) => int64(Math.max(...args.map(toInt))), "any"),
  min: fn("any", (args) => int64(Math.min(...args.map(toInt))), "any"),
  ceil: fn("any", ([value]) => Math.ceil(toFloat(value))),
  floor: fn("any", ([value]) => Math.floor(toFloat(value))),
  round: fn("any int", round, "float"),
  typeOf: fn("any", ([value]) => typeName(value)),
  typeIs: fn("string any", typeIs),
};
