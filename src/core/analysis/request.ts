import { isRecord } from "../base/is-record.ts";
import { nearest } from "../base/nearest.ts";
import { badCondition } from "./expr/check-names.ts";
import { limitsProblem } from "./limits.ts";
import { DEFAULT_ERROR_LIMIT, DEFAULT_RETENTION, isEndless, type MetricRules } from "./metric.ts";
import { matchesName, PatternError } from "./name-pattern.ts";
import { type AnalysisTemplate, ARGUMENT, type TemplateArgument, type TemplateMetric } from "./template-schema.ts";

/** One analysis to run: the templates that were asked for as one list of metrics, every argument filled in. */
export interface AnalysisRequest {
  metrics: { rules: MetricRules; metric: TemplateMetric }[];
  /** What must never be shown: values that came from secrets. */
  secrets: string[];
}

/** Why an analysis cannot be run as it stands: for people, naming what is missing. */
export class AnalysisError extends Error {
  override name = "AnalysisError";
  readonly code: "ANALYSIS_TEMPLATE" | "ANALYSIS_ARG" | "ANALYSIS_VALUE" | "ANALYSIS_SECRET" | "ANALYSIS_ENDLESS";
  constructor(code: AnalysisError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export interface Asked {
  templates: readonly { templateName: string; clusterScope?: boolean | undefined }[];
  args: readonly { name: string; value: string }[];
}

export interface Sources {
  templates: readonly AnalysisTemplate[];
  /** Value of a secret's key; undefined: there is none, or it may not be read. */
  secret(name: string, key: string): string | undefined;
  /** What a fieldRef names, e.g. `metadata.labels['region']`; undefined: nothing. */
  field(path: string): string | undefined;
}

const DEEPEST = 10;

/** The templates asked for, each followed by those it names. Throws AnalysisError. */
export function templatesFor(asked: Pick<Asked, "templates">, all: readonly AnalysisTemplate[]): AnalysisTemplate[] {
  return asked.templates.flatMap((ref) => find(ref, all, []));
}

/** The arguments that templates declare: where several do, the first with a value. */
export function declaredArgs(templates: readonly AnalysisTemplate[]): Map<string, TemplateArgument> {
  const declared = new Map<string, TemplateArgument>();
  for (const template of templates)
    for (const arg of template.spec.args ?? []) if (!hasValue(declared.get(arg.name))) declared.set(arg.name, arg);
  return declared;
}

/** Puts templates and arguments together. `foreign`: another engine measures, so conditions are its own affair. Throws AnalysisError. */
export function prepare(asked: Asked, sources: Sources, foreign = false): AnalysisRequest {
  const templates = templatesFor(asked, sources.templates);
  const { values, secrets } = resolveArgs(templates, asked.args, sources);
  const metrics = new Map<string, { rules: MetricRules; metric: TemplateMetric }>();
  for (const template of templates) {
    for (const raw of template.spec.metrics ?? []) {
      if (metrics.has(raw.name)) throw new AnalysisError("ANALYSIS_TEMPLATE", `two of the templates have a metric called ${raw.name}`);
      const metric = fill(raw, values, `metric ${raw.name}`) as TemplateMetric;
      metrics.set(raw.name, { metric, rules: rulesOf(metric, templates, foreign) });
    }
  }
  if (metrics.size === 0) throw new AnalysisError("ANALYSIS_TEMPLATE", "the templates measure nothing");
  const unused = unusedRule(templates);
  if (unused !== undefined) throw new AnalysisError("ANALYSIS_VALUE", unused);
  return { metrics: [...metrics.values()], secrets };
}

function find(ref: Asked["templates"][number], all: readonly AnalysisTemplate[], above: readonly string[]): AnalysisTemplate[] {
  const kind = ref.clusterScope === true ? "ClusterAnalysisTemplate" : "AnalysisTemplate";
  const found = all.find((template) => template.kind === kind && template.metadata.name === ref.templateName);
  if (found === undefined) {
    const near = nearest(
      ref.templateName,
      all.filter((template) => template.kind === kind).map((template) => template.metadata.name),
    );
    const meant = near === undefined ? "" : `; did you mean ${near}?`;
    throw new AnalysisError("ANALYSIS_TEMPLATE", `there is no ${kind} called ${ref.templateName}${meant}`);
  }
  if (above.includes(ref.templateName) || above.length > DEEPEST)
    throw new AnalysisError("ANALYSIS_TEMPLATE", `templates name each other in a circle: ${[...above, ref.templateName].join(" → ")}`);
  const inner = found.spec.templates ?? [];
  return [found, ...inner.flatMap((child) => find(child, all, [...above, ref.templateName]))];
}

function resolveArgs(
  templates: readonly AnalysisTemplate[],
  given: Asked["args"],
  sources: Sources,
): { values: Map<string, string>; secrets: string[] } {
  const declared = declaredArgs(templates);
  for (const { name } of given) {
    if (declared.has(name)) continue;
    const near = nearest(name, [...declared.keys()]);
    const hint = near === undefined ? `they declare ${[...declared.keys()].join(", ") || "none"}` : `did you mean ${near}?`;
    throw new AnalysisError("ANALYSIS_ARG", `no template has an argument called ${name}; ${hint}`);
  }
  const values = new Map<string, string>();
  const secrets: string[] = [];
  for (const arg of declared.values()) {
    const told = given.find(({ name }) => name === arg.name)?.value;
    const value = told ?? arg.value ?? fromElsewhere(arg, sources, secrets);
    if (value === undefined) throw new AnalysisError("ANALYSIS_ARG", `the argument ${arg.name} has no value; give it one under args`);
    values.set(arg.name, value);
  }
  return { values, secrets };
}

export function hasValue(arg: TemplateArgument | undefined): boolean {
  return arg !== undefined && (arg.value !== undefined || arg.valueFrom !== undefined);
}

function fromElsewhere(arg: TemplateArgument, sources: Sources, secrets: string[]): string | undefined {
  const { secretKeyRef, fieldRef } = arg.valueFrom ?? {};
  if (secretKeyRef !== undefined) {
    const value = sources.secret(secretKeyRef.name, secretKeyRef.key);
    if (value === undefined) {
      const place = `${secretKeyRef.name}/${secretKeyRef.key}`;
      throw new AnalysisError("ANALYSIS_SECRET", `the argument ${arg.name} wants the secret ${place}, which is not there or not allowed`);
    }
    if (value !== "") secrets.push(value);
    return value;
  }
  return fieldRef === undefined ? undefined : sources.field(fieldRef.fieldPath);
}

/** Fills `{{args.NAME}}` in every text. What stands in a text stays text: a value cannot add fields. */
function fill(value: unknown, values: ReadonlyMap<string, string>, where: string): unknown {
  if (typeof value === "string") {
    return value.replace(ARGUMENT, (_, name: string) => {
      const found = values.get(name);
      if (found === undefined) throw new AnalysisError("ANALYSIS_ARG", `${where}: args.${name} is not declared`);
      return found;
    });
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, values, where));
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, values, where)]));
  return value;
}

/** Throws AnalysisError where one of the metrics would be measured until it is stopped, and nothing stops it. */
export function refuseEndless(metrics: readonly MetricRules[]): void {
  const endless = metrics.find((rules) => isEndless(rules));
  if (endless === undefined) return;
  const hint = "give it a count, run it with when: [Background], or after batches that bake";
  throw new AnalysisError("ANALYSIS_ENDLESS", `metric ${endless.name} has an interval and no count, so it never ends by itself; ${hint}`);
}

function rulesOf(metric: TemplateMetric, all: readonly AnalysisTemplate[], foreign: boolean): MetricRules {
  for (const condition of foreign ? [] : [metric.successCondition, metric.failureCondition]) {
    const bad = condition === undefined || condition === "" ? undefined : badCondition(condition);
    if (bad !== undefined) throw new AnalysisError("ANALYSIS_VALUE", `metric ${metric.name}: ${bad}`);
  }
  const limits = limitsProblem(metric);
  if (limits !== undefined) throw new AnalysisError("ANALYSIS_VALUE", `metric ${metric.name}: ${limits.message}`);
  const number = (field: Counted) => (metric[field] === undefined || metric[field] === "" ? undefined : Number(metric[field]));
  const count = number("count");
  const retention = all.flatMap((t) => t.spec.measurementRetention ?? []).findLast((r) => named(r.metricName, metric.name))?.limit;
  return {
    name: metric.name,
    ...(metric.interval === undefined ? {} : { intervalMs: metric.interval }),
    ...(metric.initialDelay === undefined ? {} : { initialDelayMs: metric.initialDelay }),
    ...(count === undefined ? {} : { count }),
    failureLimit: number("failureLimit") ?? 0,
    inconclusiveLimit: number("inconclusiveLimit") ?? 0,
    consecutiveErrorLimit: number("consecutiveErrorLimit") ?? DEFAULT_ERROR_LIMIT,
    consecutiveSuccessLimit: number("consecutiveSuccessLimit") ?? 0,
    dryRun: all.flatMap((t) => t.spec.dryRun ?? []).some((d) => named(d.metricName, metric.name)),
    // As Argo Rollouts reads it: 0 is the default.
    retention: retention === undefined || retention === 0 ? DEFAULT_RETENTION : retention,
  };
}

function named(pattern: string, name: string): boolean {
  try {
    return matchesName(pattern, name);
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}

/** A rule of `dryRun` or `measurementRetention` that no metric goes by, which Argo Rollouts takes for an error; undefined: there is none. */
export function unusedRule(templates: readonly AnalysisTemplate[]): string | undefined {
  const names = templates.flatMap(({ spec }) => spec.metrics ?? []).map(({ name }) => name);
  for (const field of ["dryRun", "measurementRetention"] as const) {
    for (const { metricName } of templates.flatMap(({ spec }): { metricName: string }[] => spec[field] ?? [])) {
      try {
        if (names.some((name) => matchesName(metricName, name))) continue;
      } catch (error) {
        if (error instanceof PatternError) return `${field}: ${error.message}`;
        throw error;
      }
      return `${field}: no metric is called ${metricName}; there are ${names.slice(0, 5).join(", ")}`;
    }
  }
  return undefined;
}

type Counted = "count" | "failureLimit" | "inconclusiveLimit" | "consecutiveErrorLimit" | "consecutiveSuccessLimit";
