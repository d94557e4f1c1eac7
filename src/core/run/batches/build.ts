import type { AnyReason } from "../../base/reason.ts";
import type { Edit, PlannedTarget } from "../../plan/plan-types.ts";
import { type BatchStep, editsAt } from "../../plan/steps.ts";
import { batchReason } from "../../reasons/batches.ts";
import { gateReason } from "../../reasons/gates.ts";
import { failedBefore, nameBehind } from "../outcome/step-left.ts";
import { isInTurn, putsBack } from "../state/batch-kind.ts";
import { branchOf } from "../state/branch-name.ts";
import { batchOf, change, changeBatch, type Draft, mapTargets, moveBatch, pause, sayBatch, wakeAt } from "../state/draft.ts";
import { batchRef, clustersOf, isThere, liveTargets, targetsOf, unitOf } from "../state/names.ts";
import { type Batch, type BatchTarget, mayMove, type Run } from "../state/run.ts";
import { firstStep } from "../state/steps.ts";
import { arrive } from "./arrive.ts";
import { leave } from "./leave.ts";
import { requeue } from "./requeue.ts";
import { skip } from "./skip.ts";
import { fitting } from "./within-limits.ts";

/** Journals a new batch of these clusters of the stage. Its PR is asked for in the same round where the pins are known. */
export function makeBatch(
  draft: Draft,
  stage: number,
  clusters: readonly string[],
  kind: Batch["kind"],
  targets: readonly PlannedTarget[] = clusters.flatMap((cluster) => [...targetsOf(draft.run, cluster)]),
): void {
  const ofStage = 1 + Math.max(0, ...draft.run.batches.map((batch) => (batch.stage === stage ? batch.ofStage : 0)));
  const step = firstStep(draft.run, stage, kind);
  addBatch(draft, { stage, ofStage, attempt: 1, kind, ...(step === undefined ? {} : { step }) }, targets, clusters);
}

/** As makeBatch, of a batch that is known to be this one of its stage; of one that goes on to its next weight, for these targets. */
export function addBatch(
  draft: Draft,
  place: Pick<Batch, "stage" | "ofStage" | "attempt" | "kind" | "step">,
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
    ...(draft.run.restore !== undefined && !putsBack(place) && isLast(draft.run, clusters) ? { also: draft.run.restore } : {}),
  };
  draft.rebuilt.add(number);
  change(
    draft,
    { batches: [...draft.run.batches, batch] },
    batchReason("BATCH_MADE", { batch: batchRef(draft.run, batch), clusters: [...clusters] }),
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
function opening(run: Run, again = false, clusters: string[] = []): Pick<Batch, "why" | "next"> {
  const branches = run.spec.delivery.strategy === "Commit";
  return { why: batchReason("BATCH_OPENING", { branches, again, clusters }), next: { what: batchReason("NEXT_OPEN", { branches }) } };
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
  return run.requeued.some((one) => one.cluster === cluster && one.failed !== true);
}

/** Starts a batch whose PR was closed over again, on a new branch, without the clusters left out since. */
export function rebuild(draft: Draft, batch: Batch): void {
  const attempt = batch.attempt + 1;
  const pull = draft.world.pulls.get(batch.number);
  // Opened again by hand after it was closed: it would be merged beside the new one.
  if (pull?.state === "open")
    draft.effects.push({ kind: "Close", batch: batch.number, pull: pull.number, why: batchReason("BUILT_AGAIN") });
  nameBehind(draft, batch);
  const kept = batch.targets.filter((target) => !isLeftOut(draft.run, batch, target.cluster));
  const { targets, dropped } = fitting(draft, batch, kept);
  const patch = {
    attempt,
    targets,
    // The last batch is then another one.
    ...(dropped.length === 0 ? {} : { also: undefined }),
    branch: branchOf(draft.run, { ...batch, attempt }),
    pull: undefined,
    intention: undefined,
    closing: undefined,
  };
  draft.rebuilt.add(batch.number);
  moveBatch(
    draft,
    batch.number,
    "Proposing",
    { ...patch, promoted: undefined, ...opening(draft.run, true) },
    batchReason("BATCH_ATTEMPT", { batch: batchRef(draft.run, batch), attempt }),
  );
  // Of a planned batch they are the stage's next.
  if (dropped.length > 0 && batch.kind !== "Planned") requeue(draft, batch.stage, dropped, batchReason("LIMITS_ALLOW_FEWER"));
}

/** Asks for the PRs of batches that have none yet, or lets a batch with nothing to change go on without one. */
export function propose(draft: Draft): void {
  for (const batch of draft.run.batches) {
    // A later stage's batch waits where an earlier stage has something to catch up on.
    if (!mayMove(draft.run, batch)) continue;
    const inTurn = batch.stage <= draft.run.stage || !isInTurn(batch);
    if (batch.phase === "Proposing" && batch.closing === undefined && inTurn) proposeOne(draft, batch.number);
  }
}

function proposeOne(draft: Draft, number: number): void {
  const fresh = draft.rebuilt.has(number);
  if (!fresh && draft.world.pulls.get(number) === undefined) {
    sayBatch(draft, number, batchReason("PULL_UNKNOWN"), { what: gateReason("NEXT_LOOKED_AGAIN") });
    return;
  }
  if (!readPins(draft, number)) return;
  const batch = batchOf(draft.run, number);
  const live = liveTargets(batch);
  if (live.length === 0 && batch.also === undefined) {
    moveBatch(draft, number, "Settled", { settledAt: draft.at, why: batchReason("ALL_LEFT_OUT"), next: null });
    return;
  }
  if (live.every(isThere) && batch.also === undefined) {
    arrive(draft, batch, { commit: draft.world.base.commit, at: draft.at, by: "nobody: already at the release" });
    draft.events.push(batchReason("BATCH_NEEDS_NO_PULL", { batch: batchRef(draft.run, batch), clusters: clustersOf(live) }));
    return;
  }
  if (!fresh && !guardAllows(draft, batch)) return;
  draft.effects.push({ kind: "Propose", batch: number });
  const { why, next } = opening(draft.run, false, clustersOf(live));
  sayBatch(draft, number, why, next);
}

function guardAllows(draft: Draft, batch: Batch): boolean {
  const guard = draft.world.guards.get(batch.number);
  if (guard === undefined || guard.ok) return true;
  if (guard.retry) {
    sayBatch(draft, batch.number, batchReason("NOT_OPENED_YET", { because: guard.why }), { what: gateReason("NEXT_JUDGED_AGAIN") });
    return false;
  }
  const reason = batchReason("MUST_NOT_PROPOSE", { batch: batchRef(draft.run, batch), because: guard.why });
  pause(draft, "Refused", "stagecoach", reason, batchReason("ASK_CHANGE_NAMED"));
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
    else if (target.edits.some((edit, index) => (pins[index] ?? null) === null && edit.create !== true)) gone.push(target);
  }
  if (unread.length > 0) {
    if (draft.rebuilt.has(number)) wakeAt(draft, draft.now);
    sayBatch(draft, number, batchReason("PINS_UNREAD", { clusters: unread }), { what: gateReason("NEXT_READ"), eta: draft.at });
    return false;
  }
  for (const target of gone) if (!leave(draft, number, target)) return false;
  if (draft.run.kind === "Rollback" || putsBack(batchOf(draft.run, number))) leavePinnedByHand(draft, number);
  mapTargets(draft, number, (target) => {
    const pins = draft.world.targets.get(target.key)?.pins;
    const edits = pins === undefined ? target.edits : withValues(target.edits, pins);
    return edits === target.edits ? target : { ...target, edits };
  });
  return true;
}

/** A rollback takes back what its run wrote, and nothing that somebody has pinned since: that is named, and left. */
function leavePinnedByHand(draft: Draft, number: number): void {
  const { run, world } = draft;
  const pinned = new Map<string, AnyReason>();
  for (const target of liveTargets(batchOf(run, number))) {
    const frozen = targetsOf(run, target.cluster).find((one) => one.key === target.key);
    for (const [i, edit] of (frozen?.edits ?? []).entries()) {
      const value = world.targets.get(target.key)?.pins?.[i] ?? null;
      const ours = value === edit.from || value === edit.to || (value !== null && edit.steps?.includes(value) === true);
      if (!ours) pinned.set(target.cluster, batchReason("PINNED_BY_HAND", value === null ? {} : { value }));
    }
  }
  if (pinned.size === 0) return;
  for (const cluster of [...pinned.keys()])
    for (const member of unitOf(run, cluster)) if (!pinned.has(member)) pinned.set(member, batchReason("PINNED_WITH", { cluster }));
  for (const [cluster, because] of pinned) skip(draft, cluster, because, batchReason("CLUSTER_EVENT", { cluster, because }));
  const targets = batchOf(draft.run, number).targets.filter((target) => !pinned.has(target.cluster));
  changeBatch(draft, number, { targets });
}

/** The same list where every value is as it was. */
function withValues(edits: Edit[], pins: (string | null)[]): Edit[] {
  if (edits.every((edit, index) => edit.from === (pins[index] ?? null))) return edits;
  return edits.map((edit, index) => ({ ...edit, from: pins[index] ?? null }));
}
