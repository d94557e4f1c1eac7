import { epoch, iso } from "../../base/time.ts";
import type { Batch } from "../state/run.ts";
import { change, type Draft, mapTargets, moveBatch, moveTarget } from "../state/run-draft.ts";
import { isOut } from "../state/run-names.ts";
import { passOn } from "./step-make.ts";

/** The batch's change is in the base: from here on its targets are watched. */
export function arrive(draft: Draft, batch: Batch, merge: { commit: string; at: string; by: string }): void {
  moveBatch(draft, batch.number, "Merged", { merged: merge });
  const deadlineAt = iso(epoch(merge.at) + draft.run.spec.seenDeadlineMs);
  mapTargets(draft, batch.number, (target) => {
    if (isOut(target)) return target;
    return moveTarget(draft, target, "Merged", "merged; Argo CD has not shown the change yet", { deadlineAt });
  });
  passOn(draft, batch);
  if (batch.kind !== "Revert") takeBack(draft, batch);
}

/**
 * Clusters that were to be left out or put off while the PR was open have moved all the same, merged before it was closed. Those that
 * are being put back, being at an earlier weight when they were put off, are put back from this one.
 */
function takeBack(draft: Draft, batch: Batch): void {
  const back = beingPutBack(draft, batch);
  mapTargets(draft, batch.number, (target) =>
    back.has(target.cluster) && !isOut(target)
      ? moveTarget(draft, target, "Requeued", "put off before it merged: what it had is put back", { deadlineAt: undefined })
      : target,
  );
  const moved = new Set(batch.targets.map((target) => target.cluster).filter((cluster) => !back.has(cluster)));
  const skipped = draft.run.skipped.filter((one) => !moved.has(one.cluster));
  const requeued = draft.run.requeued.filter((one) => !moved.has(one.cluster));
  if (skipped.length === draft.run.skipped.length && requeued.length === draft.run.requeued.length) return;
  change(draft, { skipped, requeued }, "merged before it was closed: the clusters to be left out have moved");
}

function beingPutBack({ run }: Draft, batch: Batch): Set<string> {
  const off = new Set(run.requeued.map((one) => one.cluster));
  const reverts = run.batches.filter((one) => one.kind === "Revert" && one.number > batch.number && one.merged === undefined);
  return new Set(reverts.flatMap((one) => one.targets.map((target) => target.cluster)).filter((cluster) => off.has(cluster)));
}
