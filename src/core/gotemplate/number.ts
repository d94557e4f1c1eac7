import type { Expr } from "./ast.ts";
import { TemplateError } from "./value.ts";

/** A number of Go's syntax: an integer in any base (a leading 0 is octal), or a float. */
export function parseNumber(text: string): Expr {
  const plain = text.replaceAll("_", "");
  const digits = plain.replace(/^[+-]/, "");
  const sign = plain.startsWith("-") ? -1 : 1;
  const isHex = /^0[xX]/.test(digits);
  const isFloat = !isHex && /[.eEpP]/.test(digits);
  const value = sign * Number(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
  if (Number.isNaN(value)) throw new TemplateError(`bad number syntax: ${JSON.stringify(text)}`);
  if (!isFloat && !Number.isSafeInteger(value)) throw new TemplateError(`integer overflow: ${text}`);
  return { type: "number", value, isInt: !isFloat, isRune: false, source: text };
}
