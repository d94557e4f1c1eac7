import { z } from "zod";
import type { TemplateMetric } from "../../../core/analysis/template-schema.ts";
import { type OutboundAnswer, OutboundError, type OutboundPolicy, outbound } from "../../outbound/outbound.ts";
import { headersOf, type Measured, readJson } from "./provider.ts";

const TIMEOUT_S = 30;

const sample = z.tuple([z.number(), z.string()]);
/** Of https://prometheus.io/docs/prometheus/latest/querying/api/: only what is read. */
const answerSchema = z.union([
  z.object({ status: z.literal("error"), error: z.string().optional() }),
  z.object({
    status: z.literal("success"),
    data: z.union([
      z.object({ resultType: z.literal("scalar"), result: sample }),
      z.object({ resultType: z.literal("vector"), result: z.array(z.object({ value: sample })) }),
      z.object({ resultType: z.literal("matrix"), result: z.array(z.object({ values: z.array(sample) })) }),
      z.object({ resultType: z.literal("string"), result: z.unknown() }),
    ]),
  }),
]);

/** The prometheus provider: an instant query gives a list of numbers (a scalar, one number), as conditions expect it. */
export async function measurePrometheus(
  policy: OutboundPolicy,
  prometheus: NonNullable<TemplateMetric["provider"]["prometheus"]>,
): Promise<Measured> {
  const { address, query } = prometheus;
  if (address === undefined || address === "") return { error: "prometheus.address is missing" };
  if (query === undefined || query === "") return { error: "prometheus.query is missing" };
  if (prometheus.rangeQuery !== undefined) return { error: "rangeQuery needs the argo-rollouts engine; write the range into the query" };
  const timeoutMs = (prometheus.timeout ?? TIMEOUT_S) * 1000;
  try {
    const own = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };
    const headers = await headersOf(policy, own, prometheus, timeoutMs);
    const answer = await outbound(policy, {
      url: `${address.replace(/\/+$/, "")}/api/v1/query`,
      method: "POST",
      headers,
      body: new URLSearchParams({ query }).toString(),
      timeoutMs,
      insecure: prometheus.insecure === true,
    });
    return read(answer);
  } catch (error) {
    if (error instanceof OutboundError) return { error: error.message };
    throw error;
  }
}

function read(answer: OutboundAnswer): Measured {
  const json = readJson(answer.body);
  if (json === undefined) return { error: `Prometheus answers with status ${answer.status} and no JSON` };
  if ("error" in json) return json;
  const { success, data } = answerSchema.safeParse(json.document);
  if (!success) return { error: `Prometheus answers with status ${answer.status}, and not as its API does` };
  if (data.status === "error") return { error: `Prometheus says: ${(data.error ?? "error").slice(0, 300)}` };
  switch (data.data.resultType) {
    case "scalar":
      return { value: numberOf(data.data.result) };
    case "vector":
      return { value: data.data.result.map(({ value }) => numberOf(value)) };
    case "matrix":
      // All values in one list, as Argo Rollouts hands them to the condition.
      return { value: data.data.result.flatMap(({ values }) => values.map(numberOf)) };
    case "string":
      return { error: "the query gives a text, not numbers" };
  }
}

/** Prometheus writes `NaN`, `+Inf` and `-Inf` besides numbers. */
function numberOf([, text]: readonly [number, string]): number {
  if (text === "+Inf" || text === "Inf") return Number.POSITIVE_INFINITY;
  return text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);
}
