/** The limits of a metric, as Argo Rollouts' controller judges them, and the rules that name metrics by a pattern. */
import { RE2JS, RE2JSException } from "re2js";
import type { ProblemData } from "../reasons/problems/problem.ts";
import { DEFAULT_ERROR_LIMIT, DEFAULT_RETENTION, type MetricRules } from "./metric.ts";
import type { AnalysisTemplate, TemplateMetric } from "./template-schema.ts";

const LIMITS = ["count", "failureLimit", "inconclusiveLimit", "consecutiveErrorLimit", "consecutiveSuccessLimit"] as const;
const LONGEST_PATTERN = 200;

interface LimitsProblem {
  field: (typeof LIMITS)[number] | "interval";
  data: ProblemData<"ANALYSIS_VALUE">;
}

/**
 * Why the limits of a metric cannot be: what Argo Rollouts' controller refuses too, once the AnalysisRun is there (its
 * `ValidateMetric`). What is still a template is not judged. undefined: they can be.
 */
export function limitsProblem(metric: TemplateMetric): LimitsProblem | undefined {
  if (LIMITS.some((field) => typeof metric[field] === "string" && metric[field].includes("{{"))) return undefined;
  for (const field of LIMITS) {
    const value = metric[field];
    if (value === undefined || value === "") continue;
    const least = field === "failureLimit" ? -1 : 0;
    if (!Number.isSafeInteger(Number(value)) || Number(value) < least)
      return { field, data: { kind: "NotWhole", field, given: String(value).slice(0, 40), least } };
  }
  const [count = 0, failures = 0, inconclusive = 0, , successes = 0] = LIMITS.map((field) => Number(metric[field] ?? 0));
  if (failures === -1 && successes === 0) return { field: "failureLimit", data: { kind: "Undecided" } };
  if (count === 0) return undefined;
  const least = Math.max(0, failures) + successes;
  if (count < least) return { field: "count", data: { kind: "FewerThanLimits", count, least } };
  if (count < inconclusive) return { field: "count", data: { kind: "FewerThanInconclusive", count, limit: inconclusive } };
  return count > 1 && metric.interval === undefined ? { field: "interval", data: { kind: "NoInterval", count } } : undefined;
}

/** The rules of a metric whose limits can be, among the templates that are run together. */
export function metricRules(metric: TemplateMetric, templates: readonly AnalysisTemplate[]): MetricRules {
  const number = (field: (typeof LIMITS)[number]) =>
    metric[field] === undefined || metric[field] === "" ? undefined : Number(metric[field]);
  const isMeant = ({ metricName }: { metricName: string }) => readPattern(metricName).matches?.(metric.name) === true;
  return {
    name: metric.name,
    intervalMs: metric.interval,
    initialDelayMs: metric.initialDelay,
    count: number("count"),
    failureLimit: number("failureLimit") ?? 0,
    inconclusiveLimit: number("inconclusiveLimit") ?? 0,
    consecutiveErrorLimit: number("consecutiveErrorLimit") ?? DEFAULT_ERROR_LIMIT,
    consecutiveSuccessLimit: number("consecutiveSuccessLimit") ?? 0,
    dryRun: templates.some(({ spec }) => spec.dryRun?.some(isMeant)),
    // As Argo Rollouts reads it: 0 is the default.
    retention: templates.flatMap(({ spec }) => spec.measurementRetention ?? []).findLast(isMeant)?.limit || DEFAULT_RETENTION,
  };
}

/** A rule of `dryRun` or `measurementRetention` that no metric goes by, which Argo Rollouts takes for an error; undefined: there is none. */
export function unusedRule(templates: readonly AnalysisTemplate[]): ProblemData<"ANALYSIS_VALUE"> | undefined {
  const names = templates.flatMap(({ spec }) => spec.metrics ?? []).map(({ name }) => name);
  for (const rule of ["dryRun", "measurementRetention"] as const) {
    for (const { metricName: pattern } of templates.flatMap(({ spec }): { metricName: string }[] => spec[rule] ?? [])) {
      const { matches, said } = readPattern(pattern);
      if (matches === undefined) return { kind: "BadPattern", rule, said, most: LONGEST_PATTERN };
      if (!names.some(matches)) return { kind: "NoMetric", rule, pattern, known: names.slice(0, 5) };
    }
  }
  return undefined;
}

/** Whether any part of a name is as the pattern says, as Go's `regexp.MatchString` does; `said`: why the pattern is none. */
function readPattern(pattern: string): { matches?: (name: string) => boolean; said?: string } {
  if (pattern.length > LONGEST_PATTERN) return {};
  try {
    const expression = RE2JS.compile(pattern);
    return { matches: (name) => expression.matcher(name).find() };
  } catch (error) {
    if (error instanceof RE2JSException) return { said: error.message };
    throw error;
  }
}
