import type { Value } from "../../../core/analysis/expr/values.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import type { ExpressionReason } from "../../../core/reasons/analysis.ts";
import { EXPRESSIONS, PATHS, sayExpression } from "../../../core/report/reasons/analysis.ts";
import { sentenceOf } from "../../../core/report/reasons/say.ts";

const LONGEST = 200;

/** Shows a measured value to people: JSON, shortened, with NaN and infinities by their names and secrets masked. */
export function showValue(value: Value, secrets: readonly string[]): string {
  return maskSecrets(typeof value === "string" ? value : written(value), secrets);
}

/** What cannot be written out must not stop what is measured: it is only shown. */
function written(value: Value): string {
  try {
    return JSON.stringify(value, (_, item: unknown) => (isOdd(item) ? String(item) : item));
  } catch {
    return "(cannot be shown)";
  }
}

function isOdd(item: unknown): boolean {
  return typeof item === "number" && !Number.isFinite(item);
}

/** Says why a measurement could not be taken. */
export function sayError(error: AnyReason): string {
  const isOfExpression = Object.hasOwn(EXPRESSIONS, error.code) || Object.hasOwn(PATHS, error.code);
  return isOfExpression ? sayExpression(error as ExpressionReason) : sentenceOf(error);
}

/** Returns a text without the secrets in it, and at most 200 characters long. Masked before it is shortened, so that no half of one is left. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  let safe = text;
  for (const secret of [...secrets].sort((a, b) => b.length - a.length)) safe = safe.replaceAll(secret, "*****");
  return safe.length > LONGEST ? `${safe.slice(0, LONGEST)}…` : safe;
}
