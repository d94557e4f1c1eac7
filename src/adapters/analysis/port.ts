import type { AnalysisPhase, MetricResult } from "../../core/analysis/metric.ts";
import type { Point } from "../../core/analysis/points.ts";
import type { Asked, Sources } from "../../core/analysis/request.ts";
import type { Time } from "../../core/base/time.ts";

/** Runs analyses, in memory or as AnalysisRun objects. An analysis is known by its id, so asking twice starts it once. */
export interface AnalysisEngine {
  readonly kind: "builtin" | "argo-rollouts";
  /**
   * Starts it, or goes on with the one of this id. Resolves once it is under way; what comes of it is read with `state`. Throws
   * AnalysisError where it can never be run as it is asked for; any other error: not now, try again.
   */
  start(id: string, analysis: AnalysisToRun): Promise<void>;
  /** What is known now; undefined: none of this id, e.g. after a restart of the builtin engine, which starts it anew. */
  state(id: string): AnalysisState | undefined;
  /** No further measurement; what is not decided yet counts as Successful, as Argo Rollouts does. Also of one it does not know. */
  stop(id: string): Promise<void>;
  /** Something of this analysis changed. */
  onChange(listener: (id: string) => void): () => void;
  close(): Promise<void>;
}

export interface AnalysisToRun {
  asked: Asked;
  sources: Sources;
  /** It must end by itself: one that measures until it is stopped is an AnalysisError. */
  mustEnd: boolean;
}

export interface AnalysisState {
  phase: AnalysisPhase;
  message: string;
  startedAt: Time;
  finishedAt?: Time;
  metrics: MetricState[];
  /** What is not decided yet is measured until it is stopped. */
  endless?: true;
}

export interface MetricState extends Omit<MetricResult, "because" | "consecutiveError" | "consecutiveSuccess" | "measurements"> {
  message?: string;
  /** The last value measured, shortened, secrets masked. */
  value?: string;
  /** Of its template, shortened, secrets masked. */
  successCondition?: string;
  failureCondition?: string;
  /** The last values that are numbers, oldest first. */
  points?: Point[];
}

/** True where the analysis has an outcome. */
export function isOver(state: Pick<AnalysisState, "phase">): boolean {
  return state.phase !== "Pending" && state.phase !== "Running";
}

/** Analyses as a repo's rounds use them: the server's engine, and what this repo may use of its secrets. */
export interface AnalysisService {
  engine: AnalysisEngine;
  /** Value of a key of an allowed secret; undefined: there is none, or the repo may not use it. */
  secret(repository: string, name: string, key: string): string | undefined;
}
