/** What the providers that ask over HTTP share: the headers of a request, and the answer as JSON. */
import type { z } from "zod";
import type { Value } from "../../../core/analysis/expr/values.ts";
import type { webSchema } from "../../../core/analysis/template-schema.ts";
import { OutboundError, type OutboundPolicy, outbound } from "../../outbound/outbound.ts";

/** What one measurement gave. `error`: it could not be taken, and why, for people. `outcome`: the provider judges by itself (a Job). */
export type Measured = { value: Value } | { error: string } | { outcome: "Successful" | "Failed"; message: string };

type Authentication = z.output<typeof webSchema>["authentication"];

/** The headers that a provider asks with: its own, then the template's, then what it authenticates by. */
export async function headersOf(
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
  if (token === undefined) throw new OutboundError("Unreachable", `no token was given (status ${answer.status})`);
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
export function readJson(text: string): { document: Value } | { error: string } | undefined {
  let document: Value;
  try {
    document = JSON.parse(text) as Value;
  } catch {
    return undefined;
  }
  return isDeeper(document, DEEPEST) ? { error: `the answer nests more than ${DEEPEST} levels deep` } : { document };
}

function isDeeper(value: Value, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const items = Array.isArray(value) ? value : Object.values(value);
  return items.some((item) => isDeeper(item, levels - 1));
}
