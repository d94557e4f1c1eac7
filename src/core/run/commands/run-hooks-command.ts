import type { Command } from "../../spec/command.ts";
import { analysesOf, analysisTitle } from "../checks/run-analysis.ts";
import { acceptAnalyses, retryAnalyses } from "../checks/run-analysis-judge.ts";
import { acceptHooks, hookTitle, isBadHook, retryHooks } from "../checks/run-hooks.ts";
import { isBad } from "../gates/analysis.ts";
import type { Run } from "../state/run.ts";
import type { Draft } from "../state/run-draft.ts";

/** Analyses and hooks that ended badly and that nobody has accepted: what a run is stopped on besides its clusters. */
export function badGates(run: Run): string[] {
  const analyses = analysesOf(run).filter((record) => isBad(run, record));
  const hooks = (run.hooks ?? []).filter(isBadHook);
  return [...analyses.map((record) => `the ${analysisTitle(run, record)}`), ...hooks.map((call) => hookTitle(run, call))];
}

/** `/resume`: gives what counts as passed from now on. */
export function acceptGates(draft: Draft, command: Command): string[] {
  return [...acceptAnalyses(draft, command), ...acceptHooks(draft, command)];
}

/** `/retry`: gives what is measured and asked again. */
export function retryGates(draft: Draft): string[] {
  return [...retryAnalyses(draft), ...retryHooks(draft)];
}
