/**
 * What executing a template may cost, counted as it goes: nodes, calls, and the sizes of what calls take and give. Loops over large lists and
 * texts that grow end here, the same on every machine, long before a limit on time would end them.
 */
import { spendOfPass } from "../base/pass.ts";
import { fails, GoInt, type GoValue, isMap } from "./value.ts";

/** A template that costs more is taken for one that never ends: a fleet's largest take a hundredth of it. */
const MOST_STEPS = 1_000_000;
/** So many characters, or items of a list or map, cost as much as one node. */
const CHARACTERS = 32;
const ITEMS = 4;
const DEEPEST = 100;
/** Text longer than this comes from a mistake, or from malice. */
const LONGEST_TEXT = 1_000_000;

export interface Budget {
  steps: number;
  /** What is left to whoever executes several templates, where that is less. */
  most?: number | undefined;
}

/** Counts steps. @throws TemplateError where nothing is left */
export function spend(budget: Budget, steps: number): void {
  spendOfPass(steps);
  budget.steps += steps;
  if (budget.steps > Math.min(MOST_STEPS, budget.most ?? MOST_STEPS)) throw fails("GO_ENDLESS");
}

/** Counts characters that are written or looked through. @throws TemplateError where nothing is left */
export function spendOnText(budget: Budget, characters: number): void {
  spend(budget, characters / CHARACTERS);
}

/** Spends what a value is large: what stands in a list several times counts as often, as whoever prints it would meet it. */
export function spendOn(budget: Budget, value: GoValue, depth = 0): void {
  if (typeof value === "string") spendOnText(budget, value.length);
  if (value === null || typeof value !== "object" || value instanceof GoInt || depth > DEEPEST) return;
  const items = Array.isArray(value) ? value : isMap(value) ? Object.values(value) : [];
  spend(budget, items.length / ITEMS);
  for (const item of items) spendOn(budget, item, depth + 1);
}

/** Called before a text is made that is longer than what it is made of. @throws TemplateError where it would be too long */
export function checkLength(characters: number): void {
  if (characters > LONGEST_TEXT) throw fails("LACKS_LONG_TEXT", { most: LONGEST_TEXT });
}
