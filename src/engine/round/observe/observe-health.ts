import { iso } from "../../../core/base/time.ts";
import { confirmedBefore } from "../../../core/run/gates/fresh-health.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { ObservedHealth, World } from "../../../core/run/state/world.ts";
import { applicationSeen, type Planes } from "../../resolve/fleet.ts";
import type { TargetReader } from "../guard/reread.ts";

/** Shows how the Applications are that batches with an open PR follow, as a watch or stream brought them last. */
export function observeHealth(planes: Planes, run: Run, lost: World["lostPlanes"]): Map<string, ObservedHealth> {
  const health = new Map<string, ObservedHealth>();
  for (const batch of run.batches) {
    if (batch.phase !== "Open" && batch.phase !== "Merging") continue;
    for (const key of confirmedBefore(run, batch, lost)) if (!health.has(key)) health.set(key, healthOf(planes, key));
  }
  return health;
}

/** Reads by name what the core wants to know of now, and shows the world with it. */
export async function readHealth(planes: Planes, reader: TargetReader, world: World, keys: readonly string[]): Promise<World> {
  const health = new Map(world.health);
  for (const [key, { begunAt, failed }] of await reader.readAll(keys)) {
    const seen = failed === undefined ? healthOf(planes, key) : { failed };
    health.set(key, { ...seen, readAt: iso(begunAt) });
  }
  return { ...world, health };
}

function healthOf(planes: Planes, key: string): ObservedHealth {
  const application = applicationSeen(planes, key);
  return { status: application === undefined ? "gone" : application.status.health.status };
}
