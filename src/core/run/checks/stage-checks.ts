/**
 * What a stage measures and asks at each of its moments. Here it is begun, last of all that stands against going on, so that what is answered
 * is of the moment at which it is wanted; the gates (`analysis-gate.ts`, `hooks.ts`) say what then is waited for.
 */
import { epoch, type Time } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { isInTurn } from "../state/batch.ts";
import { type Wait, wait } from "../state/decision.ts";
import type { Draft } from "../state/draft.ts";
import type { HookFailure } from "../state/hooks-types.ts";
import type { Batch, Run } from "../state/run.ts";
import { isMidStep } from "../state/steps.ts";
import { type AnalysisPlace, analysesAt, analysesOf, analysisRef, isBadAnalysis, stopAnalysis } from "./analysis.ts";
import { analysisGate, analysisOf, underWay } from "./analysis-gate.ts";
import { callHook, type HookPlace, hookCallAt, hookRef, isBadHook, isToleratedHook } from "./hooks.ts";
import { measure, startAnalysis } from "./start-analyses.ts";

/** Before the stage's first merge, once nothing else of the run stands against it. */
export function beforeStage(draft: Draft, { stage }: Batch): Wait | undefined {
  return measured(draft, { stage, when: "BeforeStage" }) ?? asked(draft, stage, "before");
}

/** True where a batch that is confirmed is measured: it stays in its bake for as long as that takes. */
export function measuresBatch(run: Run, batch: Batch): boolean {
  return (
    isInTurn(batch) && !isMidStep(batch) && run.promotedFully === undefined && analysisOf(run, batch.stage, "AfterBatch") !== undefined
  );
}

/** Of a batch whose every cluster is confirmed. `bakeOver`: what is measured until it is stopped is stopped. */
export function afterBatch(draft: Draft, batch: Batch, bakeOver: boolean): Wait | undefined {
  if (!isInTurn(batch) || isMidStep(batch)) return undefined;
  const place = { stage: batch.stage, when: "AfterBatch" as const, batch: batch.number };
  // An unhealthy moment begins the bake anew, and with it what is measured beside it.
  const blocked = measured(draft, place, batch.bake?.from);
  if (blocked !== undefined && bakeOver) endMeasured(draft, place, "BAKE_IS_OVER", true);
  return blocked;
}

/** The analysis among the steps that follow the weight of a batch, as its wait `step`, measured since then. undefined: it has passed. */
export function afterWeight(draft: Draft, { number, stage }: Batch, step: number, since: Time): Wait | undefined {
  return measured(draft, { stage, when: "AfterBatch", batch: number, step }, since);
}

/** Before the next stage, of one in which something has moved: its background ends, it is measured once more, and its hooks are asked. */
export function afterStage(draft: Draft, stage: number): Wait | undefined {
  const moved = draft.run.batches.filter((batch) => batch.stage === stage && batch.merged !== undefined);
  if (moved.length === 0) return undefined;
  const background = { stage, when: "Background" as const };
  endMeasured(draft, background, "STAGE_IS_DONE");
  const blocked = underWay(draft.run, background);
  if (blocked !== undefined && draft.run.promotedFully === undefined) return blocked;
  // A batch that catches up later is measured, and asks, anew.
  const last = moved.map((batch) => batch.settledAt ?? batch.since).reduce((a, b) => (epoch(a) >= epoch(b) ? a : b));
  return measured(draft, { stage, when: "AfterStage" }, last) ?? asked(draft, stage, "after", last);
}

/** From the stage's first merge on; begun anew by a later merge where it has ended by itself. */
export function inBackground(draft: Draft): void {
  const { stage, batches } = draft.run;
  const analysis = analysisOf(draft.run, stage, "Background");
  if (analysis === undefined) return;
  const merges = batches.flatMap((batch) => (batch.stage === stage && batch.merged !== undefined ? [epoch(batch.merged.at)] : []));
  if (merges.length === 0) return;
  const place = { stage, when: "Background" as const };
  measure(draft, place);
  const [known] = analysesAt(draft.run, place);
  if (
    known?.phase === "Successful" &&
    draft.run.promotedFully === undefined &&
    epoch(known.endedAt ?? known.startedAt) < Math.max(...merges)
  )
    startAnalysis(draft, place, analysis, known.attempt + 1);
}

function measured(draft: Draft, place: AnalysisPlace, newerThan?: Time): Wait | undefined {
  measure(draft, place, newerThan);
  return analysisGate(draft.run, place, newerThan);
}

/** Never before everything that counts was measured once: nothing passes unmeasured. */
function endMeasured(draft: Draft, place: AnalysisPlace, code: "BAKE_IS_OVER" | "STAGE_IS_DONE", onlyEndless = false): void {
  for (const record of analysesAt(draft.run, place)) {
    const observed = draft.world.analyses?.get(record.id);
    if (record.phase !== "Running" || observed?.phase !== "Running" || (onlyEndless && observed.endless !== true)) continue;
    if (observed.metrics.every((metric) => metric.dryRun === true || metric.count > 0)) stopAnalysis(draft, record, runReason(code), false);
  }
}

/** Asks the hooks of a stage one after the other, each once the one before it has said to go on. */
function asked(draft: Draft, stage: number, when: "before" | "after", newerThan?: Time): Wait | undefined {
  for (const index of (draft.run.spec.stages[stage]?.hooks?.[when] ?? []).keys()) {
    const place = { stage, when, index };
    const call = hookCallAt(draft.run, place);
    if (call === undefined || (newerThan !== undefined && epoch(call.since) < epoch(newerThan)))
      callHook(draft, place, (call?.attempt ?? 0) + 1);
    const blocked = hookGate(draft.run, place);
    if (blocked !== undefined) return blocked;
  }
  return undefined;
}

/** Events of one stage's failures; more of them tell nobody anything new. */
const MOST_FAILURE_EVENTS = 50;
const MOST_NAMED = 50;

/** Tells the hooks of a stage what of it has failed since they were told last. */
export function tellFailures(draft: Draft): void {
  for (const [stage, spec] of draft.run.spec.stages.entries()) {
    const hooks = spec.hooks?.onFailure ?? [];
    if (hooks.length === 0) continue;
    const told = (draft.run.hooks ?? []).filter((call) => call.stage === stage && call.when === "onFailure");
    if (told.length >= MOST_FAILURE_EVENTS * hooks.length) continue;
    const since = Math.max(Number.NEGATIVE_INFINITY, ...told.map((call) => epoch(call.since)));
    const failures = failuresOf(draft.run, stage, since).slice(0, MOST_NAMED);
    if (failures.length === 0) continue;
    const attempt = Math.floor(told.length / hooks.length) + 1;
    for (const index of hooks.keys()) callHook(draft, { stage, when: "onFailure", index }, attempt, failures);
  }
}

/** What has failed of a stage after a moment (epoch milliseconds). */
function failuresOf(run: Run, stage: number, after: number): HookFailure[] {
  const targets = run.batches.filter((batch) => batch.stage === stage).flatMap((batch) => batch.targets);
  const failed = targets.filter((one) => one.phase === "Failed" && one.excused !== true && epoch(one.since) > after);
  const analyses = analysesOf(run).filter(
    (one) => one.stage === stage && isBadAnalysis(run, one) && epoch(one.endedAt ?? one.startedAt) > after,
  );
  const hooks = (run.hooks ?? []).filter((one) => one.stage === stage && isBadHook(one) && epoch(one.endedAt ?? one.since) > after);
  return [
    ...failed.map(({ cluster, why }) => ({ what: runReason("CLUSTER_HAS_FAILED", { cluster }), why })),
    ...analyses.map((one) => ({ what: runReason("CHECK_HAS_FAILED", { check: analysisRef(run, one) }), why: one.why })),
    ...hooks.map((one) => ({ what: runReason("CHECK_HAS_FAILED", { check: hookRef(run, one) }), why: one.why })),
  ];
}

/** Waits for a hook that has been asked to let the run go on, and for a person where it never will; undefined: it has. */
function hookGate(run: Run, place: HookPlace): Wait | undefined {
  const call = hookCallAt(run, place);
  if (call === undefined || call.phase === "Done" || call.accepted !== undefined || isToleratedHook(run, call)) return undefined;
  const data = { hook: hookRef(run, call), because: call.why };
  if (isBadHook(call)) return wait(runReason("HOOK_BAD", data), { what: runReason("NEXT_COMMAND") });
  const next = { what: runReason("NEXT_HOOK_ASKED"), eta: call.nextAt };
  if (call.phase === "Held") return wait(runReason("HOOK_HOLDS_STAGE", data), next);
  if (call.phase === "Waiting") return wait(runReason("HOOK_UNCLEAR", data), next);
  return wait(runReason("HOOK_AWAITED", { hook: data.hook }), { what: runReason("NEXT_HOOK_ANSWERS") });
}
