import { defined } from "../../base/defined.ts";
import type { AnyReason } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { type Draft, pause, wakeAt } from "../state/draft.ts";
import { isOut } from "../state/names.ts";
import type { Batch, BatchTarget } from "../state/run.ts";
import { hasGoneOn } from "../state/steps.ts";
import type { ObservedTarget } from "../state/world.ts";
import { holdsNextStep, seenOf } from "./seen.ts";
import { lostPlane, seesClusterOf } from "./unseen.ts";

/**
 * Confirmed is not forgotten (docs/spec.md §9.11): every target that has moved must still have its pin and its commit in the base. What has
 * changed pauses the run; what could not be seen holds this round's merges.
 */
export function watchMoved(draft: Draft): void {
  const unread: string[] = [];
  for (const batch of draft.run.batches) {
    if (batch.merged === undefined || draft.resting.has(batch)) continue;
    for (const target of batch.targets) {
      if (isOut(target) || target.phase === "Failed" || hasGoneOn(batch, target)) continue;
      const seen = seenOf(draft, batch, target.key);
      // What is on a plane that cannot be seen holds itself; Git is read all the same.
      if (isUnread(seen, lostPlane(draft, target.key) !== undefined)) unread.push(target.cluster);
      else watchOne(draft, batch, target, seen);
    }
  }
  if (unread.length > 0) hold(draft, runReason("TARGETS_UNREAD", { clusters: [...new Set(unread)] }));
}

function isUnread(seen: ObservedTarget | undefined, lost: boolean): seen is undefined {
  if (seen === undefined || seen.pins === undefined || seen.inHistory === undefined) return true;
  return seen.assessment === undefined && !lost;
}

export function hold(draft: Draft, why: AnyReason): void {
  draft.hold ??= why;
}

function watchOne(draft: Draft, batch: Batch, target: BatchTarget, seen: ObservedTarget): void {
  if (seen.inHistory === false) {
    const why = runReason("COMMIT_NOT_IN_HISTORY", { cluster: target.cluster, commit: batch.merged?.commit ?? "" });
    pause(draft, "History", "Git", why, runReason("ASK_RESTORE_HISTORY"));
    return;
  }
  if (seen.assessment?.verdict === "lost")
    hold(draft, runReason("TARGET_LOST", { cluster: target.cluster, because: seen.assessment.sentence }));
  const wrong = target.edits.findIndex((edit, index) => (seen.pins?.[index] ?? null) !== edit.to);
  const edit = target.edits[wrong];
  if (edit === undefined) {
    sawOther(draft, target, seen);
    return;
  }
  if (holdsNextStep(draft.run, batch, target, seen.pins)) return;
  const found = seen.pins?.[wrong] ?? null;
  const { cluster } = target;
  if (found === null && isLeaving(draft, target)) {
    hold(draft, runReason("PIN_LEAVING", { cluster }));
    return;
  }
  const place = edit.kind === "branch" ? { branch: edit.path } : { file: edit.kind === "copy" ? `${edit.file}/` : edit.file };
  const why = runReason("PIN_DRIFT", defined({ cluster, place, by: seen.drift, found, want: edit.to }));
  pause(draft, "Drift", seen.drift?.author ?? "Git", why, runReason("ASK_UNDO_DRIFT", { cluster, want: edit.to }));
}

/** The base has the pin as it should be, but what Argo CD has seen is from between: somebody changed it and back (docs/spec.md §7). */
function sawOther(draft: Draft, target: BatchTarget, seen: ObservedTarget): void {
  const { changedBy: commit, sentence: because } = seen.assessment ?? {};
  if (commit === undefined || because === undefined || target.phase === "Baked") return;
  const why = runReason("OTHER_CHANGE_SEEN", { cluster: target.cluster, commit, because });
  pause(draft, "Drift", "Git", why, runReason("ASK_AWAIT_SEEN"));
}

/** A cluster is taken out of Git first and of Argo CD some time after: in between it is neither drift nor gone. */
function isLeaving(draft: Draft, target: BatchTarget): boolean {
  if (!seesClusterOf(draft, target.cluster) || !draft.world.clusters.has(target.cluster)) return true;
  const since = epoch(target.confirmedAt ?? target.since);
  const until = since + draft.run.spec.seenDeadlineMs;
  if (draft.now >= until) return false;
  wakeAt(draft, until);
  return true;
}
