import { epoch, iso } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { putsBack } from "../state/batch.ts";
import { change, changeBatch, type Draft, mapTargets, moveTarget } from "../state/draft.ts";
import { isOut } from "../state/names.ts";
import type { Batch } from "../state/run.ts";
import { isMidStep } from "../state/steps.ts";

/** The batch's change is in the base: from here on its targets are watched. `put`: how that is kept. */
export function arrive(draft: Draft, batch: Batch, merge: { commit: string; at: string; by: string }, put = changeBatch): void {
  put(draft, batch.number, { phase: "Merged", since: draft.at, merged: merge, ahead: undefined });
  const deadlineAt = iso(epoch(merge.at) + draft.run.spec.seenDeadlineMs);
  mapTargets(draft, batch.number, (target) => {
    if (isOut(target)) return target;
    return moveTarget(draft, target, "Merged", runReason("TARGET_MERGED"), { deadlineAt });
  });
  passOn(draft, batch);
  if (!putsBack(batch)) takeBack(draft, batch);
}

/**
 * Clusters that were to be left out or put off while the PR was open have moved all the same, merged before it was closed. Those that
 * are being put back, being at an earlier weight when they were put off, are put back from this one.
 */
function takeBack(draft: Draft, batch: Batch): void {
  const back = beingPutBack(draft, batch);
  mapTargets(draft, batch.number, (target) =>
    back.has(target.cluster) && !isOut(target)
      ? moveTarget(draft, target, "Requeued", runReason("TARGET_PUT_BACK"), { deadlineAt: undefined })
      : target,
  );
  const moved = new Set(batch.targets.map((target) => target.cluster).filter((cluster) => !back.has(cluster)));
  const skipped = draft.run.skipped.filter((one) => !moved.has(one.cluster));
  const requeued = draft.run.requeued.filter((one) => !moved.has(one.cluster));
  if (skipped.length === draft.run.skipped.length && requeued.length === draft.run.requeued.length) return;
  change(draft, { skipped, requeued }, runReason("MERGED_BEFORE_CLOSED"));
}

function beingPutBack({ run }: Draft, batch: Batch): Set<string> {
  const off = new Set(run.requeued.map((one) => one.cluster));
  const reverts = run.batches.filter((one) => putsBack(one) && one.number > batch.number && one.merged === undefined);
  return new Set(reverts.flatMap((one) => one.targets.map((target) => target.cluster)).filter((cluster) => off.has(cluster)));
}

/** The next weight has merged: what the one before it holds is watched there from now on. */
function passOn(draft: Draft, batch: Batch): void {
  const { step } = batch;
  if (step === undefined) return;
  const here = new Set(batch.targets.map((target) => target.key));
  for (const other of draft.run.batches) {
    if (other.number >= batch.number || other.stage !== batch.stage || !isMidStep(other) || other.merged === undefined) continue;
    const before = other.ofStage === batch.ofStage;
    mapTargets(draft, other.number, (target) => {
      if (target.phase !== "Healthy" || !(before || here.has(target.key))) return target;
      const why = here.has(target.key)
        ? runReason("WENT_ON_TO_WEIGHT", { weight: step.weight })
        : runReason("STAYS_AT_WEIGHT", { weight: other.step?.weight ?? 0 });
      return moveTarget(draft, target, "Baked", why, { waitingSince: undefined, deadlineAt: undefined });
    });
  }
}
