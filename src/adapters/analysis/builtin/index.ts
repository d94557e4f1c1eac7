/**
 * The builtin engine: measures by itself where Argo Rollouts' controller does not run.
 *
 * State is in memory alone. After a restart an analysis starts anew: it takes longer, and it can never pass on what was
 * measured before the restart. Measurements of one metric never overlap.
 */
import { judgeValue } from "../../../core/analysis/expr/evaluate.ts";
import {
  countMeasurement,
  dueAt,
  isComplete,
  isEndless,
  type Measurement,
  type MetricResult,
  type MetricRules,
  newResult,
  runPhase,
  stopMetric,
} from "../../../core/analysis/metric.ts";
import { pointsOf } from "../../../core/analysis/points.ts";
import { prepare, refuseEndless } from "../../../core/analysis/request.ts";
import type { TemplateMetric } from "../../../core/analysis/template-schema.ts";
import { defined } from "../../../core/base/defined.ts";
import { createListeners } from "../../../core/base/listeners.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { type Clock, iso } from "../../../core/base/time.ts";
import { checkReason } from "../../../core/reasons/checks.ts";
import { sayExpression, sayMetric } from "../../../core/report/reasons/analysis.ts";
import { type OutboundPolicy, repositoryOf } from "../../outbound/outbound.ts";
import type { AnalysisEngine, AnalysisState, AnalysisToRun, MetricState } from "../port.ts";
import type { JobRunner } from "./jobs.ts";
import { type Measured, measurePrometheus, measureWeb } from "./provider.ts";
import { maskSecrets, sayError, showValue } from "./show.ts";

interface BuiltinOptions {
  clock: Clock;
  policy: OutboundPolicy;
  /** Absent: Jobs cannot be run, and a job metric says so. */
  jobs?: JobRunner;
  /** Told of what should not have happened, such as a listener that failed. The analysis goes on where it can. */
  onError?(error: unknown, id: string): void;
}

interface Metric {
  rules: MetricRules;
  metric: TemplateMetric;
  result: MetricResult;
  callOff: () => void;
  busy: boolean;
}

interface Running {
  id: string;
  startedAt: number;
  finishedAt: number | undefined;
  secrets: readonly string[];
  metrics: Metric[];
  stopped: boolean;
}

/** Analyses kept after their end, to be asked about. */
const MOST_KEPT = 1000;
/** After what should not have happened it is measured again, in no hurry. */
const AGAIN_MS = 60_000;

interface Engine {
  options: BuiltinOptions;
  changed(id: string): void;
}

export function builtinEngine(options: BuiltinOptions): AnalysisEngine {
  const { clock } = options;
  const analyses = new Map<string, Running>();
  const listeners = createListeners<string>(options.onError);
  const engine: Engine = { options, changed: listeners.tell };
  const started = (id: string): Running => {
    return { id, startedAt: clock.now(), finishedAt: undefined, secrets: [], metrics: [], stopped: false };
  };
  return {
    kind: "builtin",
    async start(id: string, { asked, sources, mustEnd }: AnalysisToRun) {
      if (analyses.has(id)) return;
      const request = prepare(asked, sources);
      if (mustEnd) refuseEndless(request.metrics.map(({ rules }) => rules));
      if (analyses.size >= MOST_KEPT) forget(analyses);
      const metrics = request.metrics.map(({ rules, metric }) => ({
        rules,
        metric,
        result: newResult(rules),
        callOff: () => undefined,
        busy: false,
      }));
      const running: Running = { ...started(id), secrets: request.secrets, metrics };
      analyses.set(id, running);
      for (const metric of metrics) plan(engine, running, metric);
    },
    state(id) {
      const running = analyses.get(id);
      return running === undefined ? undefined : stateOf(running);
    },
    async stop(id) {
      const known = analyses.get(id);
      if (known?.finishedAt !== undefined) return;
      // Of before a restart: it is over, since nobody measures it any more.
      const running = known ?? started(id);
      analyses.set(id, running);
      end(running, clock);
      listeners.tell(id);
    },
    onChange: listeners.add,
    async close() {
      for (const running of analyses.values()) end(running, clock);
      listeners.clear();
    },
  };
}

function plan(engine: Engine, running: Running, metric: Metric): void {
  const { clock } = engine.options;
  const due = dueAt(metric.rules, metric.result, iso(running.startedAt));
  if (due === undefined || running.stopped) return;
  metric.callOff = clock.after(Math.max(0, due - clock.now()), () => begin(engine, running, metric));
}

/** Nobody waits for a measurement, so nothing may come out of one. */
function begin(engine: Engine, running: Running, metric: Metric): void {
  const { clock, onError } = engine.options;
  take(engine, running, metric).catch((error: unknown) => {
    onError?.(error, running.id);
    if (!running.stopped) metric.callOff = clock.after(AGAIN_MS, () => begin(engine, running, metric));
  });
}

async function take(engine: Engine, running: Running, metric: Metric): Promise<void> {
  const { options, changed } = engine;
  if (metric.busy || running.stopped || isComplete(metric.result.phase)) return;
  metric.busy = true;
  const startedAt = options.clock.now();
  const id = `${running.id}/${metric.rules.name}/${metric.result.count + metric.result.error + 1}`;
  const found = await measure(options, metric.metric, id, running.secrets).catch(unexpected);
  metric.busy = false;
  // What was asked for before the end was told to stop is not counted after it.
  if (running.stopped) return;
  const measurement = judged(found, metric.metric, running.secrets, { startedAt, finishedAt: options.clock.now() });
  metric.result = countMeasurement(metric.rules, metric.result, measurement);
  if (metric.result.phase === "Pending") metric.result = { ...metric.result, phase: "Running" };
  if (isComplete(runPhase(running.metrics.map(({ result }) => result)))) end(running, options.clock);
  plan(engine, running, metric);
  changed(running.id);
}

function end(running: Running, clock: Clock): void {
  if (running.finishedAt !== undefined) return;
  running.stopped = true;
  running.finishedAt = clock.now();
  for (const metric of running.metrics) {
    metric.callOff();
    metric.result = stopMetric(metric.result);
  }
}

function forget(analyses: Map<string, Running>): void {
  for (const [id, running] of analyses) {
    if (running.finishedAt === undefined) continue;
    analyses.delete(id);
    return;
  }
}

async function measure(options: BuiltinOptions, metric: TemplateMetric, id: string, secrets: readonly string[]): Promise<Measured> {
  const { web, prometheus, job } = metric.provider;
  const written = JSON.stringify(metric.provider);
  const carried = secrets.filter((one) => one !== "" && written.includes(JSON.stringify(one).slice(1, -1)));
  const policy = { ...options.policy, repository: repositoryOf(id), secrets: carried };
  if (web !== undefined) return measureWeb(policy, web);
  if (prometheus !== undefined) return measurePrometheus(policy, prometheus);
  if (job === undefined) return { error: checkReason("MEASURE_PROVIDER", { provider: Object.keys(metric.provider).join(", ") }) };
  if (options.jobs === undefined) return { error: checkReason("MEASURE_NO_JOBS") };
  return options.jobs.run(id, job);
}

function unexpected(error: unknown): { error: AnyReason } {
  return { error: checkReason("MEASURE_FAILED", { said: String(error).slice(0, 300) }) };
}

interface Times {
  startedAt: number;
  finishedAt: number;
}

/** A measurement whose value cannot be judged, whatever a host answered, is one in error. */
function judged(found: Measured, metric: TemplateMetric, secrets: readonly string[], times: Times): Measurement {
  try {
    return finish(found, metric, secrets, times);
  } catch (error) {
    return finish(unexpected(error), metric, secrets, times);
  }
}

function finish(found: Measured, metric: TemplateMetric, secrets: readonly string[], times: Times): Measurement {
  const when = { startedAt: iso(times.startedAt), finishedAt: iso(times.finishedAt) };
  if ("error" in found) return { phase: "Error", value: "", message: maskSecrets(sayError(found.error), secrets), ...when };
  if ("outcome" in found) return { phase: found.outcome, value: "", message: maskSecrets(found.message, secrets), ...when };
  const { phase, because } = judgeValue(found.value, metric);
  return { phase, value: showValue(found.value, secrets), message: because && maskSecrets(sayExpression(because), secrets), ...when };
}

function stateOf(running: Running): AnalysisState {
  const phase = runPhase(running.metrics.map((m) => m.result));
  const open = running.metrics.filter(({ result }) => !isComplete(result.phase));
  const endless = open.length > 0 && open.every(({ rules }) => isEndless(rules));
  const metrics = running.metrics.map(({ metric, result }) => metricState(metric, result, running.secrets));
  return defined({
    phase,
    message: sentence(phase, metrics),
    startedAt: iso(running.startedAt),
    finishedAt: running.finishedAt === undefined ? undefined : iso(running.finishedAt),
    endless: endless ? (true as const) : undefined,
    metrics,
  });
}

function metricState(
  { successCondition, failureCondition }: TemplateMetric,
  result: MetricResult,
  secrets: readonly string[],
): MetricState {
  const conditionOf = (text: string | undefined) => (text === undefined || text === "" ? undefined : maskSecrets(text, secrets));
  const last = result.measurements.at(-1);
  const message = result.because === undefined ? last?.message : sayMetric(result.because);
  const { name, phase, dryRun, count, successful, failed, inconclusive, error } = result;
  return defined({
    ...{ name, phase, dryRun, count, successful, failed, inconclusive, error },
    message,
    value: last === undefined || last.value === "" ? undefined : last.value,
    successCondition: conditionOf(successCondition),
    failureCondition: conditionOf(failureCondition),
    points: pointsOf(result.measurements),
  });
}

function sentence(phase: AnalysisState["phase"], metrics: readonly MetricState[]): string {
  const telling = metrics.find((m) => m.phase === phase && !m.dryRun && phase !== "Successful");
  if (telling === undefined) return phase === "Successful" ? "every metric passed" : "being measured";
  const value = telling.value === undefined ? "" : `, last value ${telling.value}`;
  return `${telling.name}${telling.message === undefined ? "" : `: ${telling.message}`}${value}`;
}
