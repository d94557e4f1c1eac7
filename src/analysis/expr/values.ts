import { ExpressionError } from "./tokens.ts";

/** What an expression works on: what JSON holds, with numbers that may be NaN or infinite. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

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

/** Values of different types are never equal; NaN equals nothing. */
export function equal(a: Value, b: Value): boolean {
  if (isList(a) && isList(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i] ?? null));
  if (isMap(a) && isMap(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key] ?? null, b[key] ?? null));
  }
  return a === b;
}

/** Below, at or above 0; NaN compared with anything gives NaN, which is none of them. Numbers with numbers, texts with texts. */
export function compare(a: Value, b: Value, op: string, at: number): number {
  if (typeof a === "number" && typeof b === "number") {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN;
    return a === b ? 0 : a < b ? -1 : 1;
  }
  if (typeof a === "string" && typeof b === "string") return a === b ? 0 : a < b ? -1 : 1;
  throw new ExpressionError(`${nameOf(a)} ${op} ${nameOf(b)} cannot be compared`, at);
}
