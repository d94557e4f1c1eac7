import type { Actor, World } from "../model/model.ts";
import { ApiFailure } from "./failure.ts";

interface Rate {
  limit: number;
  used: number;
  remaining: number;
  /** Epoch seconds. */
  reset: number;
  resource: Resource;
}

/** GraphQL is counted by itself. */
type Resource = "core" | "graphql";

export function resourceOf(path: string): Resource {
  return path === "/graphql" || path === "/api/graphql" ? "graphql" : "core";
}

/** What the caller has left this hour. Windows are the machine's hours: a fast world would otherwise never run out. */
export function rateOf(world: World, actor: Actor, resource: Resource = "core"): Rate {
  const limit = actor.kind === "anonymous" ? Math.min(world.limits.perHour, 60_000) : world.limits.perHour;
  const now = Math.floor(Date.now() / 1000);
  const known = world.limits.used.get(keyOf(actor, resource));
  const used = known !== undefined && known.reset > now ? known.count : 0;
  const reset = known !== undefined && known.reset > now ? known.reset : now + 3600;
  return { limit, used, remaining: Math.max(limit - used, 0), reset, resource };
}

function keyOf(actor: Actor, resource: Resource): string {
  return resource === "core" ? actor.limitKey : `${actor.limitKey} ${resource}`;
}

/** Refuses where nothing is left, or where too much came in the last minute. */
export function mustHaveLeft(world: World, actor: Actor, request: { method: string; path: string }): void {
  if (rateOf(world, actor, resourceOf(request.path)).remaining === 0) {
    const [kind, id] = actor.limitKey.split(":");
    throw new ApiFailure(403, `API rate limit exceeded for ${kind} ID ${id ?? "0"}.`);
  }
  if (world.limits.secondary) spend(world, actor, request);
}

const POINTS_A_MINUTE = { core: 900, graphql: 2000 } as const;
const CONTENT_A_MINUTE = 80;
const CONTENT_AN_HOUR = 500;

/** What makes content that others are told of: pull requests, comments, reviews, merges, commits, issues. */
const CONTENT =
  /^\/repos\/[^/]+\/[^/]+\/(pulls|issues|pulls\/\d+\/(merge|reviews|requested_reviewers)|issues\/\d+\/comments|issues\/comments\/\d+|commits\/.+\/comments|contents\/.+|git\/(commits|refs))$/;

function spend(world: World, actor: Actor, { method, path }: { method: string; path: string }): void {
  const now = Date.now();
  const resource = resourceOf(path);
  const writes = method !== "GET" && method !== "HEAD";
  const key = keyOf(actor, resource);
  const spent = (world.limits.spent.get(key) ?? []).filter((one) => one.at > now - 3_600_000);
  world.limits.spent.set(key, spent);
  const minute = spent.filter((one) => one.at > now - 60_000);
  const points = minute.reduce((sum, one) => sum + one.points, 0);
  const cost = writes ? 5 : 1;
  const content = writes && (resource === "graphql" || CONTENT.test(path));
  const made = (all: typeof spent) => all.filter((one) => one.content).length;
  const oldest = minute[0]?.at ?? now;
  if (points + cost > POINTS_A_MINUTE[resource]) throw tooMuch(oldest + 60_000 - now);
  if (content && made(minute) >= CONTENT_A_MINUTE) throw tooMuch(oldest + 60_000 - now);
  if (content && made(spent) >= CONTENT_AN_HOUR) throw tooMuch((spent[0]?.at ?? now) + 3_600_000 - now);
  spent.push({ at: now, points: cost, content });
}

function tooMuch(waitMs: number): ApiFailure {
  const message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
  return new ApiFailure(403, message, undefined, { "retry-after": String(Math.max(Math.ceil(waitMs / 1000), 1)) });
}

/** A 304 and `/rate_limit` itself cost nothing. */
export function countRequest(world: World, actor: Actor, resource: Resource): void {
  const rate = rateOf(world, actor, resource);
  world.limits.used.set(keyOf(actor, resource), { count: rate.used + 1, reset: rate.reset });
}

export function rateHeaders(world: World, actor: Actor, resource: Resource): Record<string, string> {
  const rate = rateOf(world, actor, resource);
  return {
    "x-ratelimit-limit": String(rate.limit),
    "x-ratelimit-remaining": String(rate.remaining),
    "x-ratelimit-used": String(rate.used),
    "x-ratelimit-reset": String(rate.reset),
    "x-ratelimit-resource": rate.resource,
  };
}
