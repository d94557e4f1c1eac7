/** What is true of batches that were opened before their turn: called by judge.ts. */
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { Moment } from "./moment.ts";

/** When the turn of a batch that was opened ahead has come, it holds nobody who is to be put off by then. */
export function turnIsTakenRightly(
  { truth, index, now }: Pick<Moment, "truth" | "index" | "now">,
  before: Batch | undefined,
  run: Run,
  batch: Batch,
): string[] {
  const took = before?.ahead === true && batch.ahead !== true && (batch.phase === "Open" || batch.phase === "Merging");
  const requeue = truth.rollouts[index]?.model?.stages[batch.stage]?.requeue;
  if (!took || batch.closing !== undefined || requeue == null || now < truth.argoDownUntil) return [];
  const drained = batch.targets.filter(({ cluster }) => truth.clusters.get(cluster)?.labels["drained"] === "true");
  return drained.map(
    ({ cluster }) => `truth: batch ${batch.number} of ${run.rollout} #${run.number} takes its turn with ${cluster}, which is to be put off`,
  );
}

/** Nobody who was left out or put off is in a batch that begins to merge. */
export function leftOutIsNotMerged(run: Run, batch: Batch): string[] {
  if (batch.kind === "Revert") return [];
  const out = new Set([...run.skipped, ...run.requeued].map(({ cluster }) => cluster));
  const wrong = batch.targets.filter(({ cluster, phase }) => out.has(cluster) && phase === "Proposed");
  return wrong.map(
    ({ cluster }) =>
      `truth: ${run.rollout} #${run.number} began to merge batch ${batch.number} with ${cluster}, which was left out or put off`,
  );
}
