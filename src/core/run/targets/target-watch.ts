import { text, type Words } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import type { Batch, BatchTarget } from "../state/run.ts";
import { type Draft, pause, wakeAt } from "../state/run-draft.ts";
import { clusterName, isOut, nameList, pinPlace } from "../state/run-names.ts";
import { hasGoneOn } from "../state/steps.ts";
import type { ObservedTarget } from "../state/world.ts";
import { holdsNextStep, seenOf } from "./step-seen.ts";
import { lostPlane, seesClusterOf } from "./target-unseen.ts";

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
  if (unread.length > 0) hold(draft, `the state of ${nameList(draft.run, unread)} could not be read`);
}

function isUnread(seen: ObservedTarget | undefined, lost: boolean): seen is undefined {
  if (seen === undefined || seen.pins === undefined || seen.inHistory === undefined) return true;
  return seen.assessment === undefined && !lost;
}

export function hold(draft: Draft, why: Words): void {
  draft.hold ??= why;
}

function watchOne(draft: Draft, batch: Batch, target: BatchTarget, seen: ObservedTarget): void {
  if (seen.inHistory === false) {
    const name = clusterName(draft.run, target.cluster);
    const reason = `the commit ${batch.merged?.commit.slice(0, 10)} that changed ${name} is no longer in the history of the base branch`;
    pause(draft, "History", "Git", reason, "put the history back, then `/resume`; or `/abort`");
    return;
  }
  if (seen.assessment?.verdict === "lost")
    hold(draft, `${clusterName(draft.run, target.cluster)} is lost: ${text(seen.assessment.sentence)}`);
  const wrong = target.edits.findIndex((edit, index) => (seen.pins?.[index] ?? null) !== edit.to);
  const edit = target.edits[wrong];
  if (edit === undefined) {
    sawOther(draft, target, seen);
    return;
  }
  if (holdsNextStep(draft.run, batch, target, seen.pins)) return;
  const found = seen.pins?.[wrong] ?? null;
  const name = clusterName(draft.run, target.cluster);
  if (found === null && isLeaving(draft, target)) {
    hold(draft, `the pin of ${name} is gone: waiting whether its Application goes too`);
    return;
  }
  const by = seen.drift === undefined ? "" : ` by ${seen.drift.author} in ${seen.drift.commit.slice(0, 10)} (${seen.drift.subject})`;
  const reason = `the pin of ${name} in ${pinPlace(edit)} was changed${by}: it is ${found ?? "gone"}, this run set ${edit.to}`;
  pause(draft, "Drift", seen.drift?.author ?? "Git", reason, `put ${edit.to} back, then \`/resume\`; or \`/skip ${name}\`; or \`/abort\``);
}

/** The base has the pin as it should be, but what Argo CD has seen is from between: somebody changed it and back (docs/spec.md §7). */
function sawOther(draft: Draft, target: BatchTarget, seen: ObservedTarget): void {
  const commit = seen.assessment?.changedBy;
  if (commit === undefined || target.phase === "Baked") return;
  const name = clusterName(draft.run, target.cluster);
  const reason = `${commit.slice(0, 10)} changed the pin of ${name}, and Argo CD has seen that: ${text(seen.assessment?.sentence ?? "")}`;
  pause(draft, "Drift", "Git", reason, "the base has the value of this run again: `/resume` once Argo CD has seen it; or `/abort`");
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
