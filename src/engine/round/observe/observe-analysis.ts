import type { AnalysisState } from "../../../adapters/analysis/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { analysesOf } from "../../../core/run/checks/analysis.ts";
import { measuresAnything } from "../../../core/run/checks/step-analysis.ts";
import type { AnalysisMetric, ObservedAnalysis } from "../../../core/run/state/analysis-types.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { World } from "../../../core/run/state/world.ts";
import type { RepoContext } from "../context.ts";

/** What an analysis could not be started for. `final`: it can never be as it is asked for. */
export interface AnalysisTrouble {
  message: string;
  final: boolean;
  /** Epoch milliseconds. */
  at: number;
}

/** By id of the analysis: what stood against starting it when this process tried last. */
export type AnalysisTroubles = Map<string, AnalysisTrouble>;

export function openAnalysisTroubles(): AnalysisTroubles {
  return new BoundedMap(MOST_KEPT);
}

const MOST_KEPT = 1000;

/** Engines serve every repo: there an analysis is known by the repo, too. */
export function engineId(context: Pick<RepoContext, "repository">, id: string): string {
  return `${context.repository.toLowerCase()}:${id}`;
}

/** How the analyses of a run stand that it takes for under way. */
export function observeAnalyses(context: RepoContext, troubles: AnalysisTroubles, run: Run): Pick<World, "analyses"> {
  if (!run.spec.stages.some(measuresAnything)) return {};
  const seen = new Map<string, ObservedAnalysis>();
  for (const { id, phase } of analysesOf(run)) {
    if (phase !== "Running") continue;
    const observed = observeOne(context, troubles, id);
    if (observed !== undefined) seen.set(id, observed);
  }
  return { analyses: seen };
}

function observeOne(context: RepoContext, troubles: AnalysisTroubles, id: string): ObservedAnalysis | undefined {
  if (context.analysis === undefined) return { phase: "Error", message: "this server runs no analyses", metrics: [] };
  const trouble = troubles.get(id);
  if (trouble?.final === true) return { phase: "Error", message: trouble.message, metrics: [] };
  const state = context.analysis.engine.state(engineId(context, id));
  return state === undefined ? undefined : toObserved(state);
}

function toObserved({ phase, message, metrics, endless }: AnalysisState): ObservedAnalysis {
  return {
    phase: phase === "Pending" ? "Running" : phase,
    message,
    metrics: metrics.map(({ dryRun, ...metric }): AnalysisMetric => ({ ...metric, ...(dryRun ? { dryRun: true as const } : {}) })),
    ...(endless === undefined ? {} : { endless }),
  };
}
