/** What a bad end of an analysis or a hook does to a run, and what people make of it by `/resume` and `/retry`. */
import { epoch } from "../../base/time.ts";
import type { CheckRef } from "../../reasons/refs.ts";
import { runReason } from "../../reasons/run.ts";
import type { Command } from "../../spec/commands.ts";
import { failRun } from "../outcome/failures.ts";
import { batchOf, change, type Draft, moveBatch, pause } from "../state/draft.ts";
import type { Run } from "../state/run.ts";
import { analysesOf, analysisRef, isBadAnalysis, isToleratedAnalysis, putAnalysis } from "./analysis.ts";
import { callHook, hookRef, isBadHook, isToleratedHook, putHook } from "./hooks.ts";
import { startAnalysis } from "./start-analyses.ts";
import { analysisSpec } from "./step-analysis.ts";

/** Fails the run by its policy where something was found bad; somebody is asked where nothing can be said of the release. */
export function judgeChecks(draft: Draft): void {
  const { run } = draft;
  const analyses = run.promotedFully === undefined ? badAnalyses(run).filter((record) => !isToleratedAnalysis(run, record)) : [];
  const [record] = [...analyses.filter(({ phase }) => phase !== "Inconclusive"), ...analyses];
  if (record !== undefined) {
    const data = { analysis: analysisRef(run, record), because: record.why };
    if (record.phase === "Inconclusive") ask(draft, "measures", runReason("ANALYSIS_INCONCLUSIVE", data));
    else fail(draft, "measures", runReason("ANALYSIS_FAILED", { ...data, error: record.phase === "Error" }));
  }
  const hooks = (run.hooks ?? []).filter((call) => isBadHook(call) && !isToleratedHook(run, call));
  const [call] = [...hooks.filter(({ phase }) => phase === "Failed"), ...hooks];
  if (call === undefined) return;
  const data = { hook: hookRef(run, call), because: call.why };
  if (call.phase === "Failed") fail(draft, "asks", runReason("HOOK_FAILED_RUN", data));
  else ask(draft, "asks", runReason("HOOK_UNDECIDED", data));
}

type Again = "asks" | "measures";

function fail(draft: Draft, again: Again, why: ReturnType<typeof runReason>): void {
  failRun(draft, why, runReason("ASK_FAILED_CHECK", { again }));
}

function ask(draft: Draft, again: Again, why: ReturnType<typeof runReason>): void {
  pause(draft, "Undecided", "stagecoach", why, runReason("ASK_UNDECIDED_CHECK", { again }));
}

function badAnalyses(run: Run) {
  return analysesOf(run).filter((record) => isBadAnalysis(run, record));
}

/** Analyses and hooks that ended badly and that nobody has accepted: what a run is stopped on besides its clusters. */
export function badChecks(run: Run): CheckRef[] {
  const hooks = (run.hooks ?? []).filter(isBadHook);
  return [...badAnalyses(run).map((record) => analysisRef(run, record)), ...hooks.map((call) => hookRef(run, call))];
}

/** Those that failed and were gone on past: with them a run does not succeed. */
export function failedChecks(run: Run): CheckRef[] {
  const analyses = run.promotedFully === undefined ? badAnalyses(run).filter((record) => isToleratedAnalysis(run, record)) : [];
  const hooks = (run.hooks ?? []).filter((call) => isBadHook(call) && isToleratedHook(run, call));
  return [...analyses.map((record) => analysisRef(run, record)), ...hooks.map((call) => hookRef(run, call))];
}

/** `/resume`: those that had ended badly when it was written count as passed, or do not hold any more. Gives what they were. */
export function acceptChecks(draft: Draft, { actor: by, createdAt }: Command): CheckRef[] {
  const accepted = { by, at: draft.at };
  const wasKnown = ({ endedAt = draft.at }: { endedAt?: string | undefined }) => epoch(endedAt) <= epoch(createdAt) + 999;
  const found: CheckRef[] = [];
  for (const record of badAnalyses(draft.run).filter(wasKnown)) {
    const check = analysisRef(draft.run, record);
    putAnalysis(draft, { ...record, accepted }, runReason("ANALYSIS_ACCEPTED", { check, by }));
    found.push(check);
  }
  for (const call of (draft.run.hooks ?? []).filter((one) => isBadHook(one) && wasKnown(one))) {
    const check = hookRef(draft.run, call);
    putHook(draft, { ...call, accepted }, runReason("ANALYSIS_ACCEPTED", { check, by }));
    found.push(check);
  }
  return found;
}

/** `/retry`: what ended badly is measured and asked again, and what went on without it comes back to it. Gives what it is. */
export function retryChecks(draft: Draft): CheckRef[] {
  const again: CheckRef[] = [];
  for (const record of badAnalyses(draft.run)) {
    const analysis = analysisSpec(draft.run, record);
    if (analysis === undefined || !startAnalysis(draft, record, analysis, record.attempt + 1)) continue;
    again.push(analysisRef(draft.run, record));
    if (record.batch !== undefined && batchOf(draft.run, record.batch).phase === "Settled")
      moveBatch(draft, record.batch, "Merged", { settledAt: undefined });
    goBackTo(draft, record.stage);
  }
  for (const call of (draft.run.hooks ?? []).filter(isBadHook)) {
    callHook(draft, call, call.attempt + 1);
    again.push(hookRef(draft.run, call));
    goBackTo(draft, call.stage);
  }
  return again;
}

function goBackTo(draft: Draft, stage: number): void {
  if (stage < draft.run.stage) change(draft, { stage });
}
