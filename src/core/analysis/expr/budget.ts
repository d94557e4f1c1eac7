import { ExpressionError } from "./tokens.ts";

/** What is left of the work one evaluation may do: about one unit for each value looked at, or for 64 characters of a text. */
export interface Budget {
  left: number;
}

/** A hostile answer with a huge list ends in an error, not in a busy process: this much is done in some tens of milliseconds. */
export const MOST_STEPS = 200_000;
/** Longest list or text an operator may make. */
export const LONGEST = 100_000;

/** Takes work off the budget, before it is done. Throws ExpressionError where it is used up. */
export function spend(budget: Budget, steps: number): void {
  budget.left -= steps;
  if (budget.left < 0) throw new ExpressionError("the expression takes too many steps on this value");
}

/** What reading a text of this length costs. */
export function ofText(length: number): number {
  return 1 + length / 64;
}
