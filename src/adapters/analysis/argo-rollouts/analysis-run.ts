/**
 * Makes the AnalysisRun that asks for an analysis, and reads what came of one: every text that leaves here is short and masked. Called by
 * the argo-rollouts engine.
 */
import { z } from "zod";
import { type AnalysisPhase, isComplete, isEndless } from "../../../core/analysis/metric.ts";
import { pointsOf } from "../../../core/analysis/points.ts";
import {
  AnalysisError,
  type Asked,
  declaredArgs,
  prepare,
  refuseEndless,
  type Sources,
  templatesFor,
} from "../../../core/analysis/request.ts";
import type { AnalysisTemplate, TemplateArgument, TemplateMetric } from "../../../core/analysis/template-schema.ts";
import { defined } from "../../../core/base/defined.ts";
import { maskSecrets } from "../builtin/show.ts";
import { objectName } from "../kubernetes.ts";
import type { AnalysisState, MetricState } from "../port.ts";

export const GROUP = "argoproj.io";
export const VERSION = "v1alpha1";
/** Of objects we make: label of them all, and annotation with the id of one. */
export const MARK = "stagecoach.dev/analysis";
/** Kept for people to look at after their end. */
const KEPT_S = 7 * 86_400;

export interface AnalysisRunObject {
  apiVersion: string;
  kind: "AnalysisRun";
  metadata: { name: string; namespace: string; labels: Record<string, string>; annotations: Record<string, string> };
  spec: Record<string, unknown>;
}

/**
 * The AnalysisRun that asks for an analysis: its templates as one list of metrics, arguments beside them, as the controller
 * itself makes it for a Rollout. Throws AnalysisError.
 */
export function analysisRun(id: string, namespace: string, asked: Asked, sources: Sources, mustEnd: boolean): AnalysisRunObject {
  const templates = templatesFor(asked, sources.templates);
  const rules = prepare(asked, sources, true).metrics.map((metric) => metric.rules);
  if (mustEnd) refuseEndless(rules);
  const dryRun = templates.flatMap((template) => template.spec.dryRun ?? []);
  const retention = templates.flatMap((template) => template.spec.measurementRetention ?? []);
  return {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: "AnalysisRun",
    metadata: { name: objectName(id), namespace, labels: { [MARK]: "true" }, annotations: { [MARK]: id } },
    spec: defined({
      metrics: templates.flatMap((template) => (template.spec.metrics ?? []).map(asWritten)),
      args: [...declaredArgs(templates).values()].map((arg) => argument(arg, asked.args, sources)),
      dryRun: dryRun.length === 0 ? undefined : dryRun,
      measurementRetention: retention.length === 0 ? undefined : retention,
      ttlStrategy: { secondsAfterCompletion: KEPT_S },
    }),
  };
}

/** Durations as Go reads them: a bare number of the template was seconds. */
function asWritten({ interval, initialDelay, ...metric }: TemplateMetric): Record<string, unknown> {
  return defined({
    ...metric,
    interval: interval === undefined ? undefined : goDuration(interval),
    initialDelay: initialDelay === undefined ? undefined : goDuration(initialDelay),
  });
}

function goDuration(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

function argument(arg: TemplateArgument, given: Asked["args"], sources: Sources): Record<string, unknown> {
  const told = given.find(({ name }) => name === arg.name)?.value ?? arg.value;
  if (told !== undefined) return { name: arg.name, value: told };
  const { secretKeyRef, fieldRef } = arg.valueFrom ?? {};
  // The controller reads the Secret; that the repo may use it is judged here, as for the builtin engine.
  if (secretKeyRef !== undefined) return { name: arg.name, valueFrom: { secretKeyRef } };
  const value = fieldRef === undefined ? undefined : sources.field(fieldRef.fieldPath);
  if (value === undefined) throw new AnalysisError({ code: "ANALYSIS_ARG", kind: "NoValue", name: arg.name });
  return { name: arg.name, value };
}

const number = z.number().catch(0);
const phase = z.enum(["Pending", "Running", "Successful", "Failed", "Inconclusive", "Error"]).catch("Pending");
const short = z
  .string()
  .transform((text) => maskSecrets(text, []))
  .optional()
  .catch(undefined);

const metricResult = z.object({
  name: z.string().catch(""),
  phase,
  message: short,
  dryRun: z.boolean().catch(false),
  count: number,
  successful: number,
  failed: number,
  inconclusive: number,
  error: number,
  measurements: z.array(z.object({ value: short, message: short, phase, startedAt: short, finishedAt: short })).catch([]),
});

const observed = z.object({
  metadata: z.object({
    name: z.string(),
    creationTimestamp: z.union([z.string(), z.date()]).optional(),
    annotations: z.record(z.string(), z.string()).catch({}),
  }),
  spec: z.object({
    metrics: z.array(z.looseObject({ name: z.string().catch(""), successCondition: short, failureCondition: short })).catch([]),
    terminate: z.boolean().catch(false),
  }),
  status: z
    .object({ phase, message: short, startedAt: z.string().optional().catch(undefined), metricResults: z.array(metricResult).catch([]) })
    .optional()
    .catch(undefined),
});

type SpecMetric = z.output<typeof observed>["spec"]["metrics"][number];

export interface SeenRun {
  name: string;
  id: string;
  state: AnalysisState;
}

/** An AnalysisRun as it is in the cluster; undefined: nothing of the kind. Times are Kubernetes', in whole seconds. */
export function seenRun(object: unknown, now: string): SeenRun | undefined {
  const read = observed.safeParse(object);
  if (!read.success) return undefined;
  const { metadata, spec, status } = read.data;
  const results = new Map((status?.metricResults ?? []).map((result) => [result.name, result]));
  const metrics = spec.metrics.map((metric) => metricState(metric, results.get(metric.name)));
  const runPhase = status?.phase ?? "Pending";
  const open = spec.metrics.filter((metric) => !isComplete(results.get(metric.name)?.phase ?? "Pending"));
  const endless = !isComplete(runPhase) && open.length > 0 && open.every((metric) => measuresOn(metric));
  const created = metadata.creationTimestamp;
  const startedAt = status?.startedAt ?? (created === undefined ? now : new Date(created).toISOString());
  return {
    name: metadata.name,
    id: metadata.annotations[MARK] ?? "",
    state: defined({
      phase: runPhase,
      message: status?.message ?? sentence(runPhase, metrics),
      startedAt,
      finishedAt: isComplete(runPhase) ? now : undefined,
      metrics,
      endless: endless ? (true as const) : undefined,
    }),
  };
}

/** An interval, and neither a count nor a number of successes that is enough. */
function measuresOn(metric: Record<string, unknown>): boolean {
  return isEndless({
    count: Number(metric["count"]),
    intervalMs: typeof metric["interval"] === "string" ? 1 : undefined,
    consecutiveSuccessLimit: Number(metric["consecutiveSuccessLimit"]),
  });
}

function metricState(metric: SpecMetric, result: z.output<typeof metricResult> | undefined): MetricState {
  const { name, successCondition, failureCondition } = metric;
  if (result === undefined) {
    return { name, phase: "Pending", dryRun: false, count: 0, successful: 0, failed: 0, inconclusive: 0, error: 0 };
  }
  const { measurements, message, ...counts } = result;
  const last = measurements.at(-1);
  const words = message ?? last?.message;
  return defined({
    ...counts,
    message: words,
    value: last?.value === undefined || last.value === "" ? undefined : last.value,
    successCondition: successCondition === "" ? undefined : successCondition,
    failureCondition: failureCondition === "" ? undefined : failureCondition,
    points: pointsOf(measurements),
  });
}

function sentence(runPhase: AnalysisPhase, metrics: readonly MetricState[]): string {
  if (runPhase === "Pending") return "Argo Rollouts has not begun it yet";
  if (runPhase === "Running") return "being measured by Argo Rollouts";
  if (runPhase === "Successful") return "every metric passed";
  const telling = metrics.find((metric) => metric.phase === runPhase && !metric.dryRun);
  return telling === undefined ? `Argo Rollouts says ${runPhase}` : `${telling.name}: ${telling.message ?? runPhase}`;
}

/** A template of the cluster as templates of a repo are read; undefined: it is none, or has parts that are not known here. */
export function withoutStatus(object: unknown): unknown {
  if (typeof object !== "object" || object === null) return object;
  const { apiVersion, kind, metadata, spec } = object as Partial<AnalysisTemplate>;
  return { apiVersion, kind, metadata: { name: metadata?.name }, spec };
}
