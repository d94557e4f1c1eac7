/**
 * Work on texts of merged commits that may take long. Where others wait for the thread, a pass over files has an allowance: work beyond it is
 * asked for elsewhere, something empty stands in for it, and the pass is made anew once it is there (`Snapshot.with`).
 */
import { yamlMarks } from "./yaml-bounds.ts";

/** Where one pass stands. Who passes over files of his own has none, and all is done at once. */
export interface Pass {
  /** Steps that it may still take here: one is about a microsecond, as in the budget of templates. */
  left: number;
  /** What came of work that was done elsewhere. undefined: nothing yet. */
  found(work: string, text: string, rest: unknown): { value: unknown } | undefined;
  /** The pass is worth nothing: it will be made anew with this work done. */
  ask(work: string, text: string, rest: unknown, tooMuch: unknown): void;
  /** Something was asked for: what the pass makes from now on may come of what stands in. */
  readonly isMissing: boolean;
}

interface Work<T> {
  /** How it is called, what it is about, and all else that it works with, as plain data. */
  name: string;
  text: string;
  rest?: unknown;
  /** What it takes at least, where that is known before. */
  steps: number | (() => number);
  here: () => T;
  /** Stands in for it in a pass that will be made anew. */
  empty: T;
  /** What comes of it where it takes too much elsewhere, too. */
  tooMuch: T;
}

/** A mark of YAML costs its parser as much as so many steps, a character of text a part of one. */
const STEPS_A_MARK = 8;
const CHARACTERS_A_STEP = 50;

class PassSpent extends Error {
  override name = "PassSpent";
}

let pass: Pass | undefined;
let working = false;

/** Does what is synchronous, and reads texts, as a part of a pass. */
export function inPass<T>(own: Pass, work: () => T): T {
  const before = { pass, working };
  pass = own;
  working = false;
  try {
    return work();
  } finally {
    ({ pass, working } = before);
  }
}

/** Does a piece of work here, or leaves it to who does it elsewhere. */
export function apart<T>({ name, text, rest, steps: atLeast, here, empty, tooMuch }: Work<T>): T {
  if (pass === undefined) return here();
  const steps = typeof atLeast === "number" ? atLeast : atLeast();
  if (working) {
    spendOfPass(steps);
    return here();
  }
  const own = pass;
  const found = own.found(name, text, rest);
  if (found !== undefined) return found.value as T;
  if (steps <= own.left) {
    working = true;
    try {
      spendOfPass(steps);
      const done = here();
      // What failed on the way may have been taken for a mistake of the text.
      if (own.left >= 0) return done;
    } catch (error) {
      if (own.left >= 0) throw error;
    } finally {
      working = false;
    }
    // The next piece is tried on its own.
    own.left = 0;
  }
  own.ask(name, text, rest, tooMuch);
  return empty;
}

/** Whether what is made now may be kept beyond the pass: nothing stands in for what is not there yet. */
export function isWhole(): boolean {
  return pass?.isMissing !== true;
}

/** Counts steps of work that is under way. @throws where the pass may take no more of them, to be caught by nobody */
export function spendOfPass(steps: number): void {
  if (pass === undefined || !working) return;
  pass.left -= steps;
  if (pass.left < 0) throw new PassSpent("this is done elsewhere");
}

/** The steps that reading a YAML text takes, about. */
export function stepsOfYaml(text: string): number {
  return yamlMarks(text) * STEPS_A_MARK + text.length / CHARACTERS_A_STEP;
}
