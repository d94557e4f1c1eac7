import { iso } from "../../core/base/time.ts";
import { said } from "../../core/reasons/run.ts";
import { confirmedBefore } from "../../core/run/gates/fresh-health.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { ObservedHealth, World } from "../../core/run/state/world.ts";
import { healthAt } from "./argocd.ts";
import type { Truth } from "./world.ts";

/** Shows how what open batches follow was when a watch brought it last: late, or not at all. */
export function observeHealth(truth: Truth, run: Run, now: number): World["health"] {
  if (now < truth.argoDownUntil) return undefined;
  const { healthDice, chaos } = truth;
  const health = new Map<string, ObservedHealth>();
  for (const batch of run.batches) {
    if (batch.phase !== "Open" && batch.phase !== "Merging") continue;
    for (const key of confirmedBefore(run, batch, undefined)) {
      const target = truth.targets.get(key);
      if (target === undefined || healthDice.chance(chaos.missing)) continue;
      const seenAt = healthDice.chance(chaos.stale) ? now - healthDice.int(1, 90) * 1000 : now;
      health.set(key, { status: healthAt(truth.git, target, seenAt) });
    }
  }
  return health;
}

/** Reads by name what the core asked for: as it is now, or not at all. */
export function readHealth(truth: Truth, world: World, keys: readonly string[], now: number): World {
  const health = new Map(world.health);
  for (const key of keys) {
    const target = truth.targets.get(key);
    const failed = target === undefined || now < truth.argoDownUntil || truth.healthDice.chance(truth.chaos.missing);
    health.set(key, { ...(failed ? { failed: said("timeout") } : { status: healthAt(truth.git, target, now) }), readAt: iso(now) });
  }
  return { ...world, health };
}
