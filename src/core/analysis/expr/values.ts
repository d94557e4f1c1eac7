import { type Budget, ofText, spend } from "./budget.ts";
import { ExpressionError } from "./tokens.ts";

/** What an expression works on: what JSON holds, with numbers that may be NaN or infinite. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

/** How deep a value may nest, with what an expression puts around it: whoever walks one by recursion needs no other bound. */
const DEEPEST = 300;

export function isList(value: Value): value is Value[] {
  return Array.isArray(value);
}

export function isMap(value: Value): value is { [key: string]: Value } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** For people: `a number`, `the text "ok"`. */
export function nameOf(value: Value): string {
  if (value === null) return "nil";
  if (isList(value)) return "a list";
  if (isMap(value)) return "a map";
  if (typeof value === "string") return `the text ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`;
  return String(value);
}

export function wantNumber(value: Value, what: string, at?: number): number {
  if (typeof value !== "number") throw new ExpressionError(`${what} must be a number, not ${nameOf(value)}`, at);
  return value;
}

/** Values of different types are never equal; NaN equals nothing. Every value compared is taken off the budget. */
export function equal(a: Value, b: Value, budget: Budget, depth = 0): boolean {
  spend(budget, typeof a === "string" && typeof b === "string" ? ofText(a.length) : 1);
  if (depth > DEEPEST) throw new ExpressionError("the value nests too deeply to be compared");
  if (isList(a) && isList(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i] ?? null, budget, depth + 1));
  if (isMap(a) && isMap(b)) {
    const keys = keysOf(a, budget);
    if (keys.length !== keysOf(b, budget).length) return false;
    return keys.every((key) => Object.hasOwn(b, key) && equal(a[key] ?? null, b[key] ?? null, budget, depth + 1));
  }
  return a === b;
}

/** Its keys, each taken off the budget. */
export function keysOf(map: { [key: string]: Value }, budget: Budget): string[] {
  const keys = Object.keys(map);
  spend(budget, keys.length);
  return keys;
}

/** Takes a whole value off the budget: what writing it out costs. */
export function weigh(value: Value, budget: Budget, depth = 0): void {
  spend(budget, typeof value === "string" ? ofText(value.length) : 1);
  if (depth > DEEPEST) throw new ExpressionError("the value nests too deeply to be written out");
  if (isList(value)) for (const item of value) weigh(item, budget, depth + 1);
  if (isMap(value)) for (const key of keysOf(value, budget)) weigh(value[key] ?? null, budget, depth + 1);
}

/** Below, at or above 0; NaN compared with anything gives NaN, which is none of them. Numbers with numbers, texts with texts. */
export function compare(a: Value, b: Value, op: string, at: number, budget: Budget): number {
  spend(budget, 1);
  if (typeof a === "number" && typeof b === "number") {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN;
    return a === b ? 0 : a < b ? -1 : 1;
  }
  if (typeof a === "string" && typeof b === "string") {
    spend(budget, ofText(Math.min(a.length, b.length)));
    return a === b ? 0 : a < b ? -1 : 1;
  }
  throw new ExpressionError(`${nameOf(a)} ${op} ${nameOf(b)} cannot be compared`, at);
}
