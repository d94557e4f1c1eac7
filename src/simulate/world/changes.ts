/** When commits reach an Application: once Argo CD has seen them, and where automated sync is off once somebody has synced it. */
import type { ObservedSync } from "../../core/run/state/effects.ts";
import type { Behaviour } from "../generate/scenario.ts";
import { BOT, type ModelCommit, type ModelGit } from "./git.ts";

/** What of an Application says when it has which commit. */
export interface Reachable {
  pins: string[];
  behaviour: Behaviour;
  /** From then on it is healthy whatever its script says: somebody mended it. */
  mendedAt: number;
  /** While its cluster cannot be reached: nothing of it is seen, and nothing comes to it. */
  outages?: { from: number; to: number }[];
  byHand?: ByHand | undefined;
}

/** Automated sync is off. */
interface ByHand {
  /** How long after its sight a person syncs a change. */
  personMs: number;
  /** What the bot asked for: up to which commit, and from when it is there. */
  syncs: { index: number; at: number }[];
}

/** A person leaves what the bot is to ask for to it for so long. */
const LATE_MS = 4 * 3_600_000;
const SYNC_MS = 2000;

/** One pin that a commit changed; `from`: when the Application has it. */
interface Change {
  index: number;
  at: number;
  pin: number;
  value: string | null;
  from: number;
}

/** When the target sees a commit, and so every one before it. */
export function sightOf(target: Reachable, at: number): number {
  let seen = Math.min(at + target.behaviour.lagMs, Math.max(at, target.mendedAt));
  for (const { from, to } of target.outages ?? []) if (seen >= from && seen < to) seen = to;
  return seen;
}

export function changesOf(git: ModelGit, target: Reachable): Change[] {
  const { pins, byHand } = target;
  const changes = pins.flatMap((pin, place) =>
    (git.log.get(pin) ?? []).map((entry): Change => ({ ...entry, pin: place, from: sightOf(target, entry.at) })),
  );
  if (pins.length > 1) changes.sort((a, b) => a.index - b.index);
  if (byHand === undefined) return changes;
  // A sync brings all that is before it, too.
  let after = Number.POSITIVE_INFINITY;
  for (const change of changes.toReversed()) {
    after = Math.min(after, syncedAt(byHand, change, git.commits[change.index]));
    change.from = Math.max(change.from, after);
  }
  return changes;
}

function syncedAt({ personMs, syncs }: ByHand, { index, from }: Change, commit: ModelCommit | undefined): number {
  const person = from + (commit?.by === BOT ? Math.max(personMs, LATE_MS) : personMs);
  return Math.min(person, ...syncs.flatMap((sync) => (sync.index >= index ? [Math.max(sync.at, from)] : [])));
}

/** What a change waits for whose Application nobody has synced yet; undefined: it is there, or none of its own. */
export function awaitedSync(git: ModelGit, target: Reachable, commitId: string, time: number): ObservedSync | undefined {
  if (target.byHand === undefined) return undefined;
  const index = git.byId.get(commitId)?.index;
  const own = changesOf(git, target).filter((change) => change.index === index);
  return own.some(({ from }) => from > time) ? { wanted: { revisions: [commitId] } } : undefined;
}

/** Argo CD takes a sync of a commit: asked again it is the same one. */
export function takeSync(git: ModelGit, { byHand }: Reachable, commitId: string, now: number): void {
  const index = git.byId.get(commitId)?.index;
  if (byHand === undefined || index === undefined || byHand.syncs.some((one) => one.index === index)) return;
  byHand.syncs.push({ index, at: now + SYNC_MS });
}
