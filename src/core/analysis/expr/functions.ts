/**
 * The functions of the builtin engine: Argo Rollouts' own (asInt, asFloat, isNaN, isInf, isNil, default) and those of expr-lang that work on
 * values. Each reads its arguments by a helper that refuses what does not fit; predicates (`all`, `count`, …) are in `evaluate.ts`.
 */
import { compare } from "./operators.ts";
import { type Budget, fails, isList, isMap, keysOf, ofText, outline, spend, type Value, wantNumber, weigh } from "./values.ts";

/** A call. `result`: what was measured. */
interface Call {
  fn: string;
  args: readonly Value[];
  at: number;
  budget: Budget;
  result: Value;
}

function only({ fn, args, at }: Call): Value {
  const [value] = args;
  if (args.length !== 1 || value === undefined) throw fails("EXPR_ONE_VALUE", { fn, at });
  return value;
}

function numberOf(call: Call): number {
  return wantNumber(only(call), { given: call.fn }, call.at);
}

/** One value of a type, and nothing else: what would be left out silently is refused. */
function typed<T extends Value>(call: Call, wanted: "text" | "list" | "map", fits: (value: Value) => value is T): T {
  const value = only(call);
  if (!fits(value)) throw fails("EXPR_TYPE", { fn: call.fn, wanted, is: outline(value), at: call.at });
  return value;
}

function textOf(call: Call): string {
  const text = typed(call, "text", (value) => typeof value === "string");
  spend(call.budget, ofText(text.length));
  return text;
}

function listOf(call: Call): Value[] {
  const list = typed(call, "list", isList);
  spend(call.budget, list.length);
  return list;
}

/** Numbers, and those of lists. */
function numbersOf({ fn, args, at, budget }: Call): number[] {
  const all: number[] = [];
  for (const arg of args) {
    const items = isList(arg) ? arg : [arg];
    spend(budget, items.length);
    for (const item of items) all.push(wantNumber(item, { given: fn }, at));
  }
  if (all.length === 0) throw fails("EXPR_OF_NOTHING", { fn, at });
  return all;
}

const WHOLE = /^[+-]?\d+$/;
/** Each digit can be read in one way only: a long text that is no number costs its length. */
const NUMBER = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|Inf(?:inity)?|NaN)$/i;
/** The largest int64, and the first float64 beyond it. */
const MOST_WHOLE = 2 ** 63;

/** Go's strconv: the whole text, no blanks around it; what is too large for an int64 or a float64 is an error. */
function readNumber({ fn, at }: Call, text: string, whole: boolean): number {
  if ((whole ? WHOLE : NUMBER).test(text)) {
    if (/nan$/i.test(text)) return Number.NaN;
    if (/inf/i.test(text)) return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    const number = Number(text);
    if (Math.abs(number) < (whole ? MOST_WHOLE : Number.POSITIVE_INFINITY)) return number;
  }
  throw fails("EXPR_UNREADABLE", { fn, text: text.slice(0, 41), at });
}

function toFloat(call: Call): number {
  return typeof only(call) === "string" ? readNumber(call, textOf(call), false) : numberOf(call);
}

/** A whole number is cut towards zero, as Go converts it. */
function toInt(call: Call): number {
  if (typeof only(call) === "string") return readNumber(call, textOf(call), true);
  const number = numberOf(call);
  if (!(Math.abs(number) < MOST_WHOLE)) throw fails("EXPR_NOT_WHOLE", { fn: call.fn, number, at: call.at });
  return Math.trunc(number);
}

function lengthOf(call: Call): number {
  const value = only(call);
  if (isList(value)) return value.length;
  if (isMap(value)) return keysOf(value, call.budget).length;
  if (typeof value !== "string") throw fails("EXPR_NO_LENGTH", { of: outline(value), at: call.at });
  spend(call.budget, value.length / 16);
  let codePoints = 0;
  for (const _ of value) codePoints++;
  return codePoints;
}

function median(call: Call): number {
  const all = numbersOf(call);
  // What sorting so many costs, besides reading them.
  spend(call.budget, (all.length * Math.ceil(Math.log2(all.length + 1))) / 4);
  all.sort((a, b) => a - b);
  const half = all.length / 2;
  return Number.isInteger(half) ? ((all[half - 1] ?? 0) + (all[half] ?? 0)) / 2 : (all[Math.floor(half)] ?? 0);
}

export const functions: Readonly<Record<string, (call: Call) => Value>> = {
  asInt: toInt,
  asFloat: toFloat,
  int: toInt,
  float: toFloat,
  isNaN: (call) => Number.isNaN(numberOf(call)),
  isInf: (call) => Math.abs(numberOf(call)) === Number.POSITIVE_INFINITY,
  /** Argo Rollouts' `isNilFunc`: judges what was measured, whatever it is given. */
  isNil: (call) => {
    only(call);
    return call.result === null;
  },
  /** Argo Rollouts' `defaultFunc`: replaces what was measured where that is nil, an empty list never; else gives it back whole, whatever it is given. */
  default: ({ args, at, result }) => {
    const [, instead] = args;
    if (args.length !== 2 || instead === undefined) throw fails("EXPR_TWO_VALUES", { at });
    return result ?? instead;
  },
  len: lengthOf,
  abs: (call) => Math.abs(numberOf(call)),
  ceil: (call) => Math.ceil(numberOf(call)),
  floor: (call) => Math.floor(numberOf(call)),
  /** Half away from zero, as Go rounds. */
  round: (call) => Math.sign(numberOf(call)) * Math.round(Math.abs(numberOf(call))),
  // Not Math.min(...all): so many arguments do not fit on a stack.
  min: (call) => numbersOf(call).reduce((a, b) => Math.min(a, b)),
  max: (call) => numbersOf(call).reduce((a, b) => Math.max(a, b)),
  sum: (call) => listOf(call).reduce((sum: number, item) => sum + wantNumber(item, { item: call.fn }, call.at), 0),
  mean: (call) => {
    const all = numbersOf(call);
    return all.reduce((sum, n) => sum + n, 0) / all.length;
  },
  median,
  first: (call) => listOf(call)[0] ?? null,
  last: (call) => listOf(call).at(-1) ?? null,
  reverse: (call) => listOf(call).toReversed(),
  sort: (call) => listOf(call).toSorted((a, b) => compare(a, b, "<", call.at, call.budget)),
  keys: (call) => keysOf(typed(call, "map", isMap), call.budget),
  values: (call) => {
    const map = typed(call, "map", isMap);
    return keysOf(map, call.budget).map((key) => map[key] ?? null);
  },
  lower: (call) => textOf(call).toLowerCase(),
  upper: (call) => textOf(call).toUpperCase(),
  trim: (call) => textOf(call).trim(),
  string: (call) => {
    const value = only(call);
    weigh(value, call.budget);
    return typeof value === "object" && value !== null ? JSON.stringify(value) : value === null ? "nil" : String(value);
  },
};
