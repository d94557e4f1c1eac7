/** The providers that the builtin engine asks over HTTP, web and prometheus: what they send, and what of the answer is measured. */
import { z } from "zod";
import { ExpressionError, type Value } from "../../../core/analysis/expr/values.ts";
import { firstAt } from "../../../core/analysis/json-path.ts";
import type { TemplateMetric, webSchema } from "../../../core/analysis/template-schema.ts";
import { defined } from "../../../core/base/defined.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { checkReason } from "../../../core/reasons/checks.ts";
import { type OutboundAnswer, OutboundError, type OutboundPolicy, outbound } from "../../outbound/outbound.ts";

/** What one measurement gave. `error`: why it could not be taken. `outcome`: the provider judges by itself (a Job). */
export type Measured = { value: Value } | { error: AnyReason } | { outcome: "Successful" | "Failed"; message: string };

type Authentication = z.output<typeof webSchema>["authentication"];

const WEB_TIMEOUT_S = 10;
const PROMETHEUS_TIMEOUT_S = 30;

/** The headers that a provider asks with: its own, then the template's, then what it authenticates by. */
async function headersOf(
  policy: OutboundPolicy,
  own: Readonly<Record<string, string>>,
  wanted: { headers?: readonly { key: string; value: string }[] | undefined; authentication?: Authentication },
  timeoutMs: number,
): Promise<Record<string, string>> {
  return {
    ...own,
    ...Object.fromEntries((wanted.headers ?? []).map(({ key, value }) => [key.toLowerCase(), value])),
    ...(await authorization(policy, wanted.authentication, timeoutMs)),
  };
}

/** The Authorization header of basicAuth or of OAuth 2's client credentials; none where none is asked for. */
async function authorization(policy: OutboundPolicy, wanted: Authentication, timeoutMs: number): Promise<Record<string, string>> {
  const { basicAuth, oauth2 } = wanted ?? {};
  if (basicAuth?.username !== undefined)
    return { authorization: `Basic ${Buffer.from(`${basicAuth.username}:${basicAuth.password ?? ""}`).toString("base64")}` };
  if (oauth2?.tokenUrl === undefined || oauth2.tokenUrl === "") return {};
  const form = new URLSearchParams({ grant_type: "client_credentials" });
  if (oauth2.scopes !== undefined) form.set("scope", oauth2.scopes.join(" "));
  const credentials = Buffer.from(`${encodeURIComponent(oauth2.clientId ?? "")}:${encodeURIComponent(oauth2.clientSecret ?? "")}`);
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    accept: "application/json",
    authorization: `Basic ${credentials.toString("base64")}`,
  };
  const answer = await outbound(policy, { url: oauth2.tokenUrl, method: "POST", headers, body: form.toString(), timeoutMs });
  const token = answer.status === 200 ? tokenOf(answer.body) : undefined;
  if (token === undefined) throw new OutboundError("Unreachable", checkReason("OUTBOUND_NO_TOKEN", { status: answer.status }));
  return { authorization: `Bearer ${token}` };
}

function tokenOf(body: string): string | undefined {
  try {
    const { access_token: token } = JSON.parse(body) as { access_token?: unknown };
    return typeof token === "string" && /^[\x21-\x7e]+$/.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}

/** How deep an answer may nest: no measurement is deeper, and what walks or writes it by recursion would otherwise run out of stack. */
const DEEPEST = 100;

/** An answer as JSON. `error`: why it cannot be taken. undefined: it is no JSON. */
function readJson(text: string): { document: Value } | { error: AnyReason } | undefined {
  let document: Value;
  try {
    document = JSON.parse(text) as Value;
  } catch {
    return undefined;
  }
  return isDeeper(document, DEEPEST) ? { error: checkReason("MEASURE_TOO_DEEP", { most: DEEPEST }) } : { document };
}

function isDeeper(value: Value, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const items = Array.isArray(value) ? value : Object.values(value);
  return items.some((item) => isDeeper(item, levels - 1));
}

/** The web provider: asks a URL and takes one value of its JSON answer. */
export async function measureWeb(policy: OutboundPolicy, web: NonNullable<TemplateMetric["provider"]["web"]>): Promise<Measured> {
  const method = web.method ?? "GET";
  if (web.body !== undefined && web.jsonBody !== undefined) return { error: checkReason("MEASURE_TWO_BODIES") };
  const body = web.jsonBody === undefined ? web.body : JSON.stringify(web.jsonBody);
  if (body !== undefined && method === "GET") return { error: checkReason("MEASURE_BODY_OF_GET") };
  const seconds = web.timeoutSeconds === undefined ? WEB_TIMEOUT_S : Number(web.timeoutSeconds);
  if (!Number.isFinite(seconds) || seconds < 0)
    return { error: checkReason("MEASURE_TIMEOUT", { given: String(web.timeoutSeconds).slice(0, 40) }) };
  const timeoutMs = (seconds === 0 ? WEB_TIMEOUT_S : Math.min(seconds, 600)) * 1000;
  try {
    const own = defined({ "content-type": web.jsonBody === undefined ? undefined : "application/json" });
    const headers = await headersOf(policy, own, web, timeoutMs);
    const insecure = web.insecure === true;
    const answer = await outbound(policy, defined({ url: web.url, method, headers, timeoutMs, insecure, body }));
    return readWeb(answer, web.jsonPath);
  } catch (error) {
    if (error instanceof OutboundError) return { error: error.reason };
    throw error;
  }
}

function readWeb(answer: OutboundAnswer, jsonPath: string | undefined): Measured {
  if (answer.status < 200 || answer.status >= 300) return { error: checkReason("MEASURE_STATUS", { status: answer.status }) };
  const json = readJson(answer.body);
  if (json === undefined) {
    if (answer.body.trim() === "") return { error: checkReason("MEASURE_EMPTY") };
    return { error: checkReason("MEASURE_NO_JSON", { type: answer.contentType.slice(0, 60) }) };
  }
  if ("error" in json) return json;
  try {
    return { value: firstAt(jsonPath === "" ? undefined : jsonPath, json.document) };
  } catch (error) {
    if (error instanceof ExpressionError) return { error: error.reason };
    throw error;
  }
}

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
  if (address === undefined || address === "") return { error: checkReason("MEASURE_NO_FIELD", { field: "prometheus.address" }) };
  if (query === undefined || query === "") return { error: checkReason("MEASURE_NO_FIELD", { field: "prometheus.query" }) };
  if (prometheus.rangeQuery !== undefined) return { error: checkReason("MEASURE_RANGE_QUERY") };
  const timeoutMs = (prometheus.timeout ?? PROMETHEUS_TIMEOUT_S) * 1000;
  try {
    const own = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };
    const headers = await headersOf(policy, own, prometheus, timeoutMs);
    const answer = await outbound(policy, {
      url: `${address.replace(/(?<!\/)\/+$/, "")}/api/v1/query`,
      method: "POST",
      headers,
      body: new URLSearchParams({ query }).toString(),
      timeoutMs,
      insecure: prometheus.insecure === true,
    });
    return readPrometheus(answer);
  } catch (error) {
    if (error instanceof OutboundError) return { error: error.reason };
    throw error;
  }
}

function readPrometheus(answer: OutboundAnswer): Measured {
  const json = readJson(answer.body);
  if (json === undefined) return { error: checkReason("MEASURE_NO_PROMETHEUS", { status: answer.status }) };
  if ("error" in json) return json;
  const { success, data } = answerSchema.safeParse(json.document);
  if (!success) return { error: checkReason("MEASURE_NO_PROMETHEUS", { status: answer.status }) };
  if (data.status === "error") return { error: checkReason("MEASURE_PROMETHEUS", { said: (data.error ?? "error").slice(0, 300) }) };
  switch (data.data.resultType) {
    case "scalar":
      return { value: numberOf(data.data.result) };
    case "vector":
      return { value: data.data.result.map(({ value }) => numberOf(value)) };
    case "matrix":
      // All values in one list, as Argo Rollouts hands them to the condition.
      return { value: data.data.result.flatMap(({ values }) => values.map(numberOf)) };
    case "string":
      return { error: checkReason("MEASURE_TEXT") };
  }
}

/** Prometheus writes `NaN`, `+Inf` and `-Inf` besides numbers. */
function numberOf([, text]: readonly [number, string]): number {
  if (text === "+Inf" || text === "Inf") return Number.POSITIVE_INFINITY;
  return text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);
}
