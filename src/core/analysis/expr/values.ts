/**
 * What expressions work on, and the bounds of that work: every value that is looked at is taken off a budget, so that a hostile answer ends in an
 * error, not in a busy process.
 */
import { reasonsOf } from "../../base/reason.ts";
import type { ExpressionReason, ExpressionReasons, NumberRole, Outline, PathReason } from "../../reasons/analysis.ts";

/** What JSON holds, with numbers that may be NaN or infinite. */
export type Value = null | boolean | number | string | Value[] | ValueMap;
interface ValueMap {
  [key: string]: Value;
}

/** An expression or a path that cannot be read, or does not hold for a value. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
  readonly reason: ExpressionReason | PathReason;
  constructor(reason: ExpressionReason | PathReason) {
    super(JSON.stringify(reason));
    this.reason = reason;
  }
}

const expression = reasonsOf<{ [Code in keyof ExpressionReasons]: ExpressionReasons[Code] & { at?: number | undefined } }>();

/** Returns what to throw. */
export function fails<Code extends keyof ExpressionReasons>(...reason: Parameters<typeof expression<Code>>): ExpressionError {
  return new ExpressionError(expression(...reason) as ExpressionReason);
}

/** Why something of an expression or a path fails; undefined: it does not. */
export function failureOf(use: () => unknown): ExpressionReason | PathReason | undefined {
  try {
    use();
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return error.reason;
    throw error;
  }
}

/** What is left of the work one evaluation may do: about one unit for each value looked at, or for 64 characters of a text. */
export interface Budget {
  left: number;
}

/** This much is done in some tens of milliseconds. */
export const MOST_STEPS = 200_000;
/** Longest list or text an operator may make. */
export const LONGEST = 100_000;
/** How deep a value may nest, with what an expression puts around it: whoever walks one by recursion needs no other bound. */
const DEEPEST = 300;

/** Takes work off the budget, before it is done. Throws ExpressionError where it is used up. */
export function spend(budget: Budget, steps: number): void {
  budget.left -= steps;
  if (budget.left < 0) throw fails("EXPR_STEPS", {});
}

/** What reading a text of this length costs. */
export function ofText(length: number): number {
  return 1 + length / 64;
}

export function isList(value: Value): value is Value[] {
  return Array.isArray(value);
}

export function isMap(value: Value): value is ValueMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function outline(value: Value): Outline {
  if (typeof value === "string") return value.slice(0, 101);
  return typeof value === "object" && value !== null ? (isList(value) ? [] : {}) : value;
}

export function wantNumber(value: Value, role: NumberRole, at: number): number {
  if (typeof value !== "number") throw fails("EXPR_NO_NUMBER", { role, is: outline(value), at });
  return value;
}

/** Its keys, each taken off the budget. */
export function keysOf(map: ValueMap, budget: Budget): string[] {
  const keys = Object.keys(map);
  spend(budget, keys.length);
  return keys;
}

/** Takes a whole value off the budget: what writing it out costs. */
export function weigh(value: Value, budget: Budget, depth = 0): void {
  spend(budget, typeof value === "string" ? ofText(value.length) : 1);
  if (depth > DEEPEST) throw fails("EXPR_VALUE_DEEP", { doing: "written out" });
  if (isList(value)) for (const item of value) weigh(item, budget, depth + 1);
  if (isMap(value)) for (const key of keysOf(value, budget)) weigh(value[key] ?? null, budget, depth + 1);
}

/** Values of different types are never equal; NaN equals nothing. Every value compared is taken off the budget. */
export function equal(a: Value, b: Value, budget: Budget, depth = 0): boolean {
  spend(budget, typeof a === "string" && typeof b === "string" ? ofText(a.length) : 1);
  if (depth > DEEPEST) throw fails("EXPR_VALUE_DEEP", { doing: "compared" });
  if (isList(a) && isList(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i] ?? null, budget, depth + 1));
  if (isMap(a) && isMap(b)) {
    const keys = keysOf(a, budget);
    if (keys.length !== keysOf(b, budget).length) return false;
    return keys.every((key) => Object.hasOwn(b, key) && equal(a[key] ?? null, b[key] ?? null, budget, depth + 1));
  }
  return a === b;
}
