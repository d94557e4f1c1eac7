import type { Time } from "../base/time.ts";
import type { PinTemplate, Rollout, Step } from "../spec/rollout.ts";
import type { Edit } from "./plan-types.ts";

/** Every place that a batch writes to, in the order of its edits: the pins, then the weight pins. */
export function pinsOf({ pins, weightPins = [] }: Pick<Rollout, "pins" | "weightPins">): PinTemplate[] {
  return [...pins, ...weightPins.map(({ file, path, value }) => ({ kind: "value" as const, file, path, value, create: false }))];
}

/** What is waited for between two weights. */
export type Wait = Exclude<Step, { kind: "setWeight" }>;

/** The weights a batch of a stage goes through, one PR each. The last is 100, written or not; without steps it is the only one. */
export function weightsOf(steps: readonly Step[] | undefined): number[] {
  const weights = (steps ?? []).flatMap((step) => (step.kind === "setWeight" ? [step.weight] : []));
  return weights.at(-1) === 100 ? weights : [...weights, 100];
}

/** The pauses and analyses between a weight, counted from 1, and the next, in order. */
export function waitsAfter(steps: readonly Step[] | undefined, index: number): Wait[] {
  const waits: Wait[] = [];
  let at = 0;
  for (const step of steps ?? []) {
    if (step.kind === "setWeight") at += 1;
    else if (at === index) waits.push(step);
  }
  return waits;
}

/** undefined: there is no such step. */
export function stepAt(steps: readonly Step[], index: number): BatchStep | undefined {
  const weights = weightsOf(steps);
  const weight = weights[index - 1];
  return weight === undefined ? undefined : { index, of: weights.length, weight };
}

/** What a batch of this step writes: the edits of the plan, weights as they are at it. The same list where nothing differs. */
export function editsAt(edits: Edit[], step: Pick<BatchStep, "index"> | undefined): Edit[] {
  if (step === undefined || edits.every((edit) => edit.steps === undefined)) return edits;
  return edits.map((edit) => ({ ...edit, to: edit.steps?.[step.index - 1] ?? edit.to }));
}

/** Which weight a batch brings. Its targets are Healthy from their confirmation until the next weight has merged, and Baked then. */
export interface BatchStep {
  /** From 1, over the weights of the stage. */
  index: number;
  of: number;
  weight: number;
  /** Where it is in the pauses and analyses that follow it: `at` counts from 0. `from`: when the present one began; absent: it has not. */
  wait?: { at: number; from?: Time | undefined; until?: Time | undefined } | undefined;
}
