import { type BatchStep, stepAt } from "../../plan/steps.ts";
import { isInTurn } from "./batch.ts";
import type { Batch, BatchTarget, Run } from "./run.ts";

/** The first step of a batch that is made now; undefined: it travels at once. */
export function firstStep(run: Pick<Run, "spec">, stage: number, kind: Batch["kind"]): BatchStep | undefined {
  const steps = run.spec.stages[stage]?.steps;
  if (steps === undefined || !isInTurn({ kind })) return undefined;
  return stepAt(steps, 1);
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

/** Finds the merged batch that holds a cluster at a weight below the whole that no next one has followed. Undefined: none does. */
export function midwayBatch(run: Pick<Run, "batches">, cluster: string): Batch | undefined {
  return run.batches.findLast(
    (batch) =>
      isMidStep(batch) &&
      batch.merged !== undefined &&
      batch.targets.some((target) => target.cluster === cluster && ["Merged", "Syncing", "Healthy"].includes(target.phase)),
  );
}
