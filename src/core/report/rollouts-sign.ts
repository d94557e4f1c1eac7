/** When what a comment says of a batch's Argo Rollouts has changed so much that it is written again. */
import type { Batch, BatchTarget, RolloutState } from "../run/state/run.ts";
import { rolloutPhrase } from "./reasons/commands-rollouts.ts";

interface Row {
  target: BatchTarget;
  rollout: RolloutState;
}

function rowsOf(batch: Batch): Row[] {
  return batch.targets.flatMap((target) => (target.rollouts ?? []).map((rollout) => ({ target, rollout })));
}

/**
 * What of a batch's Rollouts is worth an edit of a comment at once: their steps and phases, but not how many pods are
 * ready just now. Empty where it has none.
 */
export function rolloutsSign(batch: Batch): string {
  return rowsOf(batch)
    .map(({ target, rollout }) => `${target.key} ${rollout.namespace}/${rollout.name} ${rolloutPhrase(rollout)}`)
    .join("\n");
}

/**
 * At which steps Rollouts of a batch are paused now, some or all of them: what waits for a person, and that it waits for nothing
 * else any more. Empty where none is. However many clusters a batch has, it changes twice a step.
 */
export function pausedSign(batch: Batch): string {
  const rows = rowsOf(batch);
  const paused = rows.filter(({ rollout }) => rollout.paused);
  if (paused.length === 0) return "";
  const steps = new Set(paused.map(({ rollout }) => `${rollout.name} ${rollout.step ?? ""}`));
  return [paused.length === rows.length ? "all" : "some", ...[...steps].sort()].join();
}
