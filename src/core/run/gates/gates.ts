import { text, type Words } from "../../base/reason.ts";
import { epoch, iso, type Time } from "../../base/time.ts";
import { INTENTION_MS } from "../batches/batch-arrive.ts";
import { type Batch, mayMove, type Next, type Run } from "../state/run.ts";
import { batchOf, type Draft, moveBatch, sayBatch, wakeAt } from "../state/run-draft.ts";
import { batchName, clustersOf, liveTargets, nameList, pullName } from "../state/run-names.ts";
import type { ObservedPull } from "../state/world.ts";
import { beforeStage } from "./analysis.ts";
import { approvalGate } from "./approval.ts";
import { dependsGate } from "./depends.ts";
import { freshHealthGate, knownHealthGate } from "./fresh-health.ts";
import { fenceHalted, haltGate } from "./halt.ts";
import { hooksBefore } from "./hooks.ts";
import { jitterUntil } from "./jitter.ts";
import { limitsGate, sizeGate } from "./limits.ts";
import { planeGate } from "./plane.ts";
import { allowedByGitHub, type Blocked, guarded, sound } from "./pull-gates.ts";
import { windowGate } from "./window.ts";

/** Merges what may be merged: first the intention in the journal, then the call. Of a run that is paused only reverts (docs/spec.md §9.14). */
export function mergeOpen(draft: Draft): void {
  fenceHalted(draft);
  for (const { number } of draft.run.batches) {
    const batch = batchOf(draft.run, number);
    if (!mayMove(draft.run, batch)) continue;
    if ((batch.phase === "Open" || batch.phase === "Merging") && batch.closing === undefined) mergeOne(draft, batch);
  }
}

function mergeOne(draft: Draft, batch: Batch): void {
  const pull = draft.world.pulls.get(batch.number);
  const blocked = gates(draft, batch, pull);
  // gates() may have closed it or paused the run: then there is nothing more to say here.
  if (batchOf(draft.run, batch.number).closing !== undefined || !mayMove(draft.run, batch)) return;
  if (blocked !== undefined) {
    sayBatch(draft, batch.number, blocked.why, blocked.next);
    return;
  }
  if (pull === undefined || pull === null) return;
  if (pull.queue != null && batch.intention !== undefined) {
    const why = `${pullName(pull)} is in GitHub's merge queue, place ${pull.queue.position} (${pull.queue.state})`;
    sayBatch(draft, batch.number, why, { what: "GitHub merges it, or takes it out" });
    return;
  }
  if (batch.intention !== undefined && batch.intention.head !== pull.head) {
    const at = iso(epoch(batch.intention.at) + INTENTION_MS);
    sayBatch(draft, batch.number, "not merged yet: its head moved since", { what: "judged anew", at });
    return;
  }
  const unread = freshHealthGate(draft, batch, pull);
  if (unread !== undefined) {
    sayBatch(draft, batch.number, unread.why, unread.next);
    return;
  }
  if (batch.intention === undefined) {
    const event = `merging ${pullName(pull)} at ${pull.head.slice(0, 10)}`;
    const patch = { intention: { head: pull.head, at: draft.at }, refused: undefined, ...approvedBy(draft.run, batch) };
    moveBatch(draft, batch.number, "Merging", patch, event);
    wakeAt(draft, draft.now + INTENTION_MS);
  }
  draft.effects.push({ kind: "Merge", batch: batch.number, pull: pull.number, head: pull.head });
  const intended = batchOf(draft.run, batch.number).intention;
  const at = intended === undefined ? undefined : iso(epoch(intended.at) + INTENTION_MS);
  sayBatch(draft, batch.number, `${pullName(pull)} is being merged`, next("it is merged", at));
}

function next(what: string, at: string | undefined): Next {
  return at === undefined ? { what } : { what, at };
}

/** Every gate was open, that of approval too: the stage's later batches want none. */
export function approvedBy(run: Run, batch: Batch): { approved?: true } {
  return run.spec.stages[batch.stage]?.approval === undefined ? {} : { approved: true };
}

/** The first thing that stands against merging this batch now; undefined: nothing does. */
function gates(draft: Draft, batch: Batch, pull: ObservedPull | null | undefined): Blocked | undefined {
  if (draft.hold !== undefined && batch.kind !== "Revert") return { why: `not merged yet: ${draft.hold}`, next: { what: "judged again" } };
  if (pull === undefined || pull === null)
    return { why: "waiting for GitHub: its PR could not be seen", next: { what: "looked at again" } };
  const before = blockedBefore(draft, batch);
  if (before !== undefined) return { why: `${pullName(pull)} is open; ${before}`, next: { what: "judged again" } };
  const ours = sound(draft, batch, pull) ?? held(draft, batch, pull) ?? guarded(draft, batch, pull) ?? knownHealthGate(draft, batch, pull);
  if (ours !== undefined) return ours;
  // From here on it is up to GitHub or a person, and the gate on the PR says so.
  draft.cleared.push(batch.number);
  if (pull.queue != null) return undefined;
  return allowed(draft.run, batch, pull) ?? allowedByGitHub(draft, batch, pull);
}

/** What is waited for with the PR open (docs/spec.md §9.10). A merge that is under way is not called back by it, only not tried again over a halt. */
function held(draft: Draft, batch: Batch, pull: ObservedPull): Blocked | undefined {
  if (batch.intention !== undefined) return haltedUnderWay(draft, batch, batch.intention.at, pull);
  if (batch.kind === "Revert") {
    const stopped =
      settingsGate(draft) ?? planeGate(draft, batch) ?? haltGate(draft, batch) ?? othersGate(draft) ?? limitsGate(draft, batch);
    return stopped === undefined ? undefined : { why: `${pullName(pull)} is open; ${text(stopped.why)}`, next: stopped.next };
  }
  const blocked =
    settingsGate(draft) ??
    planeGate(draft, batch) ??
    haltGate(draft, batch) ??
    othersGate(draft) ??
    sizeGate(draft, batch) ??
    dependsGate(draft, batch) ??
    approvalGate(draft, batch) ??
    (batch.kind === "Hotfix" ? undefined : windowGate(draft, batch)) ??
    limitsGate(draft, batch);
  if (blocked !== undefined) return { why: `${pullName(pull)} is open; ${text(blocked.why)}`, next: blocked.next };
  return waitsForJitter(draft, batch, pull) ?? stageBegins(draft, batch, pull);
}

function haltedUnderWay(draft: Draft, batch: Batch, since: Time, pull: ObservedPull): Blocked | undefined {
  const halted = haltGate(draft, batch);
  if (halted === undefined) return undefined;
  const why = `${pullName(pull)} is not merged any more, unless its merge is under way already; ${text(halted.why)}`;
  return { why, next: { what: "its merge is seen, or lapses", at: iso(epoch(since) + INTENTION_MS) } };
}

/** Before the stage's first merge, last of all: what is measured and answered is of the moment it may merge. */
function stageBegins(draft: Draft, batch: Batch, pull: ObservedPull): Blocked | undefined {
  const begun = draft.run.batches.some((one) => one.stage === batch.stage && (one.merged !== undefined || one.intention !== undefined));
  if (begun || batch.kind === "Hotfix") return undefined;
  const blocked = beforeStage(draft, batch) ?? hooksBefore(draft, batch);
  return blocked === undefined ? undefined : { why: `${pullName(pull)} is open; ${text(blocked.why)}`, next: blocked.next };
}

function settingsGate({ world }: Draft): Blocked | undefined {
  if (world.settingsBroken === undefined) return undefined;
  const why = `the repo's settings cannot be read, so nobody can tell what they freeze or limit: ${world.settingsBroken}`;
  return { why, next: { what: "they are corrected on the base branch" } };
}

/** A halt is said on one rollout's pull request and binds all: what is not known is not taken for good. */
function othersGate({ world }: Draft): Blocked | undefined {
  if (world.others !== undefined) return undefined;
  return { why: "the other runs of the repo could not be read, and one may have halted these clusters", next: { what: "they are read" } };
}

function waitsForJitter(draft: Draft, batch: Batch, pull: ObservedPull): Blocked | undefined {
  const until = jitterUntil(draft.run, batch);
  if (until === undefined || draft.now >= until) return undefined;
  wakeAt(draft, until);
  return { why: `${pullName(pull)} waits out its jitter`, next: { what: "it may merge", at: iso(until) } };
}

/** Whether this run merges such a PR at all, or a person does. */
function allowed(run: Run, batch: Batch, pull: ObservedPull): Blocked | undefined {
  if (run.spec.mode !== "Run") {
    const why = `${pullName(pull)} waits for a person to merge it: the rollout's mode is ${run.spec.mode}, so Stagecoach never merges`;
    return { why, next: { what: `a person merges ${pullName(pull)}` } };
  }
  if (run.spec.delivery.merge === "Manual" && batch.promoted === undefined) {
    const why = `${pullName(pull)} waits for a person to merge it (merge: Manual)`;
    const what = pull.number === 0 ? "a person moves its branches" : `a person merges ${pullName(pull)}, or comments \`/promote\` on it`;
    return { why, next: { what } };
  }
  return undefined;
}

/** What of the run stands against merging this batch, whoever merges: the batches before it, and the window. */
export function blockedBefore(draft: Draft, batch: Batch): string | undefined {
  const { run } = draft;
  if (run.phase === "Paused" && batch.kind !== "Revert") return "the run is paused";
  const rolling = run.spec.stages[batch.stage]?.batching === "Rolling";
  for (const other of run.batches) {
    if (!comesBefore(other, batch, rolling)) continue;
    if (!isSettled(other)) return `waiting for ${batchName(run, other)} to settle`;
  }
  const window = run.plan.stages[batch.stage]?.maxUnavailable ?? 1;
  const there = occupied(run, batch.stage, batch.number);
  const coming = clustersOf(liveTargets(batch));
  const busy = new Set([...there, ...coming]);
  // The next weight of clusters in flight, a retried one among them, adds none to those.
  if (busy.size > window && coming.some((cluster) => !there.has(cluster)))
    return `waiting for the window: ${nameList(run, busy)} would be ${busy.size} in flight of at most ${window}`;
  return undefined;
}

/** What a merge by somebody else came before: what stood against merging the batch at that moment, whoever merges. */
export function tooEarlyFor(draft: Draft, batch: Batch, at: Time): Words | undefined {
  const before = blockedBefore(draft, batch);
  if (before !== undefined || batch.kind === "Revert") return before;
  const then = { ...draft, now: epoch(at) };
  const gate =
    haltGate(then, batch) ??
    dependsGate(then, batch) ??
    approvalGate(then, batch) ??
    (batch.kind === "Hotfix" ? undefined : windowGate(then, batch));
  return gate?.why;
}

/** By stage, then by number: a catch-up batch of an earlier stage comes first though it was made later. */
function comesBefore(other: Batch, batch: Batch, rolling: boolean): boolean {
  // Order is what a hotfix skips, and a revert; health and the window they do not.
  if (batch.kind === "Hotfix" || batch.kind === "Revert") return false;
  if (other.stage !== batch.stage) return other.stage < batch.stage;
  if (waitsOutOfTurn(other) && (batch.step?.index ?? 1) > 1) return false;
  return !rolling && other.number < batch.number;
}

/**
 * A hotfix or a revert of which nothing is in flight yet. It may wait for a place in the window, and what is midway takes one until
 * its last weight: that goes on first.
 */
export function waitsOutOfTurn({ kind, merged, intention }: Batch): boolean {
  return (kind === "Hotfix" || kind === "Revert") && merged === undefined && intention === undefined;
}

export function isSettled(batch: Batch): boolean {
  return batch.phase === "Settled" || (batch.phase === "Closed" && liveTargets(batch).length === 0);
}

/** Clusters of a stage that take a place in its window: moved and not yet confirmed for as long as the bake wants. */
export function occupied(run: Run, stage: number, except?: number): Set<string> {
  const clusters = new Set<string>();
  for (const batch of run.batches) {
    if (batch.stage !== stage || batch.number === except) continue;
    const moved = batch.merged !== undefined || batch.intention !== undefined;
    for (const target of batch.targets) {
      if (target.phase === "Merged" || target.phase === "Syncing" || target.phase === "Healthy") clusters.add(target.cluster);
      else if (moved && target.phase === "Proposed") clusters.add(target.cluster);
    }
  }
  return clusters;
}
