/** The batches of one stage: which is made next, by plan, growing or rolling, and what was put off to the stage's end. */
import { epoch, iso } from "../../base/time.ts";
import { grownSize } from "../../plan/cut-batches.ts";
import { runReason } from "../../reasons/run.ts";
import { batchOf, changeBatch, type Draft, say, wakeAt } from "../state/draft.ts";
import { clustersOf, liveTargets } from "../state/names.ts";
import { isSettled, listOccupied, waitsOutOfTurn } from "../state/progress.ts";
import type { Batch, Run } from "../state/run.ts";
import { isMidStep } from "../state/steps.ts";
import { makeBatch, rebuild } from "./build.ts";
import { choose, isUnreadable, remaining, sayUnread, withinLimits } from "./choose.ts";
import { close, makeRoom } from "./close.ts";
import { leaveUnreachable } from "./quarantine.ts";
import { isPutOff, lookAtRequeued, requeue, requeuedOf, takeRequeued } from "./requeue.ts";
import { makeNextStep } from "./step-make.ts";

/** A rolling stage opens a PR at most this often (docs/spec.md §9.19). */
const REFILL_MS = 120_000;

/** False where the stage has something to wait for; a batch is made where one may be. */
export function stageIsDone(draft: Draft, stage: number): boolean {
  if (revive(draft, stage)) return false;
  const left = remaining(draft, stage);
  const unsettled = draft.run.batches.filter((batch) => batch.stage === stage && !isSettled(batch));
  const ahead = unsettled.find((batch) => batch.ahead === true);
  const open = unsettled.filter((batch) => batch !== ahead);
  // A batch gets to its whole weight before the next begins.
  if (open.every(waitsOutOfTurn) && makeNextStep(draft, stage)) return false;
  if (ahead !== undefined) {
    if (open.length === 0) takeUp(draft, ahead);
    return false;
  }
  if (left.length === 0) return open.length === 0 && requeuedAreDone(draft, stage);
  if (draft.run.spec.stages[stage]?.batching === "Rolling") refill(draft, stage, left, open);
  else if (open.length === 0) makePlanned(draft, stage);
  return false;
}

/** A batch whose PR was closed, by a person or over a refusal, is built again before anything new. */
export function revive(draft: Draft, stage: number): boolean {
  const closed = draft.run.batches.find((batch) => batch.stage === stage && batch.phase === "Closed" && liveTargets(batch).length > 0);
  if (closed === undefined) return false;
  rebuild(draft, closed);
  return true;
}

/** The plan's next batch, less the clusters that were left out, or whose labels now say to put them off. */
function makePlanned(draft: Draft, stage: number): void {
  const free = new Set(remaining(draft, stage));
  if (draft.run.spec.stages[stage]?.grow !== undefined) {
    // As many as the batches before have earned: what the plan's batches are cut to while nothing fails.
    if (isUnreadable(draft, stage) || makeOf(draft, stage, choose(draft, stage, [...free], windowNow(draft.run, stage)))) return;
    wakeAt(draft, draft.now);
    return;
  }
  for (const { clusters } of draft.run.plan.stages[stage]?.batches ?? []) {
    const left = clusters.filter((cluster) => free.has(cluster));
    if (left.length > 0 && makeOf(draft, stage, left)) return;
  }
  // Everything that was left has just been put off: the stage is looked at again at once.
  wakeAt(draft, draft.now);
}

/** Makes a batch of those that are not put off. False: all of them have just been. */
function makeOf(draft: Draft, stage: number, clusters: readonly string[]): boolean {
  const chosen = putOff(draft, stage, clusters);
  if (chosen === "unknown") return true;
  if (chosen.length > 0) makeBatch(draft, stage, withinLimits(draft, stage, chosen), "Planned");
  return chosen.length > 0;
}

/**
 * The turn of a batch that was made ahead has come: it goes on as one that is made now would, without the clusters that labels, or the
 * rule of quarantine, say to leave out by now.
 */
function takeUp(draft: Draft, batch: Batch): void {
  // Its PR may be under way: it is seen first.
  if (batch.phase === "Proposing" && draft.world.pulls.get(batch.number) === undefined) return;
  const clusters = clustersOf(liveTargets(batch));
  const chosen = putOff(draft, batch.stage, clusters);
  if (chosen === "unknown") return;
  changeBatch(draft, batch.number, { ahead: undefined, since: draft.at });
  if (chosen.length === clusters.length || batch.closing !== undefined) return;
  const off = clusters.filter((cluster) => !chosen.includes(cluster));
  if (batch.phase === "Proposing") rebuild(draft, batchOf(draft.run, batch.number));
  else close(draft, batch, runReason("PUT_OFF_SINCE", { clusters: off }));
}

/** How many clusters of a stage may be in flight now: grows with each settled batch in which nothing failed, and begins anew after one in which something did. */
function windowNow(run: Run, stage: number): number {
  const most = run.plan.stages[stage]?.maxUnavailable ?? 1;
  const grow = run.spec.stages[stage]?.grow;
  if (grow === undefined) return most;
  let clean = 0;
  for (const batch of run.batches) {
    if (batch.stage !== stage || batch.kind !== "Planned" || !isSettled(batch)) continue;
    const failed = batch.targets.some((target) => target.phase === "Failed");
    if (failed || !isMidStep(batch)) clean = failed ? 0 : clean + 1;
  }
  return grownSize(grow, clean, most);
}

/** Puts off those that match `requeue` now, seen before their PR is opened (docs/spec.md §9.16), and gives back the others. */
function putOff(draft: Draft, stage: number, all: readonly string[]): string[] | "unknown" {
  const off: string[] = [];
  const clusters = leaveUnreachable(draft, stage, all);
  for (const cluster of clusters) {
    const answer = isPutOff(draft, stage, cluster);
    if (answer === undefined) {
      sayUnread(draft, "putOff");
      return "unknown";
    }
    if (answer) off.push(cluster);
  }
  if (off.length > 0) requeue(draft, stage, off, runReason("REQUEUE_MATCHED"));
  return clusters.filter((cluster) => !off.includes(cluster));
}

/** Rolling: one open PR, and as many clusters as places in the window are free. */
function refill(draft: Draft, stage: number, left: readonly string[], open: readonly Batch[]): void {
  const { run } = draft;
  // A hotfix of a later stage, open or closed, is looked at in its stage.
  const isInTheWay = (batch: Batch) => batch.stage < stage || (batch.stage === stage && batch.merged === undefined);
  if (run.batches.some((batch) => !isSettled(batch) && isInTheWay(batch))) return;
  const due = refillDue(draft, stage);
  if (open.length > 0 && draft.now < due) {
    wakeAt(draft, due);
    say(draft, runReason("REFILL_WAITS"), { what: runReason("NEXT_WINDOW_FILLED"), eta: iso(due) });
    return;
  }
  if (isUnreadable(draft, stage)) return;
  const free = windowNow(run, stage) - listOccupied(run, stage).size;
  const fitting = free <= 0 ? [] : choose(draft, stage, left, free);
  if (fitting.length > 0 && !makeOf(draft, stage, fitting)) wakeAt(draft, draft.now);
}

function refillDue(draft: Draft, stage: number): number {
  const last = draft.run.batches.findLast((batch) => batch.stage === stage);
  const opened = last?.pull?.openedAt ?? last?.merged?.at;
  return opened === undefined ? draft.now : epoch(opened) + REFILL_MS;
}

/** After the stage's batches: its requeued clusters, in catch-up batches of the window's size, until none is left to try. */
export function requeuedAreDone(draft: Draft, stage: number): boolean {
  const looked = lookAtRequeued(draft, stage);
  if (looked === "unknown") {
    sayUnread(draft, "requeued");
    return false;
  }
  const ready = leaveUnreachable(draft, stage, looked);
  if (ready.length > 0) {
    catchUp(draft, stage, ready);
    return false;
  }
  const waiting = requeuedOf(draft, stage);
  const [first] = waiting;
  if (first === undefined) return true;
  const eta = iso(Math.min(...waiting.map((one) => epoch(one.nextAt))));
  const why = runReason("CLUSTERS_PUT_OFF", { clusters: waiting.map((one) => one.cluster), because: first.why });
  say(draft, why, { what: runReason("NEXT_LOOKED_AGAIN"), eta });
  return false;
}

function catchUp(draft: Draft, stage: number, clusters: string[]): void {
  if (isUnreadable(draft, stage)) return;
  const most = draft.run.plan.stages[stage]?.maxUnavailable ?? 1;
  const chosen = withinLimits(draft, stage, choose(draft, stage, clusters, most));
  if (chosen.length === 0) {
    say(draft, runReason("CANNOT_TRAVEL", { clusters, most }), { what: runReason("NEXT_LOOKED_AGAIN") });
    return;
  }
  if (!makeRoom(draft, stage)) return;
  takeRequeued(draft, chosen);
  makeBatch(draft, stage, chosen, "CatchUp");
}
