import { type BatchStep, stepAt } from "../../plan/steps.ts";
import { isInTurn } from "./batch.ts";
import { isOut, unitOf } from "./names.ts";
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

/** Failed at a weight after the next one's batch was made, or shares its pin with one that did: it does not go on to it. */
export function failedBefore(run: Run, batch: Batch, cluster: string): boolean {
  return weightMissed(run, batch, unitOf(run, cluster)) !== undefined;
}

/** The batch of the weight before, where one of these clusters has failed; what was so at a still earlier one is over. */
export function weightMissed(run: Run, batch: Batch, clusters: readonly string[]): Batch | undefined {
  if (batch.step === undefined || batch.step.index === 1) return undefined;
  for (const cluster of clusters) {
    const own = (other: Batch) => other.targets.filter((target) => target.cluster === cluster && !isOut(target));
    const before = run.batches.findLast(
      (other) =>
        other.number < batch.number &&
        other.stage === batch.stage &&
        other.ofStage === batch.ofStage &&
        isMidStep(other) &&
        other.merged !== undefined &&
        own(other).length > 0,
    );
    if (before !== undefined && own(before).some((target) => target.phase === "Failed" && target.excused !== true)) return before;
  }
  return undefined;
}
