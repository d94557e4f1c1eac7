import type { PlannedTarget } from "../../plan/plan-types.ts";
import { type BatchStep, editsAt } from "../../plan/steps.ts";
import { runReason } from "../../reasons/run.ts";
import { backwards } from "../outcome/rollback.ts";
import { putsBack } from "../state/batch.ts";
import { branchOf } from "../state/branch-name.ts";
import { change, type Draft, moveBatch } from "../state/draft.ts";
import { batchRef, clustersOf, liveTargets, targetsOf } from "../state/names.ts";
import type { Batch, BatchTarget, Run } from "../state/run.ts";
import { failedBefore, firstStep } from "../state/steps.ts";
import { fitting, withinLimits } from "./choose.ts";
import { requeue } from "./requeue.ts";
import { nameBehind } from "./step-left.ts";

/** Journals a new batch of these clusters of the stage. Its PR is asked for in the same round where the pins are known. */
export function makeBatch(
  draft: Draft,
  stage: number,
  clusters: readonly string[],
  kind: Batch["kind"],
  targets: readonly PlannedTarget[] = clusters.flatMap((cluster) => [...targetsOf(draft.run, cluster)]),
  ahead?: true,
): void {
  const ofStage = 1 + Math.max(0, ...draft.run.batches.map((batch) => (batch.stage === stage ? batch.ofStage : 0)));
  addBatch(draft, { stage, ofStage, attempt: 1, kind, step: firstStep(draft.run, stage, kind), ahead }, targets, clusters);
}

/** As makeBatch, of a batch that is known to be this one of its stage; of one that goes on to its next weight, for these targets. */
export function addBatch(
  draft: Draft,
  place: Pick<Batch, "stage" | "ofStage" | "attempt" | "kind" | "step" | "ahead">,
  targets: readonly PlannedTarget[],
  clusters: readonly string[] = clustersOf(targets),
): void {
  const number = draft.run.batches.length + 1;
  const batch: Batch = {
    number,
    ...place,
    branch: branchOf(draft.run, place),
    phase: "Proposing",
    since: draft.at,
    ...opening(draft.run),
    targets: targets.map((target) => pending(target, draft, place.step)),
    also: !putsBack(place) && isLast(draft.run, clusters) ? draft.run.restore : undefined,
  };
  draft.rebuilt.add(number);
  change(
    draft,
    { batches: [...draft.run.batches, batch] },
    runReason("BATCH_MADE", { batch: batchRef(draft.run, batch), clusters: [...clusters], ahead: place.ahead }),
  );
}

/** No cluster is left for a batch after this one. */
function isLast(run: Run, clusters: readonly string[]): boolean {
  const out = [...run.skipped, ...(run.quarantined ?? [])].map((one) => one.cluster);
  const gone = new Set([...clusters, ...out]);
  for (const batch of run.batches) for (const target of batch.targets) gone.add(target.cluster);
  return run.plan.stages.every((stage) => stage.clusters.every((cluster) => gone.has(cluster)));
}

/** Why a batch that has just been made, or is built again, is where it is. */
export function opening(run: Run, again = false, clusters: string[] = []): Pick<Batch, "why" | "next"> {
  const branches = run.spec.delivery.strategy === "Commit";
  return { why: runReason("BATCH_OPENING", { branches, again, clusters }), next: { what: runReason("NEXT_OPEN", { branches }) } };
}

function pending({ key, application, cluster, edits }: PlannedTarget, { run, at }: Draft, step: BatchStep | undefined): BatchTarget {
  return { key, application, cluster, edits: editsAt(edits, step), phase: "Pending", since: at, why: opening(run).why };
}

/** Left out by command or put off: what a batch that is built again goes on without. */
function isLeftOut(run: Run, batch: Batch, cluster: string): boolean {
  if (run.skipped.some((one) => one.cluster === cluster) || failedBefore(run, batch, cluster)) return true;
  // What is put back is put off by that very thing.
  if (putsBack(batch)) return false;
  if (run.quarantined?.some((one) => one.cluster === cluster) === true) return true;
  if (run.requeued.some((one) => one.cluster === cluster && one.failed !== true)) return true;
  // Its PR was opened ahead, and somebody had the cluster updated out of turn since.
  return run.batches.some(
    (one) => one.kind === "Hotfix" && one.number > batch.number && liveTargets(one).some((target) => target.cluster === cluster),
  );
}

/** Starts a batch whose PR was closed over again, on a new branch, without the clusters left out since. */
export function rebuild(draft: Draft, batch: Batch): void {
  const attempt = batch.attempt + 1;
  const pull = draft.world.pulls.get(batch.number);
  // Opened again by hand after it was closed: it would be merged beside the new one.
  if (pull?.state === "open") draft.effects.push({ kind: "Close", batch: batch.number, pull: pull.number, why: runReason("BUILT_AGAIN") });
  nameBehind(draft, batch);
  const kept = batch.targets.filter((target) => !isLeftOut(draft.run, batch, target.cluster));
  const { targets, dropped } = fitting(draft, batch, kept);
  // Where some are dropped, the last batch is another one.
  const also = dropped.length === 0 ? batch.also : undefined;
  const anew = { pull: undefined, intention: undefined, closing: undefined, promoted: undefined };
  const branch = branchOf(draft.run, { ...batch, attempt });
  const event = runReason("BATCH_ATTEMPT", { batch: batchRef(draft.run, batch), attempt });
  draft.rebuilt.add(batch.number);
  moveBatch(draft, batch.number, "Proposing", { attempt, targets, also, branch, ...anew, ...opening(draft.run, true) }, event);
  // Of a planned batch they are the stage's next.
  if (dropped.length > 0 && batch.kind !== "Planned") requeue(draft, batch.stage, dropped, runReason("LIMITS_ALLOW_FEWER"));
}

/**
 * Puts back what stood there before, also while the run is paused (docs/spec.md §9.14), by a batch for each stage and what limits let
 * travel together.
 */
export function revert(draft: Draft, targets: readonly (BatchTarget & { stage: number })[]): void {
  for (const [stage, group] of Map.groupBy(targets, (target) => target.stage)) {
    let left = [...new Set(group.map((target) => target.cluster))];
    while (left.length > 0) {
      const clusters = withinLimits(draft, stage, left);
      left = left.filter((cluster) => !clusters.includes(cluster));
      const back = group.filter((target) => clusters.includes(target.cluster)).map(reversed);
      makeBatch(draft, stage, clusters, "Revert", back);
    }
  }
}

function reversed({ key, application, cluster, edits }: BatchTarget): PlannedTarget {
  return { key, application, cluster, edits: edits.map((edit) => backwards(edit, edit.from)) };
}
