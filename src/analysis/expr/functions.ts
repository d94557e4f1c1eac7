import { ExpressionError } from "./tokens.ts";
import { compare, isList, isMap, nameOf, type Value, wantNumber } from "./values.ts";

type Fn = (args: readonly Value[], at: number) => Value;

function number(name: string, of: (n: number) => Value): Fn {
  return (args, at) => of(wantNumber(only(name, args, at), `what ${name}() is given`, at));
}

function text(name: string, of: (s: string) => Value): Fn {
  return (args, at) => {
    const value = only(name, args, at);
    if (typeof value !== "string") throw new ExpressionError(`${name}() wants a text, not ${nameOf(value)}`, at);
    return of(value);
  };
}

function only(name: string, args: readonly Value[], at: number): Value {
  const [value] = args;
  if (args.length !== 1 || value === undefined) throw new ExpressionError(`${name}() takes one value`, at);
  return value;
}

function numbers(name: string, args: readonly Value[], at: number): number[] {
  const all = args.flatMap((arg) => (isList(arg) ? arg : [arg])).map((value) => wantNumber(value, `what ${name}() is given`, at));
  if (all.length === 0) throw new ExpressionError(`${name}() of nothing`, at);
  return all;
}

function list(name: string, value: Value | undefined, at: number): Value[] {
  if (value === undefined || !isList(value)) throw new ExpressionError(`${name}() wants a list`, at);
  return value;
}

/** Go's strconv: the whole text, no blanks around it. */
function parsed(name: string, whole: boolean): Fn {
  const shape = whole ? /^[+-]?\d+$/ : /^[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|Inf(?:inity)?|NaN)$/i;
  return text(name, (value) => {
    if (!shape.test(value)) throw new ExpressionError(`${name}() cannot read ${nameOf(value)}`);
    if (/nan$/i.test(value)) return Number.NaN;
    if (/inf/i.test(value)) return value.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    return Number(value);
  });
}

function convert(name: string, whole: boolean): Fn {
  return (args, at) => {
    const value = only(name, args, at);
    if (typeof value === "string") return parsed(name, whole)(args, at);
    const n = wantNumber(value, `what ${name}() is given`, at);
    return whole ? Math.trunc(n) : n;
  };
}

/** The functions of the builtin engine: Argo Rollouts' own (asInt, asFloat, isNaN, isInf, isNil, default) and those of expr-lang that work on values. */
export const functions: Readonly<Record<string, Fn>> = {
  asInt: parsed("asInt", true),
  asFloat: parsed("asFloat", false),
  int: convert("int", true),
  float: convert("float", false),
  isNaN: number("isNaN", (n) => Number.isNaN(n)),
  isInf: number("isInf", (n) => n === Number.POSITIVE_INFINITY || n === Number.NEGATIVE_INFINITY),
  isNil: (args, at) => only("isNil", args, at) === null,
  /** `default(result, 0)`: nil and an empty list are replaced, as Argo Rollouts does. */
  default: ([value, instead], at) => {
    if (value === undefined || instead === undefined) throw new ExpressionError("default() takes a value and what stands in for it", at);
    return value === null || (isList(value) && value.length === 0) ? instead : value;
  },
  len: (args, at) => {
    const value = only("len", args, at);
    if (isList(value)) return value.length;
    if (typeof value === "string") return [...value].length;
    if (isMap(value)) return Object.keys(value).length;
    throw new ExpressionError(`len() of ${nameOf(value)}`, at);
  },
  abs: number("abs", Math.abs),
  ceil: number("ceil", Math.ceil),
  floor: number("floor", Math.floor),
  /** Half away from zero, as Go rounds. */
  round: number("round", (n) => Math.sign(n) * Math.round(Math.abs(n))),
  min: (args, at) => Math.min(...numbers("min", args, at)),
  max: (args, at) => Math.max(...numbers("max", args, at)),
  sum: (args, at) => list("sum", args[0], at).reduce((sum: number, item) => sum + wantNumber(item, "an item of sum()", at), 0),
  mean: (args, at) => {
    const all = numbers("mean", args, at);
    return all.reduce((sum, n) => sum + n, 0) / all.length;
  },
  median: (args, at) => {
    const all = numbers("median", args, at).sort((a, b) => a - b);
    const half = all.length / 2;
    return Number.isInteger(half) ? ((all[half - 1] ?? 0) + (all[half] ?? 0)) / 2 : (all[Math.floor(half)] ?? 0);
  },
  first: (args, at) => list("first", args[0], at)[0] ?? null,
  last: (args, at) => list("last", args[0], at).at(-1) ?? null,
  reverse: (args, at) => [...list("reverse", args[0], at)].reverse(),
  sort: (args, at) => [...list("sort", args[0], at)].sort((a, b) => compare(a, b, "<", at)),
  keys: (args, at) => {
    const value = only("keys", args, at);
    if (!isMap(value)) throw new ExpressionError(`keys() wants a map, not ${nameOf(value)}`, at);
    return Object.keys(value);
  },
  values: (args, at) => {
    const value = only("values", args, at);
    if (!isMap(value)) throw new ExpressionError(`values() wants a map, not ${nameOf(value)}`, at);
    return Object.values(value);
  },
  lower: text("lower", (s) => s.toLowerCase()),
  upper: text("upper", (s) => s.toUpperCase()),
  trim: text("trim", (s) => s.trim()),
  string: (args, at) => {
    const value = only("string", args, at);
    return typeof value === "object" && value !== null ? JSON.stringify(value) : value === null ? "nil" : String(value);
  },
};
