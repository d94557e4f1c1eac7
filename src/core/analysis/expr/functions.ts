import { type Budget, ofText, spend } from "./budget.ts";
import { ExpressionError } from "./tokens.ts";
import { compare, isList, isMap, keysOf, nameOf, type Value, wantNumber, weigh } from "./values.ts";

/** What a function may know besides its arguments. `result`: what was measured. */
interface Within {
  budget: Budget;
  result: Value;
}

type Fn = (args: readonly Value[], at: number, within: Within) => Value;

function number(name: string, of: (n: number) => Value): Fn {
  return (args, at) => of(wantNumber(only(name, args, at), `what ${name}() is given`, at));
}

function text(name: string, of: (s: string, within: Within) => Value): Fn {
  return (args, at, within) => {
    const value = only(name, args, at);
    if (typeof value !== "string") throw new ExpressionError(`${name}() wants a text, not ${nameOf(value)}`, at);
    spend(within.budget, ofText(value.length));
    return of(value, within);
  };
}

function only(name: string, args: readonly Value[], at: number): Value {
  const [value] = args;
  if (args.length !== 1 || value === undefined) throw new ExpressionError(`${name}() takes one value`, at);
  return value;
}

function numbers(name: string, args: readonly Value[], at: number, { budget }: Within): number[] {
  const all: number[] = [];
  for (const arg of args) {
    const items = isList(arg) ? arg : [arg];
    spend(budget, items.length);
    for (const item of items) all.push(wantNumber(item, `what ${name}() is given`, at));
  }
  if (all.length === 0) throw new ExpressionError(`${name}() of nothing`, at);
  return all;
}

/** One list, and nothing else: what would be left out silently is refused. */
function list(name: string, args: readonly Value[], at: number, { budget }: Within): Value[] {
  const value = only(name, args, at);
  if (!isList(value)) throw new ExpressionError(`${name}() wants a list, not ${nameOf(value)}`, at);
  spend(budget, value.length);
  return value;
}

/** What sorting so many costs, besides reading them. */
function sorting(length: number): number {
  return (length * Math.ceil(Math.log2(length + 1))) / 4;
}

const WHOLE = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|Inf(?:inity)?|NaN)$/i;
/** The largest int64, and the first float64 beyond it. */
const MOST_WHOLE = 2 ** 63;

/** Go's strconv: the whole text, no blanks around it; what is too large for an int64 or a float64 is an error. */
function parsed(name: string, value: string, whole: boolean, at: number): number {
  const cannot = () => new ExpressionError(`${name}() cannot read ${nameOf(value)}`, at);
  if (!(whole ? WHOLE : NUMBER).test(value)) throw cannot();
  if (/nan$/i.test(value)) return Number.NaN;
  if (/inf/i.test(value)) return value.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const n = Number(value);
  if (!Number.isFinite(n) || (whole && Math.abs(n) >= MOST_WHOLE)) throw cannot();
  return n;
}

/** A text read as a number, or a number: a whole one is cut towards zero, as Go converts it. */
function convert(name: string, whole: boolean): Fn {
  return (args, at, { budget }) => {
    const value = only(name, args, at);
    if (typeof value === "string") {
      spend(budget, ofText(value.length));
      return parsed(name, value, whole, at);
    }
    const n = wantNumber(value, `what ${name}() is given`, at);
    if (!whole) return n;
    if (!(Math.abs(n) < MOST_WHOLE)) throw new ExpressionError(`${name}() of ${n}: that is no whole number`, at);
    return Math.trunc(n);
  };
}

function mapOf(name: string, args: readonly Value[], at: number): { [key: string]: Value } {
  const value = only(name, args, at);
  if (!isMap(value)) throw new ExpressionError(`${name}() wants a map, not ${nameOf(value)}`, at);
  return value;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The functions of the builtin engine: Argo Rollouts' own (asInt, asFloat, isNaN, isInf, isNil, default) and those of expr-lang that work on values. */
export const functions: Readonly<Record<string, Fn>> = {
  asInt: convert("asInt", true),
  asFloat: convert("asFloat", false),
  int: convert("int", true),
  float: convert("float", false),
  isNaN: number("isNaN", (n) => Number.isNaN(n)),
  isInf: number("isInf", (n) => n === Number.POSITIVE_INFINITY || n === Number.NEGATIVE_INFINITY),
  /** Argo Rollouts' `isNilFunc`: judges what was measured, whatever it is given. */
  isNil: (args, at, { result }) => {
    only("isNil", args, at);
    return result === null;
  },
  /** Argo Rollouts' `defaultFunc`: replaces what was measured where that is nil, an empty list never; else gives it back whole, whatever it is given. */
  default: (args, at, { result }) => {
    const [, instead] = args;
    if (args.length !== 2 || instead === undefined) throw new ExpressionError("default() takes a value and what stands in for it", at);
    return result ?? instead;
  },
  len: (args, at, { budget }) => {
    const value = only("len", args, at);
    if (isList(value)) return value.length;
    if (isMap(value)) return keysOf(value, budget).length;
    if (typeof value !== "string") throw new ExpressionError(`len() of ${nameOf(value)}`, at);
    spend(budget, value.length / 16);
    return codePoints(value);
  },
  abs: number("abs", Math.abs),
  ceil: number("ceil", Math.ceil),
  floor: number("floor", Math.floor),
  /** Half away from zero, as Go rounds. */
  round: number("round", (n) => Math.sign(n) * Math.round(Math.abs(n))),
  // Not Math.min(...all): so many arguments do not fit on a stack.
  min: (args, at, within) => numbers("min", args, at, within).reduce((a, b) => Math.min(a, b)),
  max: (args, at, within) => numbers("max", args, at, within).reduce((a, b) => Math.max(a, b)),
  sum: (args, at, within) => list("sum", args, at, within).reduce((sum: number, item) => sum + wantNumber(item, "an item of sum()", at), 0),
  mean: (args, at, within) => {
    const all = numbers("mean", args, at, within);
    return all.reduce((sum, n) => sum + n, 0) / all.length;
  },
  median: (args, at, within) => {
    const all = numbers("median", args, at, within);
    spend(within.budget, sorting(all.length));
    all.sort((a, b) => a - b);
    const half = all.length / 2;
    return Number.isInteger(half) ? ((all[half - 1] ?? 0) + (all[half] ?? 0)) / 2 : (all[Math.floor(half)] ?? 0);
  },
  first: (args, at, within) => list("first", args, at, within)[0] ?? null,
  last: (args, at, within) => list("last", args, at, within).at(-1) ?? null,
  reverse: (args, at, within) => [...list("reverse", args, at, within)].reverse(),
  sort: (args, at, within) => [...list("sort", args, at, within)].sort((a, b) => compare(a, b, "<", at, within.budget)),
  keys: (args, at, { budget }) => keysOf(mapOf("keys", args, at), budget),
  values: (args, at, { budget }) => {
    const map = mapOf("values", args, at);
    return keysOf(map, budget).map((key) => map[key] ?? null);
  },
  lower: text("lower", (s) => s.toLowerCase()),
  upper: text("upper", (s) => s.toUpperCase()),
  trim: text("trim", (s) => s.trim()),
  string: (args, at, { budget }) => {
    const value = only("string", args, at);
    weigh(value, budget);
    return typeof value === "object" && value !== null ? JSON.stringify(value) : value === null ? "nil" : String(value);
  },
};
