import { isRecord } from "../base/is-record.ts";
import { nearest } from "../base/nearest.ts";
import type { ReasonsOf } from "../base/reason.ts";
import type { AnalysisProblems } from "../reasons/problems/analysis.ts";
import { badCondition } from "./expr/evaluate.ts";
import { isEndless, type MetricRules } from "./metric.ts";
import { limitsProblem, metricRules, unusedRule } from "./metric-rules.ts";
import { type AnalysisTemplate, ARGUMENT, type TemplateArgument, type TemplateMetric } from "./template-schema.ts";

/** One analysis to run: the templates that were asked for as one list of metrics, every argument filled in. */
interface AnalysisRequest {
  metrics: { rules: MetricRules; metric: TemplateMetric }[];
  /** What must never be shown: values that came from secrets. */
  secrets: string[];
}

/** Why an analysis cannot be run as it stands. */
export class AnalysisError extends Error {
  override name = "AnalysisError";
  readonly reason: ReasonsOf<AnalysisProblems>;
  constructor(reason: ReasonsOf<AnalysisProblems>) {
    super(JSON.stringify(reason));
    this.reason = reason;
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
      if (metrics.has(raw.name)) throw new AnalysisError({ code: "ANALYSIS_TEMPLATE", kind: "SameMetric", name: raw.name });
      const metric = fill(raw, values, raw.name) as TemplateMetric;
      checkMetric(metric, foreign);
      metrics.set(raw.name, { metric, rules: metricRules(metric, templates) });
    }
  }
  if (metrics.size === 0) throw new AnalysisError({ code: "ANALYSIS_TEMPLATE", kind: "Nothing" });
  const unused = unusedRule(templates);
  if (unused !== undefined) throw new AnalysisError({ code: "ANALYSIS_VALUE", ...unused });
  return { metrics: [...metrics.values()], secrets };
}

function find(ref: Asked["templates"][number], all: readonly AnalysisTemplate[], above: readonly string[]): AnalysisTemplate[] {
  const templateKind = ref.clusterScope === true ? "ClusterAnalysisTemplate" : "AnalysisTemplate";
  const name = ref.templateName;
  const ofKind = all.filter((template) => template.kind === templateKind);
  const found = ofKind.find((template) => template.metadata.name === name);
  if (found === undefined) {
    const known = ofKind.map((template) => template.metadata.name);
    throw new AnalysisError({ code: "ANALYSIS_TEMPLATE", kind: "None", templateKind, name, known, near: nearest(name, known) });
  }
  if (above.includes(name) || above.length > DEEPEST)
    throw new AnalysisError({ code: "ANALYSIS_TEMPLATE", kind: "Circle", names: [...above, name] });
  const inner = found.spec.templates ?? [];
  return [found, ...inner.flatMap((child) => find(child, all, [...above, name]))];
}

function resolveArgs(templates: readonly AnalysisTemplate[], given: Asked["args"], sources: Sources) {
  const declared = declaredArgs(templates);
  for (const { name } of given) {
    if (declared.has(name)) continue;
    const known = [...declared.keys()];
    throw new AnalysisError({ code: "ANALYSIS_ARG", kind: "Unknown", name, known, near: nearest(name, known) });
  }
  const values = new Map<string, string>();
  const secrets: string[] = [];
  for (const arg of declared.values()) {
    const told = given.find(({ name }) => name === arg.name)?.value;
    const value = told ?? arg.value ?? fromElsewhere(arg, sources, secrets);
    if (value === undefined) throw new AnalysisError({ code: "ANALYSIS_ARG", kind: "NoValue", name: arg.name });
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
    if (value === undefined)
      throw new AnalysisError({ code: "ANALYSIS_SECRET", name: arg.name, secret: `${secretKeyRef.name}/${secretKeyRef.key}` });
    if (value !== "") secrets.push(value);
    return value;
  }
  return fieldRef === undefined ? undefined : sources.field(fieldRef.fieldPath);
}

/** Fills `{{args.NAME}}` in every text. What stands in a text stays text: a value cannot add fields. */
function fill(value: unknown, values: ReadonlyMap<string, string>, metric: string): unknown {
  if (typeof value === "string") {
    return value.replace(ARGUMENT, (_, name: string) => {
      const found = values.get(name);
      if (found === undefined)
        throw new AnalysisError({ code: "ANALYSIS_UNKNOWN_ARG", name, near: nearest(name, [...values.keys()]), metric });
      return found;
    });
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, values, metric));
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, values, metric)]));
  return value;
}

/** Throws AnalysisError where one of the metrics would be measured until it is stopped, and nothing stops it. */
export function refuseEndless(metrics: readonly MetricRules[]): void {
  const endless = metrics.find((rules) => isEndless(rules));
  if (endless !== undefined) throw new AnalysisError({ code: "ANALYSIS_ENDLESS", metric: endless.name, ofStep: false });
}

/** Throws AnalysisError where the metric's own conditions or limits cannot be. */
function checkMetric(metric: TemplateMetric, foreign: boolean): void {
  for (const field of foreign ? [] : (["successCondition", "failureCondition"] as const)) {
    const because = metric[field] === undefined || metric[field] === "" ? undefined : badCondition(metric[field]);
    if (because !== undefined) throw new AnalysisError({ code: "ANALYSIS_CONDITION", field, because, metric: metric.name });
  }
  const limits = limitsProblem(metric);
  if (limits !== undefined) throw new AnalysisError({ code: "ANALYSIS_VALUE", ...limits.data, metric: metric.name });
}
