/**
 * Health before a merge: what the batches before this one have confirmed must be well, by a read of its own that was begun a
 * moment ago. A watch or stream that dropped the one event that matters looks like one on which nothing happened.
 *
 * The core asks for that read only where nothing else stands against the merge (`Advanced.wantsHealth`); the shell reads by name
 * and asks `advance` again. Called by `mergeOpen`, which has neither an intention nor a merge without it.
 */
import { epoch } from "../../base/time.ts";
import type { Batch, Run } from "../state/run.ts";
import { type Draft, wakeAt } from "../state/run-draft.ts";
import { pullName } from "../state/run-names.ts";
import type { ObservedHealth, ObservedPull, World } from "../state/world.ts";
import { planeOf } from "../targets/target-unseen.ts";
import type { Blocked } from "./pull-gates.ts";

/** Of those confirmed last: more reads would delay the merge past its intention. Older ones are listed anew from time to time. */
const MOST_READ = 200;
/** A read that was begun longer ago says nothing about now. */
const FRESH_MS = 15_000;
/** What could not be read is read again after this long. */
const AGAIN_MS = 2_000;
const ILL: ReadonlySet<string> = new Set(["Degraded", "Missing", "Unknown", "gone"]);

/** Lists the targets that a batch follows, the last to be confirmed first. What puts clusters back, or is urgent, follows nobody. */
export function confirmedBefore(run: Run, batch: Batch, lostPlanes: World["lostPlanes"]): string[] {
  if (batch.kind === "Revert" || batch.kind === "Hotfix") return [];
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
export function knownHealthGate(draft: Draft, batch: Batch, pull: ObservedPull): Blocked | undefined {
  const { health, lostPlanes } = draft.world;
  if (health === undefined) return undefined;
  for (const key of confirmedBefore(draft.run, batch, lostPlanes)) {
    const status = health.get(key)?.status;
    if (status !== undefined && ILL.has(status)) return notYet(pull, `${nameOf(key)}, confirmed before, is ${status} now`);
  }
  return undefined;
}

/** Lets a batch merge only on reads of a moment ago, and says which are wanted where there are none. */
export function freshHealthGate(draft: Draft, batch: Batch, pull: ObservedPull): Blocked | undefined {
  const keys = confirmedBefore(draft.run, batch, draft.world.lostPlanes);
  const seen = keys.map((key) => ({ key, health: draft.world.health?.get(key) }));
  const unread = seen.filter(({ health }) => !isFresh(health, draft.now)).map(({ key }) => key);
  const failed = seen.find(({ health }) => isFresh(health, draft.now) && health?.failed !== undefined);
  if (unread.length === 0 && failed === undefined) return undefined;
  wakeAt(draft, draft.now + AGAIN_MS);
  if (failed !== undefined) return notYet(pull, `${nameOf(failed.key)}, confirmed before, cannot be read: ${failed.health?.failed}`);
  for (const key of unread) draft.wantsHealth.add(key);
  return { why: `${pullName(pull)} is not merged yet: what came before is read once more`, next: { what: "it is read" } };
}

function isFresh(health: ObservedHealth | undefined, now: number): boolean {
  return health?.readAt !== undefined && now - epoch(health.readAt) < FRESH_MS;
}

function notYet(pull: ObservedPull, why: string): Blocked {
  return { why: `${pullName(pull)} is not merged yet: ${why}`, next: { what: "it gets well, or counts as failed" } };
}

function nameOf(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}
