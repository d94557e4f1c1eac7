/** `/login/oauth/access_token`: an App gets a person's token for a code, or a new one for the refresh token. Failures are answered 200. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyWithin } from "../../listen.ts";
import { clientId } from "../http/auth.ts";
import type { World } from "../model/model.ts";
import { tokensForCode, tokensForRefresh } from "./grants.ts";

const MOST_BYTES = 64 * 1024;

const WHY: Readonly<Record<string, string>> = {
  incorrect_client_credentials: "The client_id and/or client_secret passed are incorrect.",
  redirect_uri_mismatch: "The redirect_uri MUST match the registered callback URL for this application.",
  bad_verification_code: "The code passed is incorrect or expired.",
  bad_refresh_token: "The refresh token passed is incorrect or expired.",
  unsupported_grant_type: "The grant_type is not supported.",
};

export async function serveAccessToken(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const sent = await bodyWithin(request, MOST_BYTES);
  if (sent === undefined) return void response.writeHead(413).end();
  const fault = await world.faults.request?.({ method: "POST", path: "/login/oauth/access_token", actor: "anonymous" });
  const found = fault?.afterwards === false || fault === undefined ? answerTo(world, fieldsOf(request, sent.toString())) : "";
  if (fault !== undefined) return void response.writeHead(fault.status).end();
  const body =
    typeof found === "string" ? { error: found, error_description: WHY[found], error_uri: "https://docs.github.com/apps" } : found;
  const isJson = request.headers.accept?.includes("json") === true;
  const type = isJson ? "application/json; charset=utf-8" : "application/x-www-form-urlencoded; charset=utf-8";
  const entries = Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]);
  response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
  response.end(isJson ? JSON.stringify(body) : String(new URLSearchParams(entries)));
}

/** A form's, or JSON's. */
function fieldsOf({ headers }: IncomingMessage, text: string): URLSearchParams {
  if (headers["content-type"]?.startsWith("application/json") !== true) return new URLSearchParams(text);
  try {
    return new URLSearchParams(JSON.parse(text) as Record<string, string>);
  } catch {
    return new URLSearchParams();
  }
}

function answerTo(world: World, fields: URLSearchParams) {
  const app = [...world.apps.values()].find((one) => clientId(one) === fields.get("client_id"));
  if (app === undefined || app.clientSecret !== fields.get("client_secret")) return "incorrect_client_credentials";
  const kind = fields.get("grant_type") ?? "authorization_code";
  if (kind === "refresh_token") return tokensForRefresh(world, app, fields.get("refresh_token") ?? "");
  if (kind !== "authorization_code") return "unsupported_grant_type";
  const [callback, verifier] = [fields.get("redirect_uri") ?? undefined, fields.get("code_verifier") ?? undefined];
  return tokensForCode(world, app, { code: fields.get("code") ?? "", callback, verifier });
}
