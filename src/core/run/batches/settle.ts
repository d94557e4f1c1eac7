import { text } from "../../base/reason.ts";
import { epoch, formatDuration, iso } from "../../base/time.ts";
import { afterBatch, measuresBatch } from "../gates/analysis.ts";
import { withinBudget } from "../outcome/failures.ts";
import { isInTurn, putsBack } from "../state/batch-kind.ts";
import { batchOf, type Draft, mapTargets, moveBatch, moveTarget, sayBatch, wakeAt } from "../state/draft.ts";
import { batchName, clustersOf, liveTargets, nameList } from "../state/names.ts";
import type { Batch, BatchTarget, Next } from "../state/run.ts";
import { isMidStep } from "../state/steps.ts";
import { stepIsOver } from "./step-wait.ts";

/** Moves merged batches on: all confirmed, baked, settled. */
export function settleBatches(draft: Draft): void {
  for (const { number, merged, phase } of draft.run.batches) {
    if (merged === undefined || phase === "Settled") continue;
    if (draft.disturbed.has(number)) disturb(draft, batchOf(draft.run, number));
    if (isRolling(draft, batchOf(draft.run, number)) && !putsBack(batchOf(draft.run, number))) bakeSingly(draft, number);
    settleOne(draft, number);
  }
}

function isRolling(draft: Draft, batch: Batch): boolean {
  return draft.run.spec.stages[batch.stage]?.batching === "Rolling";
}

function bakeMs(draft: Draft, batch: Batch): number {
  return draft.run.promotedFully !== undefined || !isInTurn(batch) || isMidStep(batch)
    ? 0
    : (draft.run.spec.stages[batch.stage]?.bakeMs ?? 0);
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
  const wait = bakeMs(draft, batch);
  if ((wait === 0 && !measuresBatch(draft.run, batch)) || !batch.targets.some((target) => target.phase === "Healthy")) return;
  const restarts = batch.bake?.restarts ?? 0;
  const bake = { from: draft.at, until: iso(draft.now + wait), restarts };
  const event = `${batchName(draft.run, batch)}: all clusters confirmed, baking for ${formatDuration(wait)}`;
  moveBatch(draft, batch.number, "Baking", { bake }, event);
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
    sayBatch(draft, batch.number, "clusters of it failed: somebody has to decide", { what: "a command" });
    return;
  }
  if (isMidStep(batch)) {
    settled(draft, batch, failed);
    return;
  }
  const [phase, reached] = putsBack(batch)
    ? (["RolledBack", "has what it had before, live and healthy"] as const)
    : (["Baked", "live, healthy and baked"] as const);
  mapTargets(draft, batch.number, (target) =>
    target.phase === "Healthy" ? moveTarget(draft, target, phase, reached, { waitingSince: undefined }) : target,
  );
  settled(draft, batch, failed);
}

function settled(draft: Draft, batch: Batch, failed: readonly BatchTarget[]): void {
  const why = failed.length === 0 ? "every cluster is confirmed" : `settled with ${withFailures(draft, failed)}`;
  moveBatch(draft, batch.number, "Settled", { settledAt: draft.at, why, next: null }, `${batchName(draft.run, batch)} settled`);
}

function withFailures(draft: Draft, failed: readonly BatchTarget[]): string {
  const as = (excused: boolean) => clustersOf(failed.filter((target) => (target.excused === true) === excused));
  const [counted, before] = [as(false), as(true)];
  const parts: string[] = [];
  if (counted.length > 0) parts.push(`${nameList(draft.run, counted)} failed, within the budget`);
  if (before.length > 0) parts.push(`${nameList(draft.run, before)} failed as before (baseline)`);
  return parts.join("; ");
}

function isBaked(draft: Draft, batch: Batch, healthy: BatchTarget[]): boolean {
  const until = epoch(batch.bake?.until ?? draft.at);
  const rest = `${nameList(draft.run, clustersOf(healthy))} healthy`;
  if (draft.now < until) {
    wakeAt(draft, until);
    sayBatch(draft, batch.number, `baking: ${rest} since ${batch.bake?.from.slice(11, 19)} UTC`, { what: "the bake ends", at: iso(until) });
    return false;
  }
  const unclear = healthy.filter((target) => draft.world.targets.get(target.key)?.assessment?.verdict !== "live");
  if (unclear.length === 0) return true;
  const why = `baked, but ${nameList(draft.run, clustersOf(unclear))} cannot be confirmed just now: ${text(unclear[0]?.why ?? "")}`;
  sayBatch(draft, batch.number, why, { what: "Argo CD shows it healthy again" });
  return false;
}

/** In a rolling stage each target bakes by itself, and gives its place in the window back when it has. */
function bakeSingly(draft: Draft, number: number): void {
  const batch = batchOf(draft.run, number);
  const wait = bakeMs(draft, batch);
  mapTargets(draft, number, (target) => {
    if (target.phase !== "Healthy" || target.confirmedAt === undefined) return target;
    // `/promote` ends the bake of the whole batch.
    const ended = batch.phase === "Baking" ? epoch(batch.bake?.until ?? draft.at) : Number.POSITIVE_INFINITY;
    const until = Math.min(epoch(target.confirmedAt) + wait, ended);
    if (draft.now < until) wakeAt(draft, until);
    else if (draft.world.targets.get(target.key)?.assessment?.verdict === "live") {
      draft.transition = true;
      return moveTarget(draft, target, "Baked", "live, healthy and baked", { waitingSince: undefined });
    }
    return target;
  });
}

function sayInFlight(draft: Draft, batch: Batch, open: BatchTarget[]): void {
  const live = liveTargets(batch);
  const confirmed = live.filter((target) => target.phase === "Healthy" || target.phase === "Baked").length;
  const first = open.find((target) => target.waitingSince !== undefined) ?? open[0];
  const why = `waiting for ${nameList(draft.run, clustersOf(open))} to become healthy (${confirmed} of ${live.length} confirmed): ${text(first?.why ?? "")}`;
  sayBatch(draft, batch.number, why, nextOf(draft, open));
}

function nextOf(draft: Draft, open: BatchTarget[]): Next {
  let at = Number.POSITIVE_INFINITY;
  for (const target of open) {
    if (target.waitingSince !== undefined) at = Math.min(at, epoch(target.waitingSince) + draft.run.spec.waitingDeadlineMs);
    else if (target.deadlineAt !== undefined) at = Math.min(at, epoch(target.deadlineAt));
  }
  return Number.isFinite(at) ? { what: "confirmed, or counted as failed", at: iso(at) } : { what: "confirmed" };
}
