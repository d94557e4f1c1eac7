import { count } from "../../base/count.ts";
import { reasonsOf, text } from "../../base/reason.ts";
import { epoch, iso } from "../../base/time.ts";
import { grownSize } from "../../plan/pick.ts";
import type { OutcomeReasons } from "../../reasons/outcome.ts";
import { failedHooks } from "../checks/hooks.ts";
import { failedAnalyses } from "../checks/judge-analyses.ts";
import { afterStage } from "../gates/analysis.ts";
import { hooksAfter } from "../gates/hooks.ts";
import { budget, unacceptedFailures, withinBudget } from "../outcome/failures.ts";
import { change, type Draft, say, wakeAt } from "../state/draft.ts";
import { clusterName, liveTargets, nameList } from "../state/names.ts";
import { isSettled, occupied, waitsOutOfTurn } from "../state/progress.ts";
import type { Batch, Run } from "../state/run.ts";
import { isMidStep } from "../state/steps.ts";
import { makeRoom } from "./ahead.ts";
import { makeBatch, rebuild } from "./build.ts";
import { callLate, isPinMissing, isRestored } from "./late.ts";
import { leaveUnreachable, wantsWord } from "./quarantine.ts";
import { isPutOff, lookAtRequeued, requeue, requeuedOf, takeRequeued } from "./requeue.ts";
import { choose, isUnreadable } from "./stage-choose.ts";
import { remaining } from "./stage-left.ts";
import { makeNextStep } from "./step-make.ts";
import { withinLimits } from "./within-limits.ts";

const outcome = reasonsOf<OutcomeReasons>();

/** A rolling stage opens a PR at most this often (docs/spec.md §9.19). */
const REFILL_MS = 120_000;

/** Makes the batch that comes next, if one may be made now, and moves from stage to stage and to the end. */
export function moveOn(draft: Draft): void {
  // One PR at a time: what is being closed is seen closed first.
  if (draft.run.batches.some((batch) => batch.closing !== undefined)) return;
  for (;;) {
    const { stage } = draft.run;
    const planned = draft.run.plan.stages[stage];
    if (planned === undefined) {
      if (lateIsDone(draft)) succeed(draft);
      return;
    }
    if (!stageIsDone(draft, stage) || !withinBudget(draft.run)) return;
    const blocked = afterStage(draft, stage) ?? hooksAfter(draft, stage);
    if (blocked !== undefined) {
      say(draft, blocked.why, blocked.next);
      return;
    }
    change(draft, { stage: stage + 1 }, `stage "${planned.name}" done`);
  }
}

/** What the stages left to the run's end: clusters that joined or are back, one batch after the other. */
function lateIsDone(draft: Draft): boolean {
  for (const [stage] of draft.run.plan.stages.entries()) if (revive(draft, stage)) return false;
  const open = draft.run.batches.filter((batch) => !isSettled(batch));
  if (!open.every(waitsOutOfTurn) || !withinBudget(draft.run)) return false;
  for (const [stage] of draft.run.plan.stages.entries()) if (makeNextStep(draft, stage)) return false;
  if (open.length > 0) return false;
  callLate(draft);
  for (const [stage] of draft.run.plan.stages.entries()) if (!requeuedAreDone(draft, stage)) return false;
  // With too many in quarantine somebody is asked first.
  return !wantsWord(draft.run) && withinBudget(draft.run) && !isPinMissing(draft) && isRestored(draft);
}

function succeed(draft: Draft): void {
  const { run } = draft;
  const missing = [
    ...new Set([...run.failedAccepted, ...failedIn(run.batches), ...run.requeued.filter((one) => one.failed).map((one) => one.cluster)]),
  ];
  const skipped = run.skipped.map((one) => one.cluster);
  const back = run.kind === "Rollback";
  const checks = [...failedAnalyses(run), ...failedHooks(run)];
  const beyond = run.spec.onFailure.action === "Continue" && (unacceptedFailures(run).length > budget(run) || checks.length > 0);
  const phase = beyond ? "Failed" : back ? "RolledBack" : "Succeeded";
  const quarantined = (run.quarantined ?? []).map((one) => one.cluster);
  const why = outcome("RUN_THROUGH", { phase, checks, failed: missing, skipped, quarantined });
  change(draft, { phase, since: draft.at, endedAt: draft.at, why, next: null }, outcome("RUN_ENDED", { phase, because: why }));
}

function failedIn(batches: Batch[]): string[] {
  return batches.flatMap((batch) => batch.targets.filter((target) => target.phase === "Failed").map((target) => target.cluster));
}

/** False where the stage has something to wait for; a batch is made where one may be. */
function stageIsDone(draft: Draft, stage: number): boolean {
  if (revive(draft, stage)) return false;
  const left = remaining(draft, stage);
  const open = draft.run.batches.filter((batch) => batch.stage === stage && !isSettled(batch));
  // A batch gets to its whole weight before the next begins.
  if (open.every(waitsOutOfTurn) && makeNextStep(draft, stage)) return false;
  if (left.length > 0) {
    const rolling = draft.run.spec.stages[stage]?.batching === "Rolling";
    if (rolling) refill(draft, stage, left, open);
    else if (open.length === 0) makePlanned(draft, stage);
    return false;
  }
  if (open.length > 0) return false;
  return requeuedAreDone(draft, stage);
}

/** A batch whose PR was closed, by a person or over a refusal, is built again before anything new. */
function revive(draft: Draft, stage: number): boolean {
  const closed = draft.run.batches.find((batch) => batch.stage === stage && batch.phase === "Closed" && liveTargets(batch).length > 0);
  if (closed === undefined) return false;
  rebuild(draft, closed);
  return true;
}

/** The plan's next batch, less the clusters that were left out, or whose labels now say to put them off. */
function makePlanned(draft: Draft, stage: number): void {
  const free = new Set(remaining(draft, stage));
  if (draft.run.spec.stages[stage]?.grow !== undefined) {
    makeGrown(draft, stage, [...free]);
    return;
  }
  const planned = draft.run.plan.stages[stage]?.batches ?? [];
  for (const { clusters } of planned) {
    const left = clusters.filter((cluster) => free.has(cluster));
    if (left.length === 0) continue;
    const chosen = putOff(draft, stage, left);
    if (chosen === "unknown") return;
    if (chosen.length === 0) continue;
    makeBatch(draft, stage, withinLimits(draft, chosen), "Planned");
    return;
  }
  // Everything that was left has just been put off: the stage is looked at again at once.
  wakeAt(draft, draft.now);
}

/** As many as the batches before have earned: what the plan's batches are cut to while nothing fails. */
function makeGrown(draft: Draft, stage: number, left: readonly string[]): void {
  if (isUnreadable(draft, stage)) return;
  const chosen = putOff(draft, stage, choose(draft, stage, left, windowNow(draft.run, stage)));
  if (chosen === "unknown") return;
  if (chosen.length > 0) makeBatch(draft, stage, withinLimits(draft, chosen), "Planned");
  else wakeAt(draft, draft.now);
}

/** How many clusters of a stage may be in flight now: grows with each settled batch in which nothing failed, and begins anew after one in which something did. */
export function windowNow(run: Run, stage: number): number {
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
      say(draft, "waiting for the clusters to be read: whether some are to be put off is not known", { what: "they are read" });
      return "unknown";
    }
    if (answer) off.push(cluster);
  }
  if (off.length > 0) requeue(draft, stage, off, "matches the stage's requeue selector: tried after its batches");
  return clusters.filter((cluster) => !off.includes(cluster));
}

/** Rolling: one open PR, and as many clusters as places in the window are free. */
function refill(draft: Draft, stage: number, left: readonly string[], open: readonly Batch[]): void {
  if (draft.run.batches.some((batch) => !isSettled(batch) && batch.merged === undefined)) return;
  if (draft.run.batches.some((batch) => batch.stage < stage && !isSettled(batch))) return;
  const due = refillDue(draft, stage);
  if (open.length > 0 && draft.now < due) {
    wakeAt(draft, due);
    say(draft, `waiting to fill the window again: a pull request at most every 2 minutes`, { what: "the window is filled", at: iso(due) });
    return;
  }
  if (isUnreadable(draft, stage)) return;
  const free = windowNow(draft.run, stage) - occupied(draft.run, stage).size;
  if (free <= 0) return;
  const fitting = choose(draft, stage, left, free);
  if (fitting.length === 0) return;
  const chosen = putOff(draft, stage, fitting);
  if (chosen === "unknown") return;
  if (chosen.length > 0) makeBatch(draft, stage, withinLimits(draft, chosen), "Planned");
  else wakeAt(draft, draft.now);
}

function refillDue(draft: Draft, stage: number): number {
  const last = draft.run.batches.findLast((batch) => batch.stage === stage);
  const opened = last?.pull?.openedAt ?? last?.merged?.at;
  return opened === undefined ? draft.now : epoch(opened) + REFILL_MS;
}

/** After the stage's batches: its requeued clusters, in catch-up batches of the window's size, until none is left to try. */
function requeuedAreDone(draft: Draft, stage: number): boolean {
  const looked = lookAtRequeued(draft, stage);
  const ready = looked === "unknown" ? looked : leaveUnreachable(draft, stage, looked);
  if (ready === "unknown") {
    say(draft, "waiting for the clusters to be read: whether requeued ones are to be tried is not known", { what: "they are read" });
    return false;
  }
  if (ready.length > 0) {
    if (isUnreadable(draft, stage)) return false;
    const size = draft.run.plan.stages[stage]?.maxUnavailable ?? 1;
    const chosen = withinLimits(draft, choose(draft, stage, ready, size));
    if (chosen.length === 0) {
      const why = `${nameList(draft.run, ready)} cannot travel now: more than ${size} of one pin, or kept apart from what is in flight`;
      say(draft, why, { what: "looked at again" });
      return false;
    }
    if (!makeRoom(draft, stage)) return false;
    takeRequeued(draft, chosen);
    makeBatch(draft, stage, chosen, "CatchUp");
    return false;
  }
  const waiting = requeuedOf(draft, stage);
  const [first] = waiting;
  if (first === undefined) return true;
  const at = waiting.map((one) => one.nextAt).reduce((a, b) => (epoch(a) <= epoch(b) ? a : b));
  const names = nameList(
    draft.run,
    waiting.map((one) => one.cluster),
  );
  say(draft, `${count(waiting.length, "cluster")} put off (${names}): ${clusterName(draft.run, first.cluster)} ${text(first.why)}`, {
    what: "looked at again",
    at,
  });
  return false;
}
