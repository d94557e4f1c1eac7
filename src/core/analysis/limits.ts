import type { TemplateMetric } from "./template-schema.ts";

type Limits = Pick<
  TemplateMetric,
  "count" | "interval" | "failureLimit" | "inconclusiveLimit" | "consecutiveErrorLimit" | "consecutiveSuccessLimit"
>;

export interface LimitsProblem {
  field: "count" | "interval" | "failureLimit" | "inconclusiveLimit" | "consecutiveErrorLimit" | "consecutiveSuccessLimit";
  message: string;
}

const FIELDS = ["count", "failureLimit", "inconclusiveLimit", "consecutiveErrorLimit", "consecutiveSuccessLimit"] as const;

/**
 * Why the limits of a metric cannot be: what Argo Rollouts' controller refuses too, once the AnalysisRun is there (its
 * `ValidateMetric`). What is still a template is not judged. undefined: they can be.
 */
export function limitsProblem(metric: Limits): LimitsProblem | undefined {
  if (FIELDS.some((field) => typeof metric[field] === "string" && metric[field].includes("{{"))) return undefined;
  for (const field of FIELDS) {
    const value = metric[field];
    if (value === undefined || value === "") continue;
    const least = field === "failureLimit" ? -1 : 0;
    if (!Number.isSafeInteger(Number(value)) || Number(value) < least)
      return { field, message: `${field} is ${String(value).slice(0, 40)}, and wants a whole number from ${least}` };
  }
  const of = (field: (typeof FIELDS)[number]) => Number(metric[field] ?? 0);
  const [count, failures, successes] = [of("count"), of("failureLimit"), of("consecutiveSuccessLimit")];
  if (failures === -1 && successes === 0)
    return { field: "failureLimit", message: "failureLimit is -1 and consecutiveSuccessLimit 0, so nothing would decide" };
  if (count === 0) return undefined;
  const least = Math.max(0, failures) + successes;
  if (count < least) return { field: "count", message: `count is ${count}, and failureLimit + consecutiveSuccessLimit are ${least}` };
  if (count < of("inconclusiveLimit"))
    return { field: "count", message: `count is ${count}, and inconclusiveLimit ${of("inconclusiveLimit")}` };
  if (count > 1 && metric.interval === undefined) return { field: "interval", message: `count is ${count}, and there is no interval` };
  return undefined;
}
