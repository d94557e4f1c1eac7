import { text } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import type { Command } from "../../spec/command.ts";
import { isBad, isTolerated, startAnalysis } from "../gates/analysis.ts";
import { failRun } from "../outcome/run-failures.ts";
import type { Run } from "../state/run.ts";
import { batchOf, change, type Draft, moveBatch, pause } from "../state/run-draft.ts";
import { analysesOf, analysisTitle, putAnalysis } from "./run-analysis.ts";
import { analysisSpec } from "./step-analysis.ts";

/** What a bad end of an analysis does: a failure goes by the policy, and where nothing can be said somebody is asked. */
export function judgeAnalyses(draft: Draft): void {
  if (draft.run.promotedFully !== undefined) return;
  const bad = analysesOf(draft.run).filter((record) => isBad(draft.run, record) && !isTolerated(draft.run, record));
  const failed = bad.find((record) => record.phase !== "Inconclusive");
  if (failed !== undefined) {
    const words = failed.phase === "Error" ? "could not be measured" : "failed";
    const ask = "`/retry` measures again, `/resume` goes on all the same (maintain), `/abort` ends the run";
    failRun(draft, `the ${analysisTitle(draft.run, failed)} ${words}: ${text(failed.why)}`, ask);
    return;
  }
  const [first] = bad;
  if (first === undefined) return;
  const ask = "`/resume` goes on, `/retry` measures again, `/abort` ends the run";
  pause(draft, "Undecided", "stagecoach", `the ${analysisTitle(draft.run, first)} is inconclusive: ${text(first.why)}`, ask);
}

/** Analyses that failed and were gone on past: with them a run does not succeed. */
export function failedAnalyses(run: Run): string[] {
  if (run.promotedFully !== undefined) return [];
  return analysesOf(run).flatMap((record) => (isBad(run, record) && isTolerated(run, record) ? [analysisTitle(run, record)] : []));
}

/** `/resume`: those that had ended badly when it was written count as passed. Gives what they were. */
export function acceptAnalyses(draft: Draft, command: Command): string[] {
  const accepted: string[] = [];
  for (const record of analysesOf(draft.run)) {
    if (!isBad(draft.run, record) || epoch(record.endedAt ?? draft.at) > epoch(command.createdAt) + 999) continue;
    const title = analysisTitle(draft.run, record);
    putAnalysis(draft, { ...record, accepted: { by: command.actor, at: draft.at } }, `${title} is accepted by ${command.actor}`);
    accepted.push(title);
  }
  return accepted;
}

/** `/retry`: what ended badly is measured again, and what went on without it comes back to it. Gives what it is. */
export function retryAnalyses(draft: Draft): string[] {
  const again: string[] = [];
  for (const record of analysesOf(draft.run)) {
    const analysis = analysisSpec(draft.run, record);
    if (analysis === undefined || !isBad(draft.run, record)) continue;
    if (!startAnalysis(draft, record, analysis, record.attempt + 1)) continue;
    again.push(analysisTitle(draft.run, record));
    if (record.batch !== undefined && batchOf(draft.run, record.batch).phase === "Settled")
      moveBatch(draft, record.batch, "Merged", { settledAt: undefined });
    if (record.stage < draft.run.stage) change(draft, { stage: record.stage });
  }
  return again;
}
