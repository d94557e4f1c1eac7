import { defined } from "../../base/defined.ts";
import type { AnyReason } from "../../base/reason.ts";
import { epoch, iso } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { type Draft, mapTargets, moveTarget, touchTarget, wakeAt } from "../state/draft.ts";
import type { Batch, BatchTarget } from "../state/run.ts";
import { hasGoneOn } from "../state/steps.ts";
import type { Assessment, ObservedTarget } from "../state/world.ts";
import { excuse } from "./baseline.ts";
import { endDip, ignoreDip } from "./flap.ts";
import { restsWhole } from "./rest.ts";
import { seenOf } from "./seen.ts";
import { wantSync } from "./sync.ts";
import { lostPlane, lostWords, planeOf } from "./unseen.ts";

/** Restarts of one bake, after which the target that was unhealthy has failed (docs/spec.md §9.15). */
const MOST_RESTARTS = 3;

/** A first read after a merge may take this long before anybody is told that there is none. */
const FIRST_READ_MS = 60_000;

/** Takes in what Argo CD says of every target that has moved. */
export function observeTargets(draft: Draft): void {
  const refresh = new Set<string>();
  const sets = new Set<string>();
  for (const batch of draft.run.batches) {
    if (batch.merged === undefined || restsWhole(draft, batch)) continue;
    mapTargets(draft, batch.number, (target) => {
      if (hasGoneOn(batch, target) || draft.moved.has(target.key)) return target;
      const seen = seenOf(draft, batch, target.key);
      // A batch that arrived in this round was not being watched when the world was looked at.
      if (seen?.assessment === undefined && batch.merged?.at === draft.at) return target;
      if (isWatched(target)) noteRefresh(target, seen?.assessment, refresh, sets);
      return observeTarget(draft, batch, target, seen);
    });
  }
  if (refresh.size + sets.size > 0) draft.effects.push({ kind: "Refresh", targets: [...refresh], sets: [...sets] });
}

/** Whoever applies its spec looks first: a batch's targets have one parent, which is asked once for all of them. */
function noteRefresh({ key }: BatchTarget, assessment: Assessment | undefined, refresh: Set<string>, sets: Set<string>): void {
  if (assessment?.wantsRefresh === true) refresh.add(key);
  for (const one of assessment?.asksFirst?.applications ?? []) refresh.add(one);
  for (const one of assessment?.asksFirst?.sets ?? []) sets.add(one);
}

function isWatched(target: BatchTarget): boolean {
  return target.phase === "Merged" || target.phase === "Syncing" || target.phase === "Healthy";
}

function observeTarget(draft: Draft, batch: Batch, target: BatchTarget, seen: ObservedTarget | undefined): BatchTarget {
  if (hasLeft(target, seen)) {
    draft.transition = true;
    draft.events.push(runReason("TARGET_LEFT", { cluster: target.cluster, application: target.application }));
    return moveTarget(draft, target, "Skipped", runReason("TARGET_GONE"), { deadlineAt: undefined, waitingSince: undefined });
  }
  switch (target.phase) {
    case "Merged":
    case "Syncing":
      return inFlight(draft, batch, target, seen?.assessment && withRefresh(target, seen.assessment, seen.nudge));
    case "Healthy":
      // At its weight, and the next one's pull request is made or open.
      if (batch.phase === "Settled") return afterwards(draft, batch, target, seen?.assessment);
      return baking(draft, batch, target, seen?.assessment);
    case "Baked":
      return afterwards(draft, batch, target, seen?.assessment);
    default:
      return target;
  }
}

/** docs/spec.md §9.16: no Application and no pin. The Application alone missing is *lost*, and fails at its deadline. */
function hasLeft(target: BatchTarget, seen: ObservedTarget | undefined): boolean {
  if (!isWatched(target) && target.phase !== "Baked" && target.phase !== "Failed") return false;
  if (seen?.assessment?.verdict !== "lost" || seen.pins === undefined) return false;
  return seen.pins.length > 0 && seen.pins.every((pin) => pin === null);
}

function inFlight(draft: Draft, batch: Batch, target: BatchTarget, assessment: Assessment | undefined): BatchTarget {
  if (assessment === undefined) return waits(draft, target, unseen(draft, target));
  if (assessment.lookAgainAt !== undefined) wakeAt(draft, epoch(assessment.lookAgainAt));
  const sighted = firstSight(draft, batch, target, assessment);
  if (isStale(batch, assessment))
    return deadline(draft, runs(draft, sighted), runReason("READ_BEFORE_MERGE", { because: assessment.sentence }));
  switch (assessment.verdict) {
    case "live":
      return confirm(draft, sighted, assessment);
    case "failing":
      // What was put right a moment ago shows so only when Argo CD has looked again.
      if (isHealing(draft, sighted)) return deadline(draft, runs(draft, sighted), assessment.sentence, assessment);
      return fail(draft, sighted, assessment.sentence, assessment);
    case "waiting":
      return waits(draft, ...wantSync(draft, batch, sighted, assessment));
    case "pending":
    case "lost":
      // Somebody, or something, has yet to end a pause: docs/spec.md §9.15 has the clock stand still.
      if (assessment.clockStopped === true) return waits(draft, sighted, assessment.sentence);
      return deadline(draft, runs(draft, sighted), assessment.sentence, assessment);
  }
}

/** `/retry` gives it the grace anew. */
function isHealing(draft: Draft, { retriedAt }: BatchTarget): boolean {
  const until = retriedAt === undefined ? 0 : epoch(retriedAt) + draft.run.spec.graceMs;
  if (draft.now >= until) return false;
  wakeAt(draft, until);
  return true;
}

/** Why nothing is known of it now. */
function unseen(draft: Draft, target: BatchTarget): AnyReason {
  const lost = lostPlane(draft, target.key);
  if (lost !== undefined) return lostWords(planeOf(target.key), lost);
  const justMerged = target.phase === "Merged" && draft.now - epoch(target.since) < FIRST_READ_MS;
  return justMerged ? runReason("NOT_READ_SINCE_MERGE") : runReason("ARGOCD_UNREADABLE");
}

/** Evidence from before the change says nothing about it. Liveness judges this by Argo CD's times; this is by ours. */
function isStale(batch: Batch, assessment: Assessment): boolean {
  return batch.merged === undefined || epoch(assessment.evidence.readAt) < epoch(batch.merged.at);
}

function firstSight(draft: Draft, batch: Batch, before: BatchTarget, assessment: Assessment): BatchTarget {
  const { firstComparedAt = before.firstComparedAt, held } = assessment;
  const target = touchTarget(before, { firstComparedAt, goodSince: held?.goodSince });
  const seenAt = assessment.firstSeenAt ?? (assessment.verdict === "live" ? assessment.evidence.readAt : undefined);
  if (target.firstSeenAt !== undefined || seenAt === undefined) return target;
  // The cluster's clock said when. A time that we have not reached, or from before the merge, is none to count from: neither the deadline nor the settling.
  const from = Math.max(Math.min(epoch(seenAt), draft.now), batch.merged === undefined ? 0 : epoch(batch.merged.at));
  const deadlineAt = iso(from + progressDeadline(draft, batch));
  return moveTarget(draft, target, "Syncing", assessment.sentence, { firstSeenAt: iso(from), deadlineAt, waitingSince: undefined });
}

function progressDeadline(draft: Draft, batch: Batch): number {
  return draft.run.spec.stages[batch.stage]?.progressDeadlineMs ?? 0;
}

function confirm(draft: Draft, target: BatchTarget, assessment: Assessment): BatchTarget {
  draft.events.push(runReason("TARGET_CONFIRMED", { cluster: target.cluster, application: target.application }));
  const patch = {
    confirmedAt: draft.at,
    evidence: assessment.evidence,
    deadlineAt: undefined,
    waitingSince: undefined,
    retriedAt: undefined,
  };
  return moveTarget(draft, target, "Healthy", assessment.sentence, patch);
}

function fail(draft: Draft, target: BatchTarget, what: AnyReason, assessment: Assessment | undefined): BatchTarget {
  draft.transition = true;
  const before = excuse(draft, target);
  const why = before === undefined ? what : runReason("NO_WORSE_THAN_BASELINE", { baseline: before, because: what });
  draft.events.push(runReason("TARGET_FAILED", { cluster: target.cluster, baseline: before !== undefined, because: why }));
  const patch = { ...UNTIMED, excused: before === undefined ? undefined : true } as const;
  return moveTarget(draft, target, "Failed", why, { ...patch, ...defined({ evidence: assessment?.evidence }) });
}

/** That it was tried again is kept: who said so is told that it did not help. */
const UNTIMED = { deadlineAt: undefined, waitingSince: undefined, dippedAt: undefined, dips: undefined };

/** The clock of the deadline stands still from here on. */
function waits(draft: Draft, target: BatchTarget, why: AnyReason): BatchTarget {
  const since = target.waitingSince ?? draft.at;
  const ends = epoch(since) + draft.run.spec.waitingDeadlineMs;
  if (draft.now < ends) wakeAt(draft, ends);
  // Where nobody can be asked any more, what waits for ever must not hold the newer run up.
  else if (draft.run.ending !== undefined) return fail(draft, target, why, undefined);
  return touchTarget(target, { waitingSince: since, why });
}

/** The clock runs again: the deadline is put off by as long as it stood. */
function runs(draft: Draft, target: BatchTarget): BatchTarget {
  if (target.waitingSince === undefined) return target;
  const stood = draft.now - epoch(target.waitingSince);
  const deadlineAt = target.deadlineAt === undefined ? undefined : iso(epoch(target.deadlineAt) + stood);
  return touchTarget(target, { waitingSince: undefined, deadlineAt });
}

/** What is healthy by its deadline has this long after it to settle and be read once more: it is us that it waits for then. */
const PROOF_MS = 5 * 60_000;

function deadline(draft: Draft, target: BatchTarget, why: AnyReason, assessment?: Assessment): BatchTarget {
  if (target.deadlineAt === undefined) return touchTarget(target, { why });
  const due = epoch(target.deadlineAt) + (assessment?.clause === "settled" ? PROOF_MS : 0);
  if (draft.now < due) {
    wakeAt(draft, due);
    return touchTarget(target, { why });
  }
  return fail(draft, target, runReason("DEADLINE_PASSED", { seen: target.firstSeenAt !== undefined, because: why }), assessment);
}

/** Confirmed, and healthy for `bake` yet to come: an unhealthy moment makes it in flight again, and the bake starts over. */
function baking(draft: Draft, batch: Batch, target: BatchTarget, assessment: Assessment | undefined): BatchTarget {
  if (assessment === undefined) return waits(draft, target, runReason("CONFIRMED_THEN_UNSEEN", { because: unseen(draft, target) }));
  if (assessment.lookAgainAt !== undefined) wakeAt(draft, epoch(assessment.lookAgainAt));
  if (assessment.verdict === "failing") return fail(draft, target, assessment.sentence, assessment);
  if (assessment.verdict === "live") return touchTarget(endDip(draft, target), { why: assessment.sentence, waitingSince: undefined });
  // Neither healthy nor unhealthy: the bake does not end on it, and it may not stay so for ever.
  if (!isUnhealthy(assessment)) return waits(draft, endDip(draft, target), assessment.sentence);
  const ignored = ignoreDip(draft, target, assessment.sentence);
  if (ignored !== undefined) return ignored;
  const restarts = (batch.bake?.restarts ?? 0) + 1;
  if (restarts > MOST_RESTARTS) {
    return fail(draft, target, runReason("BAKE_RESTARTED_OFTEN", { times: MOST_RESTARTS, because: assessment.sentence }), assessment);
  }
  draft.transition = true;
  draft.disturbed.add(batch.number);
  draft.events.push(runReason("UNHEALTHY_WHILE_BAKING", { cluster: target.cluster, because: assessment.sentence }));
  const deadlineAt = iso(draft.now + progressDeadline(draft, batch));
  return moveTarget(draft, target, "Syncing", assessment.sentence, { deadlineAt, ...UNCONFIRMED });
}

const UNCONFIRMED = { confirmedAt: undefined, evidence: undefined, waitingSince: undefined, dippedAt: undefined, dips: undefined };

/**
 * Staleness and comparisons under way are nothing about health: a busy repository would never finish a bake. Clause names
 * are those of liveness.
 */
function isUnhealthy(assessment: Assessment): boolean {
  if (assessment.verdict === "live" || assessment.clockStopped === true) return false;
  return assessment.verdict === "lost" || assessment.clause === "health" || assessment.clause === "conditions";
}

/** What holds the batches after it may not do so for ever: it gets well, or counts as failed. */
function isIll({ clause, evidence }: Assessment): boolean {
  return clause === "health" && ["Degraded", "Missing", "Unknown"].includes(String(evidence.fields["health"]));
}

/** Confirmed is not forgotten: failing later counts as a failure, and so does staying lost or ill. */
function afterwards(draft: Draft, batch: Batch, target: BatchTarget, assessment: Assessment | undefined): BatchTarget {
  if (assessment === undefined) return target;
  if (assessment.verdict === "failing")
    return fail(draft, target, runReason("FAILED_AFTERWARDS", { because: assessment.sentence }), assessment);
  if (assessment.verdict !== "lost" && !isIll(assessment)) return touchTarget(target, { deadlineAt: undefined });
  if (target.deadlineAt !== undefined) return deadline(draft, target, assessment.sentence, assessment);
  const until = draft.now + progressDeadline(draft, batch);
  wakeAt(draft, until);
  const data = { lost: assessment.verdict === "lost", until: iso(until), because: assessment.sentence };
  return touchTarget(target, { deadlineAt: iso(until), why: runReason("UNWELL_AFTERWARDS", data) });
}

/** What Argo CD shows, and where that is not the change yet, whether it was asked to look again. */
function withRefresh(target: BatchTarget, assessment: Assessment, asked: ObservedTarget["nudge"]): Assessment {
  if (asked === undefined || assessment.verdict !== "pending") return assessment;
  const seen = target.firstSeenAt !== undefined;
  return { ...assessment, sentence: runReason("REFRESH_WANTED", { because: assessment.sentence, ...asked, seen }) };
}
