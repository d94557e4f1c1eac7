import type { Edit } from "./plan-types.ts";
import type { PinTemplate, Rollout, Step } from "./rollout.ts";
import type { Batch, BatchStep, BatchTarget, Run } from "./run.ts";

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

/** The first step of a batch that is made now; undefined: it travels at once. */
export function firstStep(run: Pick<Run, "spec">, stage: number, kind: Batch["kind"]): BatchStep | undefined {
  const steps = run.spec.stages[stage]?.steps;
  if (steps === undefined || (kind !== "Planned" && kind !== "CatchUp")) return undefined;
  return stepAt(steps, 1);
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

/** The batch brings a weight that is not the whole one: another follows it. */
export function isMidStep(batch: Pick<Batch, "step">): boolean {
  return batch.step !== undefined && batch.step.index < batch.step.of;
}

/** Its next weight has merged: the batch of that one is what is watched. */
export function hasGoneOn(batch: Pick<Batch, "step">, target: Pick<BatchTarget, "phase">): boolean {
  return isMidStep(batch) && target.phase === "Baked";
}

/** Confirmed at a weight that is not the whole one: in flight until the last is confirmed. */
export function isMidway(batch: Pick<Batch, "step">, target: Pick<BatchTarget, "phase">): boolean {
  return isMidStep(batch) && target.phase === "Healthy";
}

/** The merged batch that holds a cluster at a weight which is not the whole one, and has not been followed by the next; undefined: none does. */
export function midwayBatch(run: Pick<Run, "batches">, cluster: string): Batch | undefined {
  return run.batches.findLast(
    (batch) =>
      isMidStep(batch) &&
      batch.merged !== undefined &&
      batch.targets.some((target) => target.cluster === cluster && ["Merged", "Syncing", "Healthy"].includes(target.phase)),
  );
}

/** `, step 2 of 3 (weight 60)`; nothing of a batch without steps. */
export function stepWords({ step }: { step?: Pick<BatchStep, "index" | "of" | "weight"> }): string {
  return step === undefined ? "" : `, step ${step.index} of ${step.of} (weight ${step.weight})`;
}
