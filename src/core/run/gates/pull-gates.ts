import { text, type Words } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import { close } from "../batches/batch-build.ts";
import { failedBefore } from "../outcome/step-left.ts";
import type { Batch, Next } from "../state/run.ts";
import { type Draft, pause, wakeAt, wakeAtTime } from "../state/run-draft.ts";
import { clustersOf, liveTargets, nameList, pullName, whatChanged } from "../state/run-names.ts";
import type { ObservedPull } from "../state/world.ts";
import { askAgainAt, checksOf, refusalKey, silentIn, wanted } from "./pull-needs.ts";

/** Why a batch is not merged now. */
export interface Blocked {
  why: Words;
  next: Next | null;
}

/** How old a guard's answer may be. */
const GUARD_MS = 60_000;
/** GitHub computes mergeability when asked for it; a second look is soon worth it. */
const MERGEABLE_MS = 2_000;

/** A merge call may be under way: its outcome is waited for before the PR is touched. In a merge queue closing takes it out. */
function callUnderWay(batch: Batch, pull: ObservedPull): boolean {
  return batch.intention !== undefined && (pull.queue ?? null) === null;
}

/** Whether the PR is what we proposed and can still be merged as it is. What cannot is closed, and built again. */
export function sound(draft: Draft, batch: Batch, pull: ObservedPull): Blocked | undefined {
  const name = pullName(pull);
  if (pull.draft) return { why: `${name} is a draft`, next: { what: `a person marks ${name} as ready` } };
  if (!pull.headIsOurs)
    return { why: `${name} was changed: ${whatChanged(pull)}`, next: { what: "its merge, if one is under way, is seen or lapses" } };
  const behind = clustersOf(liveTargets(batch)).filter((cluster) => failedBefore(draft.run, batch, cluster));
  if (behind.length > 0) {
    const why = `${nameList(draft.run, behind)} did not get through the weight before`;
    if (!callUnderWay(batch, pull)) close(draft, batch, why);
    return { why: `${name} is built again: ${text(why)}`, next: { what: "it is closed" } };
  }
  if (nothingLeft(draft, batch)) {
    close(draft, batch, "the base is at the release already");
    return { why: `${name} is closed: the base is at the release already`, next: { what: "it is closed" } };
  }
  if (pull.mergeable !== "conflict" && pull.mergeable !== "behind") return undefined;
  const why = pull.mergeable === "conflict" ? "it conflicts with the base" : "the base has moved and the repository wants it up to date";
  if (!callUnderWay(batch, pull)) close(draft, batch, why);
  return { why: `${name} is built again: ${text(why)}`, next: { what: "it is closed" } };
}

/** Somebody else has brought every pin of the batch to the release meanwhile. */
function nothingLeft(draft: Draft, batch: Batch): boolean {
  if (batch.intention !== undefined || batch.also !== undefined) return false;
  return liveTargets(batch).every((target) => {
    const pins = draft.world.targets.get(target.key)?.pins;
    return pins !== undefined && target.edits.every((edit, index) => pins[index] === edit.to);
  });
}

/** docs/spec.md §9.4: nothing would be deleted, renamed or moved, judged on this very base. */
export function guarded(draft: Draft, batch: Batch, pull: ObservedPull): Blocked | undefined {
  const guard = draft.world.guards.get(batch.number);
  const waits = { what: "the render guard answers" };
  if (guard === undefined || guard.base !== draft.world.base.commit || draft.now - epoch(guard.at) >= GUARD_MS) {
    wakeAt(draft, draft.now + MERGEABLE_MS);
    return { why: `${pullName(pull)} waits for the render guard on the present base`, next: waits };
  }
  if (guard.ok) return undefined;
  if (guard.retry) return { why: `${pullName(pull)} is not merged yet: ${text(guard.why)}`, next: waits };
  if (!callUnderWay(batch, pull)) {
    close(draft, batch, guard.why);
    const reason = `${pullName(pull)} must not be merged: ${text(guard.why)}`;
    pause(draft, "Refused", "stagecoach", reason, "change what it names, then `/resume` builds it again; or `/skip CLUSTER`; or `/abort`");
  }
  return { why: guard.why, next: waits };
}

/**
 * What GitHub's own rules want first. A required check is always waited for, also where the App could bypass it; anything
 * else is put to GitHub once, since only its answer tells whether the App may bypass that rule, and then again when it changes.
 */
export function allowedByGitHub(draft: Draft, batch: Batch, pull: ObservedPull): Blocked | undefined {
  const name = pullName(pull);
  if (pull.mergeable === "unknown") {
    wakeAt(draft, draft.now + MERGEABLE_MS);
    return { why: `waiting for GitHub to say whether ${name} can be merged`, next: { what: "GitHub answers" } };
  }
  if (pull.mergeable !== "blocked") return refusedBefore(draft, batch, pull);
  if (pull.gate !== undefined && pull.gate !== "passed") {
    wakeAt(draft, draft.now + MERGEABLE_MS);
    return { why: `${name} waits for GitHub to see its check stagecoach/gate`, next: { what: "GitHub sees it" } };
  }
  const { needs } = pull;
  if (needs === undefined)
    return {
      why: `${name} waits for GitHub: ${pull.blockedBy ?? "a rule of the repository is not met"}`,
      next: { what: "its checks and reviews are done" },
    };
  if (needs.length === 0) return refusedBefore(draft, batch, pull);
  const { why, next, changesAt } = wanted(needs, pull.openedAt, draft.now);
  if (changesAt !== undefined) wakeAt(draft, changesAt);
  if (checksOf(needs).length > 0 || refusedBefore(draft, batch, pull) !== undefined)
    return { why: `${name} waits for GitHub: ${text(why)}`, next };
  return undefined;
}

function refusedBefore(draft: Draft, batch: Batch, pull: ObservedPull): Blocked | undefined {
  const { refused } = batch;
  if (refused === undefined || refused.key !== refusalKey(pull)) return undefined;
  const at = askAgainAt(refused);
  if (draft.now >= epoch(at)) return undefined;
  wakeAtTime(draft, at);
  const silent = silentIn(refused.message, pull.openedAt, draft.now);
  const why = `${pullName(pull)} waits for GitHub, which answered: ${text(refused.message)}`;
  return { why, next: silent === undefined ? { what: "it is tried again, at once where something of it changes", at } : { what: silent } };
}
