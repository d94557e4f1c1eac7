import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { defined } from "../../../core/base/defined.ts";
import { errorText } from "../../../core/base/error-text.ts";
import { bodyWithin } from "../../listen.ts";
import type { Actor, Exchange, World } from "../model/model.ts";
import { fullName } from "../model/world.ts";
import { ROUTES } from "../routes/all.ts";
import { whoAsks } from "./auth.ts";
import { ApiFailure, notFound } from "./failure.ts";
import { countRequest, mustHaveLeft, rateHeaders, resourceOf } from "./rate-limit.ts";
import { type Answer, createRouter, type Router } from "./router.ts";

const MAX_REQUEST = 40 * 1024 * 1024;
const VERSIONS = ["2022-11-28", "2026-03-10"];

type ApiHandler = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void>;

/** What is known of a request by the time it is answered. */
interface Seen {
  method: string;
  path: string;
  actor?: Actor;
  route?: string;
  body?: unknown;
}

/** The API: who asks, what for, and the headers GitHub puts on every answer. */
export function createApi(world: World): ApiHandler {
  const router = createRouter(ROUTES);
  return async (request, response, url) => {
    const seen: Seen = { method: request.method ?? "GET", path: url.pathname };
    let answer: Answer;
    try {
      seen.actor = whoAsks(world, request.headers.authorization);
      answer = await answerTo(world, router, seen, seen.actor, request, url);
    } catch (error) {
      answer = failureAnswer(error);
    }
    send(world, seen, request, response, answer);
  };
}

async function answerTo(world: World, router: Router, seen: Seen, actor: Actor, request: IncomingMessage, url: URL): Promise<Answer> {
  const asked = request.headers["x-github-api-version"];
  const version = typeof asked === "string" ? asked : (VERSIONS[0] ?? "");
  if (!VERSIONS.includes(version)) throw new ApiFailure(400, `The 'X-GitHub-Api-Version' header value of '${version}' is not supported`);
  const path = plainPath(world, url.pathname);
  const { method } = seen;
  seen.path = path;
  if (path !== "/rate_limit") mustHaveLeft(world, actor, { method, path });
  const sent = await bodyWithin(request, MAX_REQUEST);
  if (sent === undefined) throw new ApiFailure(413, "Payload too large");
  const raw = sent.toString();
  const fault = await world.faults.request?.({ method, path, actor: actor.user.login });
  const scripted =
    fault === undefined
      ? undefined
      : { status: fault.status, body: fault.body ?? { message: "Server Error" }, headers: fault.headers ?? {} };
  if (scripted !== undefined && fault?.afterwards !== true) return scripted;
  const found = router(method, path);
  if (found === undefined) throw notFound();
  seen.body = parseBody(raw);
  seen.route = found.route.path;
  const body = seen.body as Record<string, unknown>;
  const accept = request.headers.accept ?? "";
  const call = { world, actor, params: found.params, query: url.searchParams, body, path, method, version, accept };
  const answer = await found.route.handle(call);
  if (scripted === undefined) return answer;
  // What was made up is nobody's to check.
  delete seen.route;
  return scripted;
}

/** Without the prefix of an Enterprise Server's API, and with a repository's number turned into its name. */
function plainPath(world: World, pathname: string): string {
  const path = pathname.replace(/^\/api\/v3(?=\/|$)/, "") || "/";
  const [, id] = /^\/repositories\/(\d+)(?=\/|$)/.exec(path) ?? [];
  if (id === undefined) return path;
  const repo = [...world.repos.values()].find((one) => one.id === Number(id));
  if (repo === undefined) throw notFound();
  return path.replace(/^\/repositories\/\d+/, `/repos/${fullName(repo)}`);
}

function parseBody(raw: string): Record<string, unknown> {
  if (raw.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(raw);
    if (Array.isArray(value)) return { labels: value };
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    throw new ApiFailure(400, "Problems parsing JSON");
  }
  throw new ApiFailure(400, "Body should be a JSON object");
}

function failureAnswer(error: unknown): Answer {
  if (!(error instanceof ApiFailure)) {
    const message = errorText(error);
    return { status: 500, body: { message: `The embedded GitHub has a fault: ${message}` } };
  }
  const body = defined({
    message: error.message,
    errors: error.errors,
    documentation_url: "https://docs.github.com/rest",
    status: String(error.status),
    ...error.more,
  });
  return { status: error.status, body, headers: error.headers };
}

function send(world: World, seen: Seen, request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const text = answer.body === undefined ? "" : JSON.stringify(answer.body);
  const etag = `W/"${createHash("sha256")
    .update(answer.raw ?? text)
    .digest("hex")}"`;
  const readable = request.method === "GET" && answer.status === 200;
  const same = readable && sameTag(request.headers["if-none-match"], etag);
  const { actor } = seen;
  const resource = resourceOf(seen.path);
  if (actor !== undefined && !same && seen.path !== "/rate_limit") countRequest(world, actor, resource);
  const headers: Record<string, string> = defined({
    ...fixedHeaders(request),
    ...(actor === undefined ? {} : rateHeaders(world, actor, resource)),
    etag: answer.status === 200 || answer.status === 201 ? etag : undefined,
    "cache-control": answer.status === 200 || answer.status === 201 ? "private, max-age=60, s-maxage=60" : undefined,
    ...locationOf(answer),
    ...answer.headers,
  });
  // As the receiver sees it: whoever checks it must not be fooled by what JSON leaves out.
  world.onExchange?.({
    method: seen.method,
    path: seen.path,
    actor: actor?.user.login,
    token: tokenShown(world, actor),
    // What is no JSON is nobody's to check.
    route: answer.raw === undefined ? seen.route : undefined,
    requestHeaders: request.headers,
    requestBody: seen.body,
    status: same ? 304 : answer.status,
    headers,
    body: text === "" || same ? undefined : JSON.parse(text),
  });
  if (same) response.writeHead(304, headers).end();
  else write(response, answer, headers, text);
}

function write(response: ServerResponse, { status, raw, body }: Answer, headers: Record<string, string>, text: string): void {
  if (raw !== undefined) response.writeHead(status, { ...headers, "content-type": "application/vnd.github.raw; charset=utf-8" }).end(raw);
  else if (body === undefined) response.writeHead(status, headers).end();
  else {
    const about = { "content-type": "application/json; charset=utf-8", "content-length": Buffer.byteLength(text) };
    response.writeHead(status, { ...headers, ...about }).end(text);
  }
}

function tokenShown({ repos }: World, actor: Actor | undefined): Exchange["token"] {
  if (actor?.kind !== "installation") return undefined;
  const names = [...repos.values()].filter(({ id }) => actor.repositories?.has(id)).map(fullName);
  return { repositories: actor.repositories && names, permissions: actor.permissions ?? {} };
}

/** What was made is named by its address. */
function locationOf(answer: Answer): Record<string, string> {
  const body = answer.status === 201 && typeof answer.body === "object" && answer.body !== null ? answer.body : {};
  const { url } = body as { url?: unknown };
  return typeof url === "string" ? { location: url } : {};
}

function fixedHeaders(request: IncomingMessage): Record<string, string> {
  const id = randomBytes(14).toString("hex").toUpperCase();
  return {
    "x-github-request-id": id.replace(/(.{4})(.{6})(.{7})/, "$1:$2:$3:"),
    "x-github-media-type": "github.v3; format=json",
    "x-github-api-version-selected": String(request.headers["x-github-api-version"] ?? VERSIONS[0]),
    vary: "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With",
  };
}

function sameTag(header: string | undefined, etag: string): boolean {
  const bare = (tag: string) => tag.trim().replace(/^W\//, "");
  return header?.split(",").some((tag) => bare(tag) === bare(etag)) ?? false;
}
