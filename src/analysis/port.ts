import type { Time } from "../rollout/time.ts";
import type { AnalysisPhase } from "./metric.ts";
import type { AnalysisRequest, Asked } from "./request.ts";

/** Runs analyses, in memory or as AnalysisRun objects. An analysis is known by its id, so asking twice starts it once. */
export interface AnalysisEngine {
  readonly kind: "builtin" | "argo-rollouts";
  /** Starts it, or goes on with the one of this id. Resolves once it is under way; what comes of it is read with `state`. */
  start(id: string, analysis: AnalysisToRun): Promise<void>;
  /** What is known now; undefined: none of this id, e.g. after a restart of the builtin engine, which starts it anew. */
  state(id: string): AnalysisState | undefined;
  /** No further measurement; what is not decided yet counts as Successful, as Argo Rollouts does. */
  stop(id: string): Promise<void>;
  onChange(listener: (id: string) => void): () => void;
  close(): Promise<void>;
}

export interface AnalysisToRun {
  /** For an engine that measures itself: every argument filled in. */
  request: AnalysisRequest;
  /** For an engine that hands it on: the templates by name, and the arguments. */
  asked: Asked;
}

export interface AnalysisState {
  phase: AnalysisPhase;
  message: string;
  startedAt: Time;
  finishedAt?: Time;
  metrics: MetricState[];
}

export interface MetricState {
  name: string;
  phase: AnalysisPhase;
  message?: string;
  dryRun: boolean;
  count: number;
  successful: number;
  failed: number;
  inconclusive: number;
  error: number;
  /** The last value measured, shortened, secrets masked. */
  value?: string;
}

/** True where the analysis has an outcome. */
export function isOver(state: Pick<AnalysisState, "phase">): boolean {
  return state.phase !== "Pending" && state.phase !== "Running";
}
