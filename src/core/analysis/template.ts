import { isRecord } from "../base/is-record.ts";
import { nearest } from "../base/nearest.ts";
import type { Path, Problem } from "../reasons/problems/problem.ts";
import { validate } from "../spec/parse/validate.ts";
import { readYaml, type Source } from "../spec/parse/yaml.ts";
import { badCondition } from "./expr/evaluate.ts";
import { failureOf } from "./expr/values.ts";
import { parsePath } from "./json-path.ts";
import { limitsProblem } from "./metric-rules.ts";
import { type AnalysisTemplate, ARGUMENT, BUILTIN_PROVIDERS, type TemplateMetric, templateSchema } from "./template-schema.ts";

const MOST_SYNTAX_PROBLEMS = 3;

/**
 * Reads the AnalysisTemplates and ClusterAnalysisTemplates of a YAML text; documents of other kinds are passed over.
 * `builtin`: they are to be measured by the builtin engine, so what it lacks is an error that names it.
 */
export function readTemplates(text: string, file: string, options: { builtin: boolean }) {
  const { sources, problems: all } = readYaml(text, file);
  // A Helm template is one mistake, not a hundred.
  const problems = all.slice(0, MOST_SYNTAX_PROBLEMS);
  const templates: AnalysisTemplate[] = [];
  for (const source of sources) {
    if (!isRecord(source.data) || !/^(?:Cluster)?AnalysisTemplate$/.test(String(source.data["kind"]))) continue;
    const { value, findings } = validate(templateSchema, source.data);
    problems.push(...findings.map((finding) => source.place(finding)));
    if (value === undefined) continue;
    problems.push(...check(value, source, options.builtin));
    if (findings.length === 0) templates.push(value);
  }
  return { templates, problems };
}

function check(template: AnalysisTemplate, source: Source, builtin: boolean): Problem[] {
  const problems: Problem[] = [];
  const known = new Set((template.spec.args ?? []).map((arg) => arg.name));
  const names = new Set<string>();
  for (const [i, metric] of (template.spec.metrics ?? []).entries()) {
    const path = ["spec", "metrics", i];
    if (names.has(metric.name)) problems.push(source.place({ code: "ANALYSIS_DUPLICATE", name: metric.name, path: [...path, "name"] }));
    names.add(metric.name);
    problems.push(...unknownArgs(metric, known, source, path), ...bareDurations(source, i));
    const limits = limitsProblem(metric);
    if (limits !== undefined) problems.push(source.place({ code: "ANALYSIS_VALUE", ...limits.data, path: [...path, limits.field] }));
    const namespace = metric.provider.job?.metadata?.["namespace"];
    if (namespace !== undefined) {
      const at = [...path, "provider", "job", "metadata", "namespace"];
      problems.push(source.place({ code: "ANALYSIS_VALUE", kind: "Namespace", namespace: String(namespace).slice(0, 63), path: at }));
    }
    if (builtin) problems.push(...builtinOnly(metric, source, path));
  }
  if ((template.spec.metrics ?? []).length === 0 && (template.spec.templates ?? []).length === 0) {
    problems.push(source.place({ code: "ANALYSIS_EMPTY", path: ["spec"] }));
  }
  return problems;
}

/** `interval: 5` is seconds here, and what people copy; Argo Rollouts itself refuses it. */
function bareDurations(source: Source, index: number): Problem[] {
  const { metrics } = (source.data as { spec: { metrics: Record<string, unknown>[] } }).spec;
  return (["interval", "initialDelay"] as const).flatMap((field) => {
    const value = metrics[index]?.[field];
    if (!/^\d+$/.test(String(value))) return [];
    const path = ["spec", "metrics", index, field];
    return [source.place({ code: "BAD_DURATION", kind: "NoUnit", key: field, given: String(value), severity: "warning", path })];
  });
}

function unknownArgs(metric: unknown, known: ReadonlySet<string>, source: Source, path: Path): Problem[] {
  return textsIn(metric, path).flatMap(([text, at]) => {
    const names = [...text.matchAll(ARGUMENT)].map(([, name = ""]) => name).filter((name) => !known.has(name));
    return names.map((name) => source.place({ code: "ANALYSIS_UNKNOWN_ARG", name, near: nearest(name, [...known]), path: at }));
  });
}

function textsIn(value: unknown, path: Path): [text: string, at: Path][] {
  if (typeof value === "string") return [[value, path]];
  if (Array.isArray(value)) return value.flatMap((item, i) => textsIn(item, [...path, i]));
  return isRecord(value) ? Object.entries(value).flatMap(([key, item]) => textsIn(item, [...path, key])) : [];
}

function builtinOnly(metric: TemplateMetric, source: Source, path: Path): Problem[] {
  const problems: Problem[] = [];
  const [provider = ""] = Object.keys(metric.provider);
  if (!BUILTIN_PROVIDERS.some((known) => known === provider)) {
    const data = { kind: "Provider", provider, known: BUILTIN_PROVIDERS } as const;
    problems.push(source.place({ code: "ANALYSIS_PROVIDER", ...data, path: [...path, "provider", provider], atKey: true }));
  }
  for (const field of ["successCondition", "failureCondition"] as const) {
    const condition = metric[field];
    // A condition with arguments is read once they are filled in.
    if (condition === undefined || condition === "" || condition.includes("{{")) continue;
    const because = badCondition(condition);
    if (because !== undefined) problems.push(source.place({ code: "ANALYSIS_CONDITION", field, because, path: [...path, field] }));
  }
  const { web, prometheus } = metric.provider;
  if ((web?.authentication ?? prometheus?.authentication)?.sigv4 !== undefined) {
    const at = [...path, "provider", provider, "authentication", "sigv4"];
    problems.push(source.place({ code: "ANALYSIS_PROVIDER", kind: "Sigv4", path: at, atKey: true }));
  }
  const because = web?.jsonPath?.includes("{{") === false ? failureOf(() => parsePath(web.jsonPath)) : undefined;
  if (because !== undefined)
    problems.push(source.place({ code: "ANALYSIS_JSONPATH", because, path: [...path, "provider", "web", "jsonPath"] }));
  return problems;
}
