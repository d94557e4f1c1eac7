import type { AnyReason } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import type { AnalysisArg, AnalysisWhen } from "../../spec/rollout.ts";

/** Stopped: called off before it had an outcome, which nobody waits for any more. */
type AnalysisPhase = "Running" | "Successful" | "Failed" | "Inconclusive" | "Error" | "Stopped";

/** What was measured of one metric, as Argo Rollouts counts it. Texts are short, and secrets in them are masked. */
export interface AnalysisMetric {
  name: string;
  phase: string;
  dryRun?: true | undefined;
  count: number;
  successful: number;
  failed: number;
  inconclusive: number;
  error: number;
  value?: string | undefined;
  /** Of its template, shortened. */
  successCondition?: string | undefined;
  failureCondition?: string | undefined;
  message?: string | undefined;
  /** The last values that are numbers, oldest first. */
  points?: { at: Time; value: number; phase: string }[] | undefined;
}

/** One analysis of a run: journalled when it is begun and when it is over, with what was measured. */
export interface RunAnalysis {
  /** `ROLLOUT/RUN/STAGE/BATCH/WHEN/ATTEMPT`, and the cluster where it is of one: asking for the same one twice starts it once. */
  id: string;
  /** Index of the stage. */
  stage: number;
  when: AnalysisWhen;
  /** AfterBatch: number of the batch. */
  batch?: number | undefined;
  /** AfterBatch: which of the waits after the batch's weight it is, from 0; absent: the stage's own. */
  step?: number | undefined;
  /** Key of the cluster, where the arguments name it: then there is one for each of the batch. */
  cluster?: string | undefined;
  /** From 1; raised by `/retry`, and where what was measured is older than what it is to judge. */
  attempt: number;
  args: AnalysisArg[];
  phase: AnalysisPhase;
  why: AnyReason;
  startedAt: Time;
  endedAt?: Time | undefined;
  metrics?: AnalysisMetric[] | undefined;
  /** Told to end. `waived`: whatever it finds. */
  stopping?: { why: AnyReason; at: Time; waived?: true | undefined } | undefined;
  /** By `/resume`: it counts as passed. */
  accepted?: { by: string; at: Time } | undefined;
}

/** An analysis as an engine shows it now. */
export interface ObservedAnalysis {
  phase: "Running" | "Successful" | "Failed" | "Inconclusive" | "Error";
  message: AnyReason;
  metrics: AnalysisMetric[];
  /** What is still measured is measured until it is told to stop. */
  endless?: true | undefined;
}
