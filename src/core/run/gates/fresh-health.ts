/**
 * Health before a merge: what the batches before this one have confirmed must be well, by a read of its own that was begun a
 * moment ago. A watch or stream that dropped the one event that matters looks like one on which nothing happened.
 *
 * The core asks for that read only where nothing else stands against the merge (`Advanced.wantsHealth`); the shell reads by name
 * and asks `advance` again. Called by `mergeOpen`, which has neither an intention nor a merge without it.
 */
import type { AnyReason } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { isInTurn } from "../state/batch.ts";
import { type Decision, type Scene, type Wait, wait } from "../state/decision.ts";
import { pullRef } from "../state/names.ts";
import type { Batch, Run } from "../state/run.ts";
import type { ObservedHealth, ObservedPull, World } from "../state/world.ts";
import { planeOf } from "../targets/unseen.ts";

/** Of those confirmed last: more reads would delay the merge past its intention. Older ones are listed anew from time to time. */
const MOST_READ = 200;
/** A read that was begun longer ago says nothing about now. */
const FRESH_MS = 15_000;
/** What could not be read is read again after this long. */
const AGAIN_MS = 2_000;
const ILL: ReadonlySet<string> = new Set(["Degraded", "Missing", "Unknown", "gone"]);

/** Lists the targets that a batch follows, the last to be confirmed first. What puts clusters back, or is urgent, follows nobody. */
export function confirmedBefore(run: Run, batch: Batch, lostPlanes: World["lostPlanes"]): string[] {
  if (!isInTurn(batch)) return [];
  const found: string[] = [];
  const known = new Set<string>();
  for (const one of run.batches.toReversed()) {
    if (one.number === batch.number || one.merged === undefined || one.phase === "Closed") continue;
    for (const { key, phase } of one.targets) {
      // Of one that is in several batches the last says how it stands: what left at its second weight is healthy at its first for ever.
      if (known.size === known.add(key).size) continue;
      const isConfirmed = phase === "Healthy" || phase === "Baked";
      // A plane that is lost holds its own targets, and no others.
      if (isConfirmed && lostPlanes?.has(planeOf(key)) !== true) found.push(key);
      if (found.length >= MOST_READ) return found;
    }
  }
  return found;
}

/** Stops a merge, whoever makes it, while something before it is known to be ill. */
export function knownHealthGate({ run, world }: Scene, batch: Batch, pull: ObservedPull): Wait | undefined {
  const { health, lostPlanes } = world;
  if (health === undefined) return undefined;
  for (const key of confirmedBefore(run, batch, lostPlanes)) {
    const status = health.get(key)?.status;
    if (status !== undefined && ILL.has(status)) return notYet(pull, runReason("CONFIRMED_ILL", { application: nameOf(key), status }));
  }
  return undefined;
}

/** Lets a batch merge only on reads of a moment ago, and says which are wanted where there are none. */
export function freshHealthGate({ run, world, now }: Scene, batch: Batch, pull: ObservedPull): Decision | undefined {
  const keys = confirmedBefore(run, batch, world.lostPlanes);
  const seen = keys.map((key) => ({ key, health: world.health?.get(key) }));
  const targets = seen.filter(({ health }) => !isFresh(health, now)).map(({ key }) => key);
  const failed = seen.find(({ health }) => isFresh(health, now) && health?.failed !== undefined);
  const because = failed?.health?.failed;
  const again = now + AGAIN_MS;
  if (failed !== undefined && because !== undefined) {
    const data = { application: nameOf(failed.key), because };
    return { ...notYet(pull, runReason("CONFIRMED_UNREADABLE", data)), again };
  }
  if (targets.length === 0) return undefined;
  const why = runReason("CONFIRMED_READ_AGAIN", { pull: pullRef(pull) });
  return { kind: "read", targets, why, next: { what: runReason("NEXT_READ") }, again };
}

function isFresh(health: ObservedHealth | undefined, now: number): boolean {
  if (health?.readAt === undefined) return false;
  const age = now - epoch(health.readAt);
  // One of the future was dated before our clock was set back.
  return age < FRESH_MS && age > -FRESH_MS;
}

function notYet(pull: ObservedPull, because: AnyReason): Wait {
  return wait(runReason("NOT_MERGED_YET", { pull: pullRef(pull), because }), { what: runReason("NEXT_WELL") });
}

function nameOf(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}
