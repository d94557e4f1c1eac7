import { reasonsOf } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import type { CheckReasons } from "../../reasons/checks.ts";
import type { AnalysisRef } from "../../reasons/refs.ts";
import type { Command } from "../../spec/commands.ts";
import { isBad, isTolerated, startAnalysis } from "../gates/analysis.ts";
import { failRun } from "../outcome/failures.ts";
import { batchOf, change, type Draft, moveBatch, pause } from "../state/draft.ts";
import type { Run } from "../state/run.ts";
import { analysesOf, analysisRef, putAnalysis } from "./analysis.ts";
import { analysisSpec } from "./step-analysis.ts";

const check = reasonsOf<CheckReasons>();

/** What a bad end of an analysis does: a failure goes by the policy, and where nothing can be said somebody is asked. */
export function judgeAnalyses(draft: Draft): void {
  if (draft.run.promotedFully !== undefined) return;
  const bad = analysesOf(draft.run).filter((record) => isBad(draft.run, record) && !isTolerated(draft.run, record));
  const failed = bad.find((record) => record.phase !== "Inconclusive");
  if (failed !== undefined) {
    const analysis = analysisRef(draft.run, failed);
    const why = check("ANALYSIS_FAILED", { analysis, error: failed.phase === "Error", because: failed.why });
    failRun(draft, why, check("ASK_FAILED_CHECK", { again: "measures" }));
    return;
  }
  const [first] = bad;
  if (first === undefined) return;
  const why = check("ANALYSIS_INCONCLUSIVE", { analysis: analysisRef(draft.run, first), because: first.why });
  pause(draft, "Undecided", "stagecoach", why, check("ASK_UNDECIDED_CHECK", { again: "measures" }));
}

/** Analyses that failed and were gone on past: with them a run does not succeed. */
export function failedAnalyses(run: Run): AnalysisRef[] {
  if (run.promotedFully !== undefined) return [];
  return analysesOf(run).flatMap((record) => (isBad(run, record) && isTolerated(run, record) ? [analysisRef(run, record)] : []));
}

/** `/resume`: those that had ended badly when it was written count as passed. Gives what they were. */
export function acceptAnalyses(draft: Draft, command: Command): AnalysisRef[] {
  const accepted: AnalysisRef[] = [];
  for (const record of analysesOf(draft.run)) {
    if (!isBad(draft.run, record) || epoch(record.endedAt ?? draft.at) > epoch(command.createdAt) + 999) continue;
    const analysis = analysisRef(draft.run, record);
    const event = check("ANALYSIS_ACCEPTED", { check: analysis, by: command.actor });
    putAnalysis(draft, { ...record, accepted: { by: command.actor, at: draft.at } }, event);
    accepted.push(analysis);
  }
  return accepted;
}

/** `/retry`: what ended badly is measured again, and what went on without it comes back to it. Gives what it is. */
export function retryAnalyses(draft: Draft): AnalysisRef[] {
  const again: AnalysisRef[] = [];
  for (const record of analysesOf(draft.run)) {
    const analysis = analysisSpec(draft.run, record);
    if (analysis === undefined || !isBad(draft.run, record)) continue;
    if (!startAnalysis(draft, record, analysis, record.attempt + 1)) continue;
    again.push(analysisRef(draft.run, record));
    if (record.batch !== undefined && batchOf(draft.run, record.batch).phase === "Settled")
      moveBatch(draft, record.batch, "Merged", { settledAt: undefined });
    if (record.stage < draft.run.stage) change(draft, { stage: record.stage });
  }
  return again;
}
