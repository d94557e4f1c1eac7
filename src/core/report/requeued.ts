import { isEnded, type Requeued, type Run } from "../run/state/run.ts";

/** Whether a requeued cluster waits for the stage's own batches still: until they are over nobody looks at it. */
export function awaitsBatches(run: Run, one: Requeued): boolean {
  if (one.failed === true || one.attempts > 0 || isEnded(run) || run.stage > one.stage) return false;
  const batches = run.batches.filter((batch) => batch.stage === one.stage);
  if (batches.some((batch) => batch.phase !== "Settled" && batch.phase !== "Closed")) return true;
  const taken = new Set([
    ...batches.flatMap((batch) => (batch.phase === "Closed" ? [] : batch.targets.map((target) => target.cluster))),
    ...run.requeued.map((other) => other.cluster),
    ...run.skipped.map((other) => other.cluster),
  ]);
  return run.plan.stages[one.stage]?.clusters.some((cluster) => !taken.has(cluster)) === true;
}
