/** Asks for the PRs of batches that have none yet, once their pins are known. Called by `advance` once a round, also while a run is paused. */
import type { AnyReason } from "../../base/reason.ts";
import { epoch, type Time } from "../../base/time.ts";
import type { Edit } from "../../plan/plan-types.ts";
import { runReason } from "../../reasons/run.ts";
import { protectionGate } from "../gates/protection.ts";
import { isInTurn, isProposed, putsBack } from "../state/batch.ts";
import { batchOf, changeBatch, type Draft, mapTargets, moveBatch, moveTarget, pause, sayBatch, wakeAt } from "../state/draft.ts";
import { batchRef, clustersOf, isThere, liveTargets, targetsOf, unitOf } from "../state/names.ts";
import { type Batch, type BatchTarget, mayMove } from "../state/run.ts";
import { midwayBatch } from "../state/steps.ts";
import { seesClusterOf } from "../targets/unseen.ts";
import { opening } from "./build.ts";
import { arrive } from "./merged.ts";
import { skip } from "./requeue.ts";

/** Asks for the PRs of batches that have none yet; a batch with nothing to change goes on without one. */
export function propose(draft: Draft): void {
  for (const batch of draft.run.batches) {
    // A later stage's batch waits where an earlier stage has something to catch up on.
    if (!mayMove(draft.run, batch)) continue;
    if (batch.phase !== "Proposing" || batch.closing !== undefined) continue;
    if (batch.ahead === true) proposeAhead(draft, batch);
    else if (batch.stage <= draft.run.stage || !isInTurn(batch)) proposeOne(draft, batch.number);
  }
}

function proposeOne(draft: Draft, number: number): void {
  const fresh = draft.rebuilt.has(number);
  if (!fresh && draft.world.pulls.get(number) === undefined) {
    sayBatch(draft, number, runReason("PULL_UNKNOWN"), { what: runReason("NEXT_LOOKED_AGAIN") });
    return;
  }
  if (!readPins(draft, number)) return;
  const batch = batchOf(draft.run, number);
  const live = liveTargets(batch);
  if (live.length === 0 && batch.also === undefined) {
    moveBatch(draft, number, "Settled", { settledAt: draft.at, why: runReason("ALL_LEFT_OUT"), next: null });
    return;
  }
  if (live.every(isThere) && batch.also === undefined) {
    arrive(draft, batch, { commit: draft.world.base.commit, at: draft.at, by: "" });
    draft.events.push(runReason("BATCH_NEEDS_NO_PULL", { batch: batchRef(draft.run, batch), clusters: clustersOf(live) }));
    return;
  }
  if (isUnprotected(draft, batch) || (!fresh && !guardAllows(draft, batch))) return;
  const refused = draft.world.unopened?.get(number);
  if (refused !== undefined && wasRefusedLong(draft, batch, refused)) return;
  draft.effects.push({ kind: "Propose", batch: number });
  const { why, next } = opening(draft.run, false, clustersOf(live));
  if (refused === undefined) sayBatch(draft, number, why, next);
  else sayBatch(draft, number, runReason("OPENING_REFUSED", { because: refused.because }), { what: runReason("NEXT_TRIED_AGAIN") });
}

/** What GitHub refuses for so long somebody has to change: the run pauses, and says what. */
const REFUSED_MS = 2 * 60_000;

function wasRefusedLong(draft: Draft, batch: Batch, { since, because }: { since: Time; because: AnyReason }): boolean {
  // Before its turn it was tried once.
  const ends = Math.max(epoch(since), epoch(batch.since)) + REFUSED_MS;
  if (draft.now < ends) {
    wakeAt(draft, ends);
    return false;
  }
  pause(draft, "Refused", "GitHub", runReason("NOT_OPENED", { batch: batchRef(draft.run, batch), because }), runReason("ASK_LET_OPEN"));
  return true;
}

/** Before its turn nothing stops the run: what is in the way is said, and judged as ever once its turn has come. */
function proposeAhead(draft: Draft, { number }: Batch): void {
  const { targets, pulls, guards, unopened } = draft.world;
  const guard = guards.get(number);
  // What GitHub has refused once is tried again in its turn.
  if (draft.rebuilt.has(number) || pulls.get(number) !== null || guard === undefined || unopened?.has(number) === true) return;
  // The one before it may not have merged after all: there is one open PR a rollout until then.
  if (draft.run.batches.some((batch) => batch.number !== number && isProposed(batch))) return;
  const live = liveTargets(batchOf(draft.run, number));
  const isKnown = live.every(({ key, edits }) => {
    const pins = targets.get(key)?.pins;
    return pins !== undefined && edits.every((edit, index) => (pins[index] ?? null) !== null || edit.create === true);
  });
  if (!isKnown || live.every((target) => isThere(pinned(draft, target)))) return;
  if (isUnprotected(draft, batchOf(draft.run, number))) return;
  if (!guard.ok) {
    sayBatch(draft, number, runReason("NOT_OPENED_YET", { because: guard.why }), { what: runReason("NEXT_JUDGED_AGAIN") });
    return;
  }
  // What stood there has to be known when it is put back.
  if (mapTargets(draft, number, (target) => pinned(draft, target))) draft.transition = true;
  draft.effects.push({ kind: "Propose", batch: number });
  const { why, next } = opening(draft.run, false, clustersOf(live));
  sayBatch(draft, number, why, next);
}

/** A target with its pins' values at the base; the same object where they are as they were. */
function pinned({ world }: Draft, target: BatchTarget): BatchTarget {
  const pins = world.targets.get(target.key)?.pins;
  const edits = pins === undefined ? target.edits : withValues(target.edits, pins);
  return edits === target.edits ? target : { ...target, edits };
}

function isUnprotected(draft: Draft, batch: Batch): boolean {
  const held = protectionGate(draft, batch);
  if (held === undefined) return false;
  if (held.again !== undefined) wakeAt(draft, held.again);
  sayBatch(draft, batch.number, runReason("NOT_OPENED_YET", { because: held.why }), held.next);
  return true;
}

function guardAllows(draft: Draft, batch: Batch): boolean {
  const guard = draft.world.guards.get(batch.number);
  if (guard === undefined || guard.ok) return true;
  if (guard.retry) {
    sayBatch(draft, batch.number, runReason("NOT_OPENED_YET", { because: guard.why }), { what: runReason("NEXT_JUDGED_AGAIN") });
    return false;
  }
  const reason = runReason("MUST_NOT_PROPOSE", { batch: batchRef(draft.run, batch), because: guard.why });
  pause(draft, "Refused", "stagecoach", reason, runReason("ASK_CHANGE_NAMED"));
  return false;
}

/**
 * Takes the pins' values at the base into the batch: what is at the release already is not edited. False where the batch
 * cannot be proposed in this round.
 */
function readPins(draft: Draft, number: number): boolean {
  const unread: string[] = [];
  const gone: BatchTarget[] = [];
  for (const target of liveTargets(batchOf(draft.run, number))) {
    const pins = draft.world.targets.get(target.key)?.pins;
    if (pins === undefined) unread.push(target.cluster);
    else if (target.edits.some((edit, index) => (pins[index] ?? null) === null && edit.create !== true && edit.removes !== true))
      gone.push(target);
  }
  if (unread.length > 0) {
    if (draft.rebuilt.has(number)) wakeAt(draft, draft.now);
    sayBatch(draft, number, runReason("PINS_UNREAD", { clusters: unread }), { what: runReason("NEXT_READ"), eta: draft.at });
    return false;
  }
  for (const target of gone) if (!leave(draft, number, target)) return false;
  if (draft.run.kind === "Rollback" || putsBack(batchOf(draft.run, number))) leavePinnedByHand(draft, number);
  mapTargets(draft, number, (target) => pinned(draft, target));
  return true;
}

/** A cluster whose pin is gone has left with it, unless it is still registered: then somebody has to say what is meant. False: it is waited for. */
function leave(draft: Draft, number: number, { cluster, edits }: BatchTarget): boolean {
  const { run, world } = draft;
  if (!seesClusterOf(draft, cluster)) {
    sayBatch(draft, number, runReason("PIN_GONE_UNSEEN", { cluster }), { what: runReason("NEXT_LOOKED_AGAIN") });
    return false;
  }
  if (world.clusters.has(cluster)) {
    const edit = edits.find((one) => one.create !== true);
    const file = edit?.kind === "branch" ? undefined : edit?.file;
    pause(draft, "Drift", "Git", runReason("PIN_GONE", { cluster, file, path: edit?.path }), runReason("ASK_PIN_BACK", { cluster }));
    return false;
  }
  changeBatch(draft, number, { targets: batchOf(run, number).targets.filter((one) => one.cluster !== cluster) });
  // At an earlier weight it was confirmed, and is looked at until the next: there is nothing to be looked at any more.
  const gone = (one: BatchTarget) => (one.cluster === cluster ? moveTarget(draft, one, "Skipped", runReason("TARGET_GONE")) : one);
  const midway = midwayBatch(run, cluster);
  if (midway !== undefined) mapTargets(draft, midway.number, gone);
  skip(draft, cluster, runReason("CLUSTER_GONE"), runReason("CLUSTER_LEFT", { cluster }));
  return true;
}

/** A rollback takes back what its run wrote, and nothing that somebody has pinned since: that is named, and left. */
function leavePinnedByHand(draft: Draft, number: number): void {
  const { run, world } = draft;
  const pinned = new Map<string, AnyReason>();
  for (const target of liveTargets(batchOf(run, number))) {
    const frozen = targetsOf(run, target.cluster).find((one) => one.key === target.key);
    for (const [i, edit] of (frozen?.edits ?? []).entries()) {
      // What a revert takes away is in its own edits, for in the plan it was to come; and the other way round in a rollback.
      const { file, path, to, removes, create } = target.edits[i] ?? edit;
      const gone = edit.removes === true && create === true ? edit.to : null;
      const value = world.targets.get(target.key)?.pins?.[i] ?? gone;
      const ours = value === edit.from || value === edit.to || value === to || (value !== null && edit.steps?.includes(value) === true);
      if (removes === true && value === null) pinned.set(target.cluster, runReason("PIN_MADE_BY_RUN", { file, path, changed: true }));
      else if (!ours) pinned.set(target.cluster, runReason("PINNED_BY_HAND", { value: value ?? undefined }));
    }
  }
  if (pinned.size === 0) return;
  for (const cluster of [...pinned.keys()])
    for (const member of unitOf(run, cluster)) if (!pinned.has(member)) pinned.set(member, runReason("PINNED_WITH", { cluster }));
  for (const [cluster, because] of pinned) skip(draft, cluster, because, runReason("CLUSTER_EVENT", { cluster, because }));
  const targets = batchOf(draft.run, number).targets.filter((target) => !pinned.has(target.cluster));
  changeBatch(draft, number, { targets });
}

/** The same list where every value is as it was. */
function withValues(edits: Edit[], pins: (string | null)[]): Edit[] {
  const now = edits.map((edit, index) => startOf(edit, pins[index] ?? null));
  if (edits.every((edit, index) => edit.from === now[index])) return edits;
  return edits.map((edit, index) => ({ ...edit, from: now[index] ?? null }));
}

/** What is moved by force goes from where it was planned at alone: the guard refuses it from anywhere else. */
function startOf({ forced, from, to }: Edit, value: string | null): string | null {
  return forced === true && from !== null && value !== to ? from : value;
}
