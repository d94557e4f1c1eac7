import type { CheckRef } from "../../reasons/refs.ts";
import type { Command } from "../../spec/commands.ts";
import { analysesOf, analysisRef } from "../checks/analysis.ts";
import { acceptHooks, hookRef, isBadHook, retryHooks } from "../checks/hooks.ts";
import { acceptAnalyses, retryAnalyses } from "../checks/judge-analyses.ts";
import { isBad } from "../gates/analysis.ts";
import type { Draft } from "../state/draft.ts";
import type { Run } from "../state/run.ts";

/** Analyses and hooks that ended badly and that nobody has accepted: what a run is stopped on besides its clusters. */
export function badGates(run: Run): CheckRef[] {
  const analyses = analysesOf(run).filter((record) => isBad(run, record));
  const hooks = (run.hooks ?? []).filter(isBadHook);
  return [...analyses.map((record) => analysisRef(run, record)), ...hooks.map((call) => hookRef(run, call))];
}

/** `/resume`: gives what counts as passed from now on. */
export function acceptGates(draft: Draft, command: Command): CheckRef[] {
  return [...acceptAnalyses(draft, command), ...acceptHooks(draft, command)];
}

/** `/retry`: gives what is measured and asked again. */
export function retryGates(draft: Draft): CheckRef[] {
  return [...retryAnalyses(draft), ...retryHooks(draft)];
}
