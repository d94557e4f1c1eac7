import { text } from "../../base/reason.ts";
import { epoch, formatDuration, iso } from "../../base/time.ts";
import { type BatchStep, type Wait, waitsAfter } from "../../plan/steps.ts";
import type { Command } from "../../spec/commands.ts";
import { done, type Reply, refused, tooEarly } from "../commands/reply.ts";
import { afterWeight } from "../gates/analysis.ts";
import { withinBudget } from "../outcome/failures.ts";
import { batchOf, changeBatch, type Draft, moveBatch, sayBatch, wakeAt } from "../state/draft.ts";
import { batchName, batchRef, clustersOf, nameList } from "../state/names.ts";
import type { Batch } from "../state/run.ts";
import { seenOf } from "../targets/seen.ts";

/**
 * The pauses and analyses that follow a weight, one after the other, once every cluster of its batch is confirmed. True: the
 * last is over, or there is none. Each begins when the one before it ends; an unhealthy moment begins the present one anew.
 */
export function stepIsOver(draft: Draft, number: number): boolean {
  const { step } = batchOf(draft.run, number);
  if (step === undefined) return true;
  const waits = waitsOf(draft, number);
  for (let at = step.wait?.at ?? 0; at < waits.length; at++) {
    const wait = waits[at];
    if (wait === undefined || isIdle(draft, number)) return true;
    if (draft.run.promotedFully === undefined && !waitIsOver(draft, number, wait, at)) return false;
    moveTo(draft, number, wait, at + 1);
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

function moveTo(draft: Draft, number: number, over: Wait, at: number): void {
  const batch = batchOf(draft.run, number);
  const event = `${batchName(draft.run, batch)}: ${wordsOf(over)} is over`;
  // Merged, as before the wait: what comes next begins by itself.
  moveBatch(draft, number, "Merged", { step: { ...stripped(batch), wait: { at } } }, event);
}

function stripped({ step }: Batch): BatchStep {
  if (step === undefined) throw new Error("a batch without steps has no waits");
  const { wait: _, ...rest } = step;
  return rest;
}

function waitIsOver(draft: Draft, number: number, wait: Wait, at: number): boolean {
  const from = begin(draft, number, wait, at);
  if (wait.kind === "analysis") {
    const blocked = afterWeight(draft, batchOf(draft.run, number), at, from);
    if (blocked !== undefined) sayBatch(draft, number, blocked.why, blocked.next);
    return blocked === undefined;
  }
  const batch = batchOf(draft.run, number);
  const until = batch.step?.wait?.until;
  const weight = `at weight ${batch.step?.weight ?? ""}`;
  if (until === undefined) {
    sayBatch(draft, number, `paused ${weight}, ${namesOf(draft, batch)} healthy: waiting for somebody to promote it`, {
      what: `\`/promote\` goes on to ${nextWeight(draft, number)}`,
    });
    return false;
  }
  if (draft.now < epoch(until)) {
    wakeAt(draft, epoch(until));
    const why = `paused ${weight} for ${formatDuration(epoch(until) - epoch(from))}, ${namesOf(draft, batch)} healthy since ${from.slice(11, 19)} UTC`;
    sayBatch(draft, number, why, { what: "the pause ends", at: until });
    return false;
  }
  const unclear = healthyOf(batch).filter((target) => seenOf(draft, batch, target.key)?.assessment?.verdict !== "live");
  if (unclear.length === 0) return true;
  const why = `the pause ${weight} is over, but ${nameList(draft.run, clustersOf(unclear))} cannot be confirmed just now: ${text(unclear[0]?.why ?? "")}`;
  sayBatch(draft, number, why, { what: "Argo CD shows it healthy again" });
  return false;
}

/** When the present wait began: never before the last confirmation of what it waits with. */
function begin(draft: Draft, number: number, wait: Wait, at: number): string {
  const batch = batchOf(draft.run, number);
  const known = batch.step?.wait;
  const confirmed = Math.max(0, ...healthyOf(batch).map((target) => epoch(target.confirmedAt ?? target.since)));
  if (known?.at === at && known.from !== undefined && epoch(known.from) >= confirmed) {
    // One of it has failed meanwhile, and the others go on waiting: it can be promoted as before.
    if (batch.phase !== "Baking") moveBatch(draft, number, "Baking");
    return known.from;
  }
  const length = wait.kind === "pause" ? wait.durationMs : undefined;
  const begun = { at, from: draft.at, ...(length === undefined ? {} : { until: iso(draft.now + length) }) };
  const again = known?.from === undefined ? "" : " again";
  const event = `${batchName(draft.run, batch)}: ${wordsOf(wait)} begins${again}`;
  moveBatch(draft, number, "Baking", { step: { ...stripped(batch), wait: begun } }, event);
  return draft.at;
}

function wordsOf(wait: Wait): string {
  if (wait.kind === "analysis") return `analysis ${wait.analysis.templates.map(({ templateName }) => templateName).join(", ")}`;
  return wait.durationMs === undefined ? "pause until /promote" : `pause of ${formatDuration(wait.durationMs)}`;
}

function healthyOf(batch: Batch) {
  return batch.targets.filter((target) => target.phase === "Healthy");
}

function namesOf({ run }: Draft, batch: Batch): string {
  return nameList(run, clustersOf(healthyOf(batch)));
}

/** What comes after the present wait, in a few words. */
function nextWeight(draft: Draft, number: number): string {
  const { step } = batchOf(draft.run, number);
  const next = waitsOf(draft, number)[(step?.wait?.at ?? 0) + 1];
  if (next !== undefined) return `the ${wordsOf(next)}`;
  return step === undefined || step.index === step.of ? "what follows" : `step ${step.index + 1} of ${step.of}`;
}

/** `/promote` of a batch whose step is waited out; undefined: it is not, and the command means something else. */
export function promoteStep(draft: Draft, command: Command, batch: Batch): Reply | undefined {
  const { wait } = batch.step ?? {};
  const present = wait?.from === undefined ? undefined : waitsOf(draft, batch.number)[wait.at];
  if (wait?.from === undefined || present === undefined) return undefined;
  if (tooEarly(command, wait.from)) return refused({ code: "COMMAND_TOO_EARLY", before: "wait" });
  if (present.kind === "analysis") return refused({ code: "ANALYSIS_NOT_PROMOTED", because: batch.why });
  changeBatch(draft, batch.number, { step: { ...stripped(batch), wait: { at: wait.at + 1 } } });
  return done({ code: "STEP_PAUSE_ENDED", batch: batchRef(draft.run, batch), next: nextOfAt(draft, batch, wait.at) });
}

function nextOfAt(draft: Draft, { number, step }: Batch, at: number): string {
  const next = waitsOf(draft, number)[at + 1];
  if (next !== undefined) return `the ${wordsOf(next)}`;
  return step === undefined || step.index === step.of ? "what follows" : `step ${step.index + 1} of ${step.of}`;
}
