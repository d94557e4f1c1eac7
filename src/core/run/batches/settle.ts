/** Moves merged batches on: every cluster confirmed, its waits over, baked, measured, settled. Called by `advance` once a round. */
import { type AnyReason, causesOf } from "../../base/reason.ts";
import { epoch, iso } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { afterBatch, measuresBatch } from "../checks/stage-checks.ts";
import { withinBudget } from "../outcome/failures.ts";
import { isInTurn, putsBack } from "../state/batch.ts";
import { batchOf, type Draft, mapTargets, moveBatch, moveTarget, noteBatch, sayBatch, wakeAt } from "../state/draft.ts";
import { batchRef, clustersOf, liveTargets } from "../state/names.ts";
import type { Batch, BatchTarget, Next } from "../state/run.ts";
import { isMidStep } from "../state/steps.ts";
import { isToBeRead } from "../targets/seen.ts";
import { stepIsOver } from "./step-wait.ts";

export function settleBatches(draft: Draft): void {
  for (const { number, stage, merged, phase } of draft.run.batches) {
    if (merged === undefined || phase === "Settled") continue;
    const batch = batchOf(draft.run, number);
    if (draft.disturbed.has(number)) disturb(draft, batch);
    if (draft.run.spec.stages[stage]?.batching === "Rolling" && !putsBack(batch)) bakeSingly(draft, number);
    settleOne(draft, number);
  }
}

function bakeMs({ run }: Draft, batch: Batch): number {
  if (run.promotedFully !== undefined || !isInTurn(batch) || isMidStep(batch)) return 0;
  return run.spec.stages[batch.stage]?.bakeMs ?? 0;
}

/** A bake in which somebody became unhealthy begins anew when all are confirmed again: kept is only how often that happened. */
function disturb(draft: Draft, batch: Batch): void {
  const bake = { from: draft.at, until: draft.at, restarts: (batch.bake?.restarts ?? 0) + 1 };
  moveBatch(draft, batch.number, "Merged", { bake });
}

function settleOne(draft: Draft, number: number): void {
  const batch = batchOf(draft.run, number);
  const open = liveTargets(batch).filter((target) => target.phase === "Merged" || target.phase === "Syncing");
  if (open.length > 0) {
    sayInFlight(draft, batch, open);
    return;
  }
  if (!stepIsOver(draft, number)) return;
  if (batchOf(draft.run, number).phase === "Merged") startBake(draft, batchOf(draft.run, number));
  endBake(draft, batchOf(draft.run, number));
}

function startBake(draft: Draft, batch: Batch): void {
  const forMs = bakeMs(draft, batch);
  if ((forMs === 0 && !measuresBatch(draft.run, batch)) || !batch.targets.some((target) => target.phase === "Healthy")) return;
  const bake = { from: draft.at, until: iso(draft.now + forMs), restarts: batch.bake?.restarts ?? 0 };
  // Nothing is tried for it: a crash before it is recorded begins the bake anew.
  noteBatch(
    draft,
    batch.number,
    { phase: "Baking", since: draft.at, bake },
    runReason("BATCH_BAKING", { batch: batchRef(draft.run, batch), forMs }),
  );
}

function endBake(draft: Draft, batch: Batch): void {
  const healthy = batch.targets.filter((target) => target.phase === "Healthy");
  const inBake = batch.phase === "Baking" && healthy.length > 0;
  const retried = batch.analyses?.some((record) => record.phase === "Running") === true;
  const unmeasured = inBake || retried ? afterBatch(draft, batch, draft.now >= epoch(batch.bake?.until ?? draft.at)) : undefined;
  if (inBake && !isBaked(draft, batch, healthy)) return;
  if (unmeasured !== undefined) {
    sayBatch(draft, batch.number, unmeasured.why, unmeasured.next);
    return;
  }
  const failed = batch.targets.filter((target) => target.phase === "Failed");
  if (!withinBudget(draft.run) && failed.some((target) => target.excused !== true)) {
    sayBatch(draft, batch.number, runReason("BATCH_UNDECIDED"), { what: runReason("NEXT_COMMAND") });
    return;
  }
  if (!isMidStep(batch)) {
    const [phase, why] = putsBack(batch)
      ? (["RolledBack", runReason("TARGET_HAS_OLD")] as const)
      : (["Baked", runReason("TARGET_BAKED")] as const);
    mapTargets(draft, batch.number, (target) =>
      target.phase === "Healthy" ? moveTarget(draft, target, phase, why, { waitingSince: undefined }) : target,
    );
  }
  const as = (excused: boolean) => clustersOf(failed.filter((target) => (target.excused === true) === excused));
  const why =
    failed.length === 0 ? runReason("BATCH_CONFIRMED") : runReason("BATCH_SETTLED_WITH", { failed: as(false), excused: as(true) });
  const event = runReason("BATCH_SETTLED", { batch: batchRef(draft.run, batch) });
  moveBatch(draft, batch.number, "Settled", { settledAt: draft.at, why, next: null }, event);
}

function isBaked(draft: Draft, batch: Batch, healthy: BatchTarget[]): boolean {
  const { from, until } = batch.bake ?? { from: draft.at, until: draft.at };
  if (draft.now < epoch(until)) {
    wakeAt(draft, epoch(until));
    const why = runReason("BATCH_BAKES", { clusters: clustersOf(healthy), since: from });
    sayBatch(draft, batch.number, why, { what: runReason("NEXT_BAKE_ENDS"), eta: until });
    return false;
  }
  const unclear = healthy.filter((target) => draft.world.targets.get(target.key)?.assessment?.verdict !== "live");
  const [first] = unclear;
  if (first === undefined) return true;
  const asked = unclear.every((target) => isToBeRead(draft.world.targets.get(target.key)?.assessment));
  if (asked)
    sayBatch(draft, batch.number, runReason("BATCH_READ_AGAIN", { clusters: clustersOf(unclear) }), { what: runReason("NEXT_READ") });
  else {
    const why = runReason("BATCH_UNCONFIRMED", { clusters: clustersOf(unclear), because: doubtOf(draft, unclear, first) });
    sayBatch(draft, batch.number, why, { what: runReason("NEXT_HEALTHY_AGAIN") });
  }
  return false;
}

/** What keeps the first of them from being confirmed: of one that only could not be asked for, why. */
function doubtOf(draft: Draft, targets: readonly BatchTarget[], first: BatchTarget): AnyReason {
  const open = targets.find((target) => !isToBeRead(draft.world.targets.get(target.key)?.assessment)) ?? first;
  const failed = causesOf(open.why).find(({ code }) => code === "READ_FAILED");
  return failed === undefined ? open.why : (failed["problem"] as AnyReason);
}

/** In a rolling stage each target bakes by itself, and gives its place in the window back when it has. */
function bakeSingly(draft: Draft, number: number): void {
  const batch = batchOf(draft.run, number);
  const wait = bakeMs(draft, batch);
  // `/promote` ends the bake of the whole batch.
  const ended = batch.phase === "Baking" ? epoch(batch.bake?.until ?? draft.at) : Number.POSITIVE_INFINITY;
  mapTargets(draft, number, (target) => {
    if (target.phase !== "Healthy" || target.confirmedAt === undefined) return target;
    const until = Math.min(epoch(target.confirmedAt) + wait, ended);
    if (draft.now < until) {
      wakeAt(draft, until);
      return target;
    }
    if (draft.world.targets.get(target.key)?.assessment?.verdict !== "live") return target;
    draft.transition = true;
    return moveTarget(draft, target, "Baked", runReason("TARGET_BAKED"), { waitingSince: undefined });
  });
}

function sayInFlight(draft: Draft, batch: Batch, open: BatchTarget[]): void {
  const live = liveTargets(batch);
  const confirmed = live.filter((target) => target.phase === "Healthy" || target.phase === "Baked").length;
  const first = open.find((target) => target.waitingSince !== undefined) ?? open[0];
  if (first === undefined) return;
  const why = runReason("BATCH_AWAITS_HEALTH", { clusters: clustersOf(open), confirmed, of: live.length, because: first.why });
  sayBatch(draft, batch.number, why, nextOf(draft, open));
}

/** The first of what is due: one that waits fails by itself only where nobody can be asked any more. */
function nextOf({ run }: Draft, open: BatchTarget[]): Next {
  const due = open.flatMap(({ waitingSince, deadlineAt }) => {
    if (waitingSince !== undefined) return [{ at: epoch(waitingSince) + run.spec.waitingDeadlineMs, asks: run.ending === undefined }];
    return deadlineAt === undefined ? [] : [{ at: epoch(deadlineAt), asks: false }];
  });
  const [first] = due.sort((a, b) => a.at - b.at);
  if (first === undefined) return { what: runReason("NEXT_CONFIRMED") };
  return { what: runReason(first.asks ? "NEXT_CONFIRMED_OR_ASKED" : "NEXT_CONFIRMED_OR_FAILED"), deadline: iso(first.at) };
}
