import { ExpressionError } from "../../../core/analysis/expr/values.ts";
import { firstAt } from "../../../core/analysis/json-path.ts";
import type { TemplateMetric } from "../../../core/analysis/template-schema.ts";
import { defined } from "../../../core/base/defined.ts";
import { sayExpression } from "../../../core/report/reasons/analysis.ts";
import { type OutboundAnswer, OutboundError, type OutboundPolicy, outbound } from "../../outbound/outbound.ts";
import { headersOf, type Measured, readJson } from "./provider.ts";

const TIMEOUT_S = 10;

/** The web provider: asks a URL and takes one value of its JSON answer. */
export async function measureWeb(policy: OutboundPolicy, web: NonNullable<TemplateMetric["provider"]["web"]>): Promise<Measured> {
  const method = web.method ?? "GET";
  if (web.body !== undefined && web.jsonBody !== undefined) return { error: "body and jsonBody are both given; use one" };
  const body = web.jsonBody === undefined ? web.body : JSON.stringify(web.jsonBody);
  if (body !== undefined && method === "GET") return { error: "a GET has no body; set method: POST" };
  const seconds = web.timeoutSeconds === undefined ? TIMEOUT_S : Number(web.timeoutSeconds);
  if (!Number.isFinite(seconds) || seconds < 0) return { error: `timeoutSeconds is ${String(web.timeoutSeconds).slice(0, 40)}` };
  const timeoutMs = (seconds === 0 ? TIMEOUT_S : Math.min(seconds, 600)) * 1000;
  try {
    const own = defined({ "content-type": web.jsonBody === undefined ? undefined : "application/json" });
    const headers = await headersOf(policy, own, web, timeoutMs);
    const insecure = web.insecure === true;
    const answer = await outbound(policy, defined({ url: web.url, method, headers, timeoutMs, insecure, body }));
    return read(answer, web.jsonPath);
  } catch (error) {
    if (error instanceof OutboundError) return { error: error.message };
    throw error;
  }
}

function read(answer: OutboundAnswer, jsonPath: string | undefined): Measured {
  if (answer.status < 200 || answer.status >= 300) return { error: `the answer has status ${answer.status}` };
  const json = readJson(answer.body);
  if (json === undefined) {
    if (answer.body.trim() === "") return { error: "the answer is empty" };
    const type = answer.contentType === "" ? "" : ` (${answer.contentType.slice(0, 60)})`;
    return { error: `the answer is no JSON${type}` };
  }
  if ("error" in json) return json;
  try {
    return { value: firstAt(jsonPath === "" ? undefined : jsonPath, json.document) };
  } catch (error) {
    if (error instanceof ExpressionError) return { error: sayExpression(error.reason) };
    throw error;
  }
}
