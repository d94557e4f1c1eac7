import type { PlannedStage } from "../../plan/plan-types.ts";
import type { Draft } from "../state/draft.ts";
import type { Batch, Run } from "../state/run.ts";

/** Clusters of the stage's planned batches that no batch has taken yet. */
export function remaining(draft: Draft, stage: number): string[] {
  const gone = takenClusters(draft, stage);
  return untouched(draft.run, stage).filter((cluster) => !gone.has(cluster));
}

/** What is out of the settled batches' hands, by planned stage: they become more only now and then. */
const leftBySettled = new WeakMap<PlannedStage, { settled: Batch[]; left: string[] }>();

/** The stage's clusters that no settled batch has. */
function untouched({ plan, batches }: Run, stage: number): string[] {
  const planned = plan.stages[stage];
  if (planned === undefined) return [];
  const settled = batches.filter((batch) => batch.stage === stage && batch.phase === "Settled");
  const known = leftBySettled.get(planned);
  if (known !== undefined && known.settled.length === settled.length && settled.every((batch, at) => batch === known.settled[at]))
    return known.left;
  const gone = new Set(settled.flatMap((batch) => batch.targets.map((target) => target.cluster)));
  const left = planned.clusters.filter((cluster) => !gone.has(cluster));
  leftBySettled.set(planned, { settled, left });
  return left;
}

/** Clusters that have no place in the stage's next batch, settled batches left out. */
function takenClusters({ run }: Draft, stage: number): Set<string> {
  const taken = new Set<string>();
  for (const batch of run.batches) {
    if (batch.stage === stage && batch.phase !== "Settled") for (const target of batch.targets) taken.add(target.cluster);
  }
  for (const one of run.skipped) taken.add(one.cluster);
  for (const one of run.requeued) taken.add(one.cluster);
  for (const one of run.quarantined ?? []) taken.add(one.cluster);
  return taken;
}
