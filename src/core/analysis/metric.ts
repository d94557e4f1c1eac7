import { reasonsOf } from "../base/reason.ts";
import { epoch, type Time } from "../base/time.ts";
import type { MetricReason, MetricReasons } from "../reasons/analysis.ts";

const metricReason = reasonsOf<MetricReasons>();

/** Argo Rollouts' phases of a measurement, a metric and a run. */
export type AnalysisPhase = "Pending" | "Running" | "Successful" | "Failed" | "Inconclusive" | "Error";

export interface Measurement {
  phase: AnalysisPhase;
  /** As shown to people, shortened. */
  value: string;
  message?: string | undefined;
  startedAt: Time;
  finishedAt?: Time;
}

/** A metric with every limit a number: what `metricSchema` gives once arguments are filled in. */
export interface MetricRules {
  name: string;
  intervalMs?: number | undefined;
  initialDelayMs?: number | undefined;
  count?: number | undefined;
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
  because?: MetricReason;
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

/** Counts a finished measurement in, and judges the metric's phase anew. */
export function countMeasurement(rules: MetricRules, result: MetricResult, measurement: Measurement): MetricResult {
  const { phase } = measurement;
  const next: MetricResult = {
    ...result,
    count: result.count + (phase === "Error" ? 0 : 1),
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
function judge(rules: MetricRules, result: MetricResult): { phase: AnalysisPhase; because?: MetricReason } {
  const { failureLimit, inconclusiveLimit, consecutiveErrorLimit, consecutiveSuccessLimit: wanted } = rules;
  const { failed, inconclusive, consecutiveError: errors, measurements } = result;
  if (failureLimit >= 0 && failed > failureLimit)
    return { phase: "Failed", because: metricReason("METRIC_FAILED", { times: failed, limit: failureLimit }) };
  if (inconclusive > inconclusiveLimit)
    return { phase: "Inconclusive", because: metricReason("METRIC_INCONCLUSIVE", { times: inconclusive, limit: inconclusiveLimit }) };
  if (errors > consecutiveErrorLimit)
    return { phase: "Error", because: metricReason("METRIC_UNMEASURED", { times: errors, last: measurements.at(-1)?.message }) };
  if (wanted > 0 && result.consecutiveSuccess >= wanted)
    return { phase: "Successful", because: metricReason("METRIC_IN_A_ROW", { times: wanted }) };
  const count = effectiveCount(rules);
  if (count === undefined || result.count < count) return { phase: "Running" };
  if (wanted === 0) return { phase: "Successful" };
  // Without a limit of failures the successes in a row are all there is to go by; with one it was kept, too, so neither has decided.
  return { phase: failureLimit < 0 ? "Failed" : "Inconclusive", because: metricReason("METRIC_NO_ROW", { times: result.count, wanted }) };
}

/** undefined: until it is stopped. */
export function effectiveCount(rules: Pick<MetricRules, "count" | "intervalMs">): number | undefined {
  if (rules.count !== undefined && rules.count > 0) return rules.count;
  return rules.intervalMs === undefined ? 1 : undefined;
}

/** Measured until it is stopped: an interval and no count. */
export function isEndless(rules: Pick<MetricRules, "count" | "intervalMs" | "consecutiveSuccessLimit">): boolean {
  return effectiveCount(rules) === undefined && !(rules.consecutiveSuccessLimit > 0);
}

/** Epoch milliseconds of the next measurement; undefined: none is wanted. */
export function dueAt(rules: MetricRules, result: MetricResult, startedAt: Time): number | undefined {
  if (isComplete(result.phase)) return undefined;
  const last = result.measurements.at(-1);
  if (last === undefined) return epoch(startedAt) + (rules.initialDelayMs ?? 0);
  const interval = last.phase === "Error" ? ERROR_RETRY_MS : (rules.intervalMs ?? ERROR_RETRY_MS);
  return epoch(last.finishedAt ?? last.startedAt) + interval;
}

/** Ends a metric, as when another failed or the background is over: what has not failed so far is Successful. */
export function stopMetric(result: MetricResult): MetricResult {
  return isComplete(result.phase) ? result : { ...result, phase: "Successful", because: metricReason("METRIC_STOPPED") };
}

const WORST: readonly AnalysisPhase[] = ["Successful", "Inconclusive", "Error", "Failed"];

/** Of a whole run: the worst of its metrics, known as soon as one has not succeeded, for then the others are stopped. Dry-run metrics never count. */
export function runPhase(results: readonly MetricResult[]): AnalysisPhase {
  const over = results.filter((result) => isComplete(result.phase));
  const worst = WORST[Math.max(0, ...over.filter(({ dryRun }) => !dryRun).map(({ phase }) => WORST.indexOf(phase)))] ?? "Successful";
  return worst === "Successful" && over.length < results.length ? "Running" : worst;
}
