import type { Batch, BatchTarget, Run } from "../run/state/run.ts";
import { hasGoneOn, isMidStep } from "../run/state/steps.ts";
import { targetsShown } from "./steps.ts";

/** What of a batch the tree shows in it: those put off since stand where they are tried again, or wait for it. */
export function shownIn(run: Run, batch: Batch): BatchTarget[] {
  if (isMidStep(batch)) return batch.targets.filter((target) => !hasGoneOn(batch, target));
  return targetsShown(run, batch).filter((target) => !hasGoneOn(batch, target));
}

/** Clusters that are in a batch for good: not those that it only put back, to be tried again. */
export function placesOf(targets: readonly BatchTarget[]): string[] {
  return targets.flatMap(({ phase, cluster }) => (phase === "RolledBack" ? [] : [cluster]));
}
