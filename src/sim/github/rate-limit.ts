import { ApiFailure } from "./failure.ts";
import type { Actor, World } from "./model.ts";

export interface Rate {
  limit: number;
  used: number;
  remaining: number;
  /** Epoch seconds. */
  reset: number;
}

/** What the caller has left this hour. Windows are the machine's hours: a fast world would otherwise never run out. */
export function rateOf(world: World, actor: Actor): Rate {
  const limit = actor.kind === "anonymous" ? Math.min(world.limits.perHour, 60_000) : world.limits.perHour;
  const now = Math.floor(Date.now() / 1000);
  const known = world.limits.used.get(actor.limitKey);
  const used = known !== undefined && known.reset > now ? known.count : 0;
  return { limit, used, remaining: Math.max(limit - used, 0), reset: known !== undefined && known.reset > now ? known.reset : now + 3600 };
}

/** Refuses where nothing is left. */
export function mustHaveLeft(world: World, actor: Actor): void {
  if (rateOf(world, actor).remaining > 0) return;
  const [kind, id] = actor.limitKey.split(":");
  throw new ApiFailure(403, `API rate limit exceeded for ${kind} ID ${id ?? "0"}.`);
}

/** A 304 and `/rate_limit` itself cost nothing. */
export function countRequest(world: World, actor: Actor): void {
  const rate = rateOf(world, actor);
  world.limits.used.set(actor.limitKey, { count: rate.used + 1, reset: rate.reset });
}

export function rateHeaders(world: World, actor: Actor): Record<string, string> {
  const rate = rateOf(world, actor);
  return {
    "x-ratelimit-limit": String(rate.limit),
    "x-ratelimit-remaining": String(rate.remaining),
    "x-ratelimit-used": String(rate.used),
    "x-ratelimit-reset": String(rate.reset),
    "x-ratelimit-resource": "core",
  };
}
