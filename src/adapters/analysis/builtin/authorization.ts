import type { z } from "zod";
import type { webSchema } from "../../../core/analysis/template-schema.ts";
import { OutboundError, type OutboundPolicy, outbound } from "../../outbound/outbound.ts";

type Authentication = z.output<typeof webSchema>["authentication"];

/** The Authorization header of basicAuth or of OAuth 2's client credentials; none where none is asked for. */
export async function authorization(policy: OutboundPolicy, wanted: Authentication, timeoutMs: number): Promise<Record<string, string>> {
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
