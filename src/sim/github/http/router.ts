import { defined } from "../../../core/base/defined.ts";
import type { Actor, Repo, World } from "../model/model.ts";
import { findRepo, movedRepo } from "../model/world.ts";
import { accepted, mustHave, type Need } from "./auth.ts";
import { ApiFailure, invalid, notFound } from "./failure.ts";

/** One request, on its way to a route. */
export interface Call {
  world: World;
  actor: Actor;
  params: Record<string, string>;
  query: URLSearchParams;
  body: Record<string, unknown>;
  method: string;
  /** Without the query. */
  path: string;
  /** Of the API, as asked for: `2022-11-28` where nothing was said. */
  version: string;
  /** Media types asked for. */
  accept: string;
}

export interface RepoCall extends Call {
  repo: Repo;
}

export interface Answer {
  status: number;
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  raw?: Buffer;
  headers?: Record<string, string>;
}

export interface Route {
  method: string;
  /** `/repos/:owner/:repo/git/ref/*ref`: a colon takes one segment, a star the rest. */
  path: string;
  handle(call: Call): Promise<Answer> | Answer;
}

export function ok(body: unknown): Answer {
  return { status: 200, body };
}

export function created(body: unknown): Answer {
  return { status: 201, body };
}

export const NO_CONTENT: Answer = { status: 204 };

export const READ = (...permissions: string[]): Need => ({ permissions, level: "read", role: "read" });
export const WRITE = (...permissions: string[]): Need => ({ permissions, level: "write", role: "write" });
/** Open to every account that can see the repository, and to Apps with the permission. */
export const TAKE_PART = (...permissions: string[]): Need => ({ permissions, level: "write", role: "read" });

/** Open to administrators, and to Apps with `administration`. */
export const ADMIN: Need = { permissions: ["administration"], level: "write", role: "admin" };

/** A route below `/repos/OWNER/NAME`, open to those who have `need`. */
export function repoRoute(method: string, path: string, need: Need, handle: (call: RepoCall) => Promise<Answer> | Answer): Route {
  return {
    method,
    path: `/repos/:owner/:repo${path}`,
    handle(call) {
      const repo = findRepo(call.world, call.params["owner"] ?? "", call.params["repo"] ?? "");
      if (repo === undefined) throw movedOr404(call);
      mustHave(repo, call.actor, need);
      if (repo.archived && need.level === "write" && need.permissions[0] !== "administration")
        throw new ApiFailure(403, "Repository was archived so is read-only.");
      return withPermissions(handle({ ...call, repo }), call.actor, need);
    },
  };
}

/** GitHub says with every answer to an App's token which permission it went by. */
async function withPermissions(answer: Promise<Answer> | Answer, actor: Actor, need: Need): Promise<Answer> {
  const given = await answer;
  if (actor.kind !== "installation") return given;
  return { ...given, headers: { "x-accepted-github-permissions": accepted(need), ...given.headers } };
}

/** A renamed repository's old name leads to its number for good. */
function movedOr404(call: Call): ApiFailure {
  const { owner = "", repo: name = "" } = call.params;
  const repo = movedRepo(call.world, owner, name);
  if (repo === undefined) return notFound();
  try {
    mustHave(repo, call.actor, READ("metadata"));
  } catch {
    return notFound();
  }
  return moved(call, repo);
}

function moved(call: Call, repo: Repo): ApiFailure {
  const rest = call.path.replace(/^\/repos\/[^/]+\/[^/]+/, "");
  const query = call.query.size === 0 ? "" : `?${call.query}`;
  const url = `${call.world.origin}/repositories/${repo.id}${rest}${query}`;
  const permanent = call.method === "GET" || call.method === "HEAD";
  const message = permanent ? "Moved Permanently" : "Temporary Redirect";
  return new ApiFailure(permanent ? 301 : 307, message, undefined, { location: url }, { url });
}

type Routed<R> = (method: string, path: string) => { route: R; params: Record<string, string> } | undefined;
export type Router = Routed<Route>;

export function createRouter<R extends Pick<Route, "method" | "path">>(routes: readonly R[]): Routed<R> {
  const compiled = routes.map((route) => ({ route, segments: route.path.slice(1).split("/") }));
  return (method, path) => {
    const parts = path.slice(1).split("/");
    for (const { route, segments } of compiled) {
      if (route.method !== method) continue;
      const params = match(segments, parts);
      if (params !== undefined) return { route, params };
    }
    return undefined;
  };
}

function match(segments: readonly string[], parts: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    if (segment.startsWith("*")) {
      params[segment.slice(1)] = parts.slice(index).map(decode).join("/");
      return params;
    }
    const part = parts[index];
    if (part === undefined) return undefined;
    if (segment.startsWith(":")) params[segment.slice(1)] = decode(part);
    else if (segment !== part) return undefined;
  }
  return segments.length === parts.length ? params : undefined;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw notFound();
  }
}

/** The number in the path; what is no number names nothing. */
export function numberParam(call: Call, name: string): number {
  const value = call.params[name] ?? "";
  if (!/^\d{1,15}$/.test(value)) throw notFound();
  return Number(value);
}

/** A text that has to be there. */
export function text(call: Call, field: string, resource: string): string {
  const value = call.body[field];
  if (typeof value !== "string" || value === "") throw invalid({ resource, field, code: "missing_field" });
  return value;
}

export function optionalText(call: Call, field: string, resource: string): string | undefined {
  const value = call.body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw invalid({ resource, field, code: "invalid" });
  return value;
}

export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** One page of a list, 30 items by default and 100 at most, with `Link` where there are more. Only what is shown is printed. */
export async function page<T>(
  call: Call,
  items: readonly T[],
  print: (item: T) => unknown,
  wrap?: string,
  more: Record<string, unknown> = {},
): Promise<Answer> {
  const asked = Number(call.query.get("per_page") ?? 30) || 30;
  const size = Math.min(Math.max(asked, 1), 100);
  const current = Math.max(Number(call.query.get("page") ?? 1) || 1, 1);
  const last = Math.max(Math.ceil(items.length / size), 1);
  const shown = await Promise.all(items.slice((current - 1) * size, current * size).map(print));
  const links: string[] = [];
  const link = (number: number, rel: string) => links.push(`<${pageUrl(call, number)}>; rel="${rel}"`);
  if (current > 1) link(Math.min(current - 1, last), "prev");
  if (current < last) {
    link(current + 1, "next");
    link(last, "last");
  }
  if (current > 1) link(1, "first");
  const body = wrap === undefined ? shown : { total_count: items.length, ...more, [wrap]: shown };
  return defined({ status: 200, body, headers: links.length === 0 ? undefined : { link: links.join(", ") } });
}

/** GitHub's links name a repository by number. */
function pageUrl(call: Call, number: number): string {
  const query = new URLSearchParams(call.query);
  query.set("page", String(number));
  const [, owner, name] = /^\/repos\/([^/]+)\/([^/]+)/.exec(call.path) ?? [];
  const repo = owner === undefined || name === undefined ? undefined : findRepo(call.world, owner, name);
  const path = repo === undefined ? call.path : call.path.replace(/^\/repos\/[^/]+\/[^/]+/, `/repositories/${repo.id}`);
  return `${call.world.origin}${path}?${query}`;
}
