/** The pauses and analyses that follow a weight, one after the other, and `/promote` that ends a pause. Called by settle.ts. */
import { epoch, iso, type Time } from "../../base/time.ts";
import { type BatchStep, type Wait, waitsAfter } from "../../plan/steps.ts";
import { runReason } from "../../reasons/run.ts";
import type { NextStepRef, WaitRef } from "../../reasons/stages.ts";
import { afterWeight } from "../checks/stage-checks.ts";
import { withinBudget } from "../outcome/failures.ts";
import { batchOf, changeBatch, type Draft, moveBatch, sayBatch, wakeAt } from "../state/draft.ts";
import { batchRef, clustersOf } from "../state/names.ts";
import { done, type Reply, refuse } from "../state/reply.ts";
import type { Batch, BatchTarget } from "../state/run.ts";
import { isToBeRead, seenOf } from "../targets/seen.ts";

/**
 * Waits out what follows a weight, once every cluster of its batch is confirmed. True: the last is over, or there is none. Each begins when
 * the one before it ends; an unhealthy moment begins the present one anew.
 */
export function stepIsOver(draft: Draft, number: number): boolean {
  const { step } = batchOf(draft.run, number);
  if (step === undefined) return true;
  const waits = waitsOf(draft, number);
  for (let at = step.wait?.at ?? 0; at < waits.length; at++) {
    const wait = waits[at];
    if (wait === undefined || isIdle(draft, number)) return true;
    if (draft.run.promotedFully === undefined && !waitIsOver(draft, number, wait, at)) return false;
    const batch = batchOf(draft.run, number);
    // Merged, as before the wait: what comes next begins by itself.
    const event = runReason("WAIT_OVER", { batch: batchRef(draft.run, batch), wait: refOf(wait) });
    moveBatch(draft, number, "Merged", { step: waitingAt(batch, { at: at + 1 }) }, event);
  }
  return true;
}

function waitsOf({ run }: Draft, number: number): Wait[] {
  const { stage, step } = batchOf(run, number);
  return step === undefined ? [] : waitsAfter(run.spec.stages[stage]?.steps, step.index);
}

/** Nothing to be waited for: nobody of it goes on to the next weight, or somebody has to decide on its failures first. */
function isIdle({ run }: Draft, number: number): boolean {
  const { targets } = batchOf(run, number);
  const failed = targets.some((target) => target.phase === "Failed" && target.excused !== true);
  const goesOn = targets.some((target) => target.phase === "Healthy" || target.excused === true);
  return !goesOn || (failed && !withinBudget(run));
}

function waitingAt({ step }: Batch, wait: NonNullable<BatchStep["wait"]>): BatchStep | undefined {
  return step && { ...step, wait };
}

function waitIsOver(draft: Draft, number: number, wait: Wait, at: number): boolean {
  const since = begin(draft, number, wait, at);
  const batch = batchOf(draft.run, number);
  if (wait.kind === "analysis") {
    const blocked = afterWeight(draft, batch, at, since);
    if (blocked !== undefined) sayBatch(draft, number, blocked.why, blocked.next);
    return blocked === undefined;
  }
  const until = batch.step?.wait?.until;
  const weight = batch.step?.weight ?? 0;
  const healthy = healthyOf(batch);
  const clusters = clustersOf(healthy);
  if (until === undefined) {
    const what = runReason("NEXT_PROMOTED", { after: nextAfter(draft, batch, at) });
    sayBatch(draft, number, runReason("STEP_AWAITS_PERSON", { weight, clusters }), { what });
    return false;
  }
  if (draft.now < epoch(until)) {
    wakeAt(draft, epoch(until));
    const why = runReason("STEP_PAUSED", { weight, forMs: epoch(until) - epoch(since), clusters, since });
    sayBatch(draft, number, why, { what: runReason("NEXT_PAUSE_ENDS"), eta: until });
    return false;
  }
  const unclear = healthy.filter((target) => seenOf(draft, batch, target.key)?.assessment?.verdict !== "live");
  const [first] = unclear;
  if (first === undefined) return true;
  if (unclear.every((target) => isToBeRead(seenOf(draft, batch, target.key)?.assessment))) {
    sayBatch(draft, number, runReason("BATCH_READ_AGAIN", { clusters: clustersOf(unclear), weight }), { what: runReason("NEXT_READ") });
    return false;
  }
  const why = runReason("STEP_UNCONFIRMED", { weight, clusters: clustersOf(unclear), because: first.why });
  sayBatch(draft, number, why, { what: runReason("NEXT_HEALTHY_AGAIN") });
  return false;
}

/** When the present wait began: never before the last confirmation of what it waits with. */
function begin(draft: Draft, number: number, wait: Wait, at: number): Time {
  const batch = batchOf(draft.run, number);
  const known = batch.step?.wait;
  const confirmed = Math.max(0, ...healthyOf(batch).map((target) => epoch(target.confirmedAt ?? target.since)));
  if (known?.at === at && known.from !== undefined && epoch(known.from) >= confirmed) {
    // One of it has failed meanwhile, and the others go on waiting: it can be promoted as before.
    if (batch.phase !== "Baking") moveBatch(draft, number, "Baking");
    return known.from;
  }
  const until = wait.kind === "pause" && wait.durationMs !== undefined ? iso(draft.now + wait.durationMs) : undefined;
  const again = known?.from !== undefined;
  const event = runReason("WAIT_BEGINS", { batch: batchRef(draft.run, batch), wait: refOf(wait), again });
  moveBatch(draft, number, "Baking", { step: waitingAt(batch, { at, from: draft.at, until }) }, event);
  return draft.at;
}

function refOf(wait: Wait): WaitRef {
  if (wait.kind === "pause") return { forMs: wait.durationMs };
  return { templates: wait.analysis.templates.map(({ templateName }) => templateName) };
}

function healthyOf(batch: Batch): BatchTarget[] {
  return batch.targets.filter((target) => target.phase === "Healthy");
}

/** What comes after the wait at this place. */
function nextAfter(draft: Draft, { number, step }: Batch, at: number): NextStepRef {
  const next = waitsOf(draft, number)[at + 1];
  if (next !== undefined) return refOf(next);
  return step === undefined || step.index === step.of ? null : { index: step.index + 1, of: step.of };
}

/** `/promote` of a batch whose step is waited out; undefined: it is not, and the command means something else. */
export function promoteStep(draft: Draft, batch: Batch): Reply | undefined {
  const { wait } = batch.step ?? {};
  const present = wait?.from === undefined ? undefined : waitsOf(draft, batch.number)[wait.at];
  if (wait?.from === undefined || present === undefined) return undefined;
  if (present.kind === "analysis") return refuse({ code: "ANALYSIS_NOT_PROMOTED", because: batch.why });
  changeBatch(draft, batch.number, { step: waitingAt(batch, { at: wait.at + 1 }) });
  return done({ code: "STEP_PAUSE_ENDED", batch: batchRef(draft.run, batch), after: nextAfter(draft, batch, wait.at) });
}
