import type { Time } from "../base/time.ts";
import { epoch } from "../base/time.ts";

/** Argo Rollouts' phases of a measurement, a metric and a run. */
export type AnalysisPhase = "Pending" | "Running" | "Successful" | "Failed" | "Inconclusive" | "Error";

export interface Measurement {
  phase: AnalysisPhase;
  /** As shown to people, shortened. */
  value: string;
  message?: string;
  startedAt: Time;
  finishedAt?: Time;
}

/** A metric with every limit a number: what `metricSchema` gives once arguments are filled in. */
export interface MetricRules {
  name: string;
  intervalMs?: number;
  initialDelayMs?: number;
  count?: number;
  /** -1: no limit. */
  failureLimit: number;
  inconclusiveLimit: number;
  consecutiveErrorLimit: number;
  /** 0: not applied. */
  consecutiveSuccessLimit: number;
  dryRun: boolean;
  /** Measurements kept. */
  retention: number;
}

export interface MetricResult {
  name: string;
  phase: AnalysisPhase;
  message?: string;
  count: number;
  successful: number;
  failed: number;
  inconclusive: number;
  error: number;
  consecutiveError: number;
  consecutiveSuccess: number;
  dryRun: boolean;
  measurements: Measurement[];
}

export const DEFAULT_ERROR_LIMIT = 4;
export const DEFAULT_RETENTION = 10;
/** A metric that could not be measured is tried again after this long, whatever its interval. */
const ERROR_RETRY_MS = 10_000;

export function newResult(rules: MetricRules): MetricResult {
  const zero = { count: 0, successful: 0, failed: 0, inconclusive: 0, error: 0, consecutiveError: 0, consecutiveSuccess: 0 };
  return { name: rules.name, phase: "Pending", ...zero, dryRun: rules.dryRun, measurements: [] };
}

export function isComplete(phase: AnalysisPhase): boolean {
  return phase !== "Pending" && phase !== "Running";
}

/** The result with a finished measurement counted, and its phase judged anew. */
export function measured(rules: MetricRules, result: MetricResult, measurement: Measurement): MetricResult {
  const { phase } = measurement;
  const counted = phase !== "Error";
  const next: MetricResult = {
    ...result,
    count: result.count + (counted ? 1 : 0),
    successful: result.successful + (phase === "Successful" ? 1 : 0),
    failed: result.failed + (phase === "Failed" ? 1 : 0),
    inconclusive: result.inconclusive + (phase === "Inconclusive" ? 1 : 0),
    error: result.error + (phase === "Error" ? 1 : 0),
    consecutiveError: phase === "Error" ? result.consecutiveError + 1 : 0,
    consecutiveSuccess: phase === "Successful" ? result.consecutiveSuccess + 1 : 0,
    measurements: [...result.measurements, measurement].slice(-Math.max(1, rules.retention)),
  };
  return { ...next, ...judge(rules, next) };
}

/** As Argo Rollouts 1.8 judges a metric (its `assessMetricStatus`): limits first, then what is enough. */
function judge(rules: MetricRules, result: MetricResult): { phase: AnalysisPhase; message?: string } {
  if (rules.failureLimit >= 0 && result.failed > rules.failureLimit)
    return { phase: "Failed", message: `failed ${times(result.failed)}, and failureLimit is ${rules.failureLimit}` };
  if (result.inconclusive > rules.inconclusiveLimit)
    return {
      phase: "Inconclusive",
      message: `inconclusive ${times(result.inconclusive)}, and inconclusiveLimit is ${rules.inconclusiveLimit}`,
    };
  if (result.consecutiveError > rules.consecutiveErrorLimit) {
    const last = result.measurements.at(-1)?.message;
    const message = `could not be measured ${times(result.consecutiveError)} in a row${last === undefined ? "" : `: ${last}`}`;
    return { phase: "Error", message };
  }
  const wants = rules.consecutiveSuccessLimit;
  if (wants > 0 && result.consecutiveSuccess >= wants) return { phase: "Successful", message: `${times(wants)} in a row` };
  const count = effectiveCount(rules);
  if (count === undefined || result.count < count) return { phase: "Running" };
  if (wants === 0) return { phase: "Successful" };
  // Without a limit of failures the successes in a row are all there is to go by; with one it was kept, too, so neither has decided.
  const phase = rules.failureLimit < 0 ? "Failed" : "Inconclusive";
  return { phase, message: `measured ${times(result.count)} without ${wants} successes in a row` };
}

function times(n: number): string {
  return n === 1 ? "once" : n === 2 ? "twice" : `${n} times`;
}

/** undefined: until it is stopped. */
export function effectiveCount(rules: MetricRules): number | undefined {
  if (rules.count !== undefined && rules.count > 0) return rules.count;
  return rules.intervalMs === undefined ? 1 : undefined;
}

/** Measured until it is stopped: an interval and no count. */
export function isEndless(rules: MetricRules): boolean {
  return effectiveCount(rules) === undefined && rules.consecutiveSuccessLimit === 0;
}

/** Epoch milliseconds of the next measurement; undefined: none is wanted. */
export function dueAt(rules: MetricRules, result: MetricResult, startedAt: Time): number | undefined {
  if (isComplete(result.phase)) return undefined;
  const last = result.measurements.at(-1);
  if (last === undefined) return epoch(startedAt) + (rules.initialDelayMs ?? 0);
  const interval = last.phase === "Error" ? ERROR_RETRY_MS : (rules.intervalMs ?? ERROR_RETRY_MS);
  return epoch(last.finishedAt ?? last.startedAt) + interval;
}

/** Told to stop, e.g. because another metric failed or the background is over: what has not failed so far is Successful. */
export function stopped(result: MetricResult): MetricResult {
  return isComplete(result.phase) ? result : { ...result, phase: "Successful", message: "stopped" };
}

const WORST: readonly AnalysisPhase[] = ["Successful", "Inconclusive", "Error", "Failed"];

/** Of a whole run: running while any metric is, then the worst. Dry-run metrics never count. */
export function runPhase(results: readonly MetricResult[]): AnalysisPhase {
  const counting = results.filter((result) => !result.dryRun);
  if (results.some((result) => !isComplete(result.phase))) {
    // The outcome is known as soon as one has failed: the others are stopped.
    const worst = worstOf(counting.filter((result) => isComplete(result.phase)));
    return worst === "Successful" ? "Running" : worst;
  }
  return worstOf(counting);
}

function worstOf(results: readonly MetricResult[]): AnalysisPhase {
  let worst = 0;
  for (const { phase } of results) worst = Math.max(worst, WORST.indexOf(phase));
  return WORST[worst] ?? "Successful";
}
