import { sameWords, text, type Words } from "../../base/reason.ts";
import { epoch, iso, type Time } from "../../base/time.ts";
import { amendedBy } from "./amend.ts";
import type { Batch, BatchTarget, Next, Pause, Run } from "./run.ts";
import type { Advanced, Effect, World } from "./world.ts";

/**
 * One round in the making. `run` is replaced, never changed in place, and parts that stay the same stay the same object:
 * a round over 10,000 targets in which one moves copies one list, and the frozen plan is never copied.
 */
export interface Draft {
  run: Run;
  readonly world: World;
  /** Epoch milliseconds, and the same as it is journalled. */
  readonly now: number;
  readonly at: Time;
  readonly effects: Effect[];
  readonly events: Words[];
  /** Batches made or rebuilt in this round: what the world says of their PR is of an older attempt. */
  readonly rebuilt: Set<number>;
  /** Batches in which a confirmed target became unhealthy in this round. */
  readonly disturbed: Set<number>;
  /** Settled batches of which every target was seen as it was left: see target-rest.ts. */
  readonly resting: Set<Batch>;
  /** See Advanced. */
  readonly cleared: number[];
  readonly fenced: number[];
  readonly wantsHealth: Set<string>;
  transition: boolean;
  observation: boolean;
  wake: number;
  /** Set: nothing may merge in this round, and why. The first reason stands. */
  hold?: Words;
}

export function openDraft(run: Run, world: World, now: number): Draft {
  return {
    run,
    world,
    now,
    at: iso(now),
    effects: [],
    events: [],
    rebuilt: new Set(),
    disturbed: new Set(),
    resting: new Set(),
    cleared: [],
    fenced: [],
    wantsHealth: new Set(),
    transition: false,
    observation: false,
    wake: Number.POSITIVE_INFINITY,
  };
}

export function closeDraft(draft: Draft): Advanced<Run> {
  const advanced: Advanced<Run> = {
    run: draft.run,
    effects: draft.effects,
    change: draft.transition ? "transition" : draft.observation ? "observation" : "none",
    events: draft.events,
    ...(draft.cleared.length === 0 ? {} : { cleared: draft.cleared }),
    ...(draft.fenced.length === 0 ? {} : { fenced: draft.fenced }),
    ...(draft.wantsHealth.size === 0 ? {} : { wantsHealth: [...draft.wantsHealth] }),
  };
  if (Number.isFinite(draft.wake)) advanced.wakeAt = iso(Math.max(draft.wake, draft.now));
  return advanced;
}

/** Changes the run in a way that must be journalled before anything is done about it. */
export function change(draft: Draft, patch: Partial<Run>, event?: Words): void {
  const amended = amendedBy(draft.run, patch, draft.at);
  draft.run = { ...draft.run, ...patch, ...(amended === undefined ? {} : { amended }) };
  draft.transition = true;
  if (event !== undefined) draft.events.push(event);
}

/** Changes one batch; a transition as `change`. A key set to undefined is taken away. */
export function changeBatch(draft: Draft, number: number, patch: Patch<Batch>, event?: Words): void {
  putBatch(draft, strip({ ...batchOf(draft.run, number), ...patch }));
  draft.transition = true;
  if (event !== undefined) draft.events.push(event);
}

type Patch<T> = { [K in keyof T]?: T[K] | undefined };

/** Drops keys that are undefined, so that a run reads the same before and after a round trip through the journal. */
function strip<T extends object>(value: { [K in keyof T]: T[K] | undefined } & object): T {
  const kept: Partial<Record<keyof T, unknown>> = {};
  for (const key of Object.keys(value) as (keyof T)[]) if (value[key] !== undefined) kept[key] = value[key];
  return kept as T;
}

function putBatch(draft: Draft, batch: Batch): void {
  const batches = draft.run.batches.slice();
  batches[batch.number - 1] = batch;
  draft.run = { ...draft.run, batches };
}

/** Moves a batch on: phase and since, with what else changes. */
export function moveBatch(draft: Draft, number: number, phase: Batch["phase"], patch: Patch<Batch> = {}, event?: Words): void {
  changeBatch(draft, number, { ...patch, phase, since: draft.at }, event);
}

/** Says why a batch is where it is. An observation only, and none at all where it says the same as before. */
export function sayBatch(draft: Draft, number: number, why: Words, next: Next | null): void {
  const batch = batchOf(draft.run, number);
  if (sameWords(batch.why, why) && sameNext(batch.next, next)) return;
  putBatch(draft, { ...batch, why, next });
  draft.observation = true;
}

/** Says why the run is where it is. */
export function say(draft: Draft, why: Words, next: Next | null): void {
  if (sameWords(draft.run.why, why) && sameNext(draft.run.next, next)) return;
  draft.run = { ...draft.run, why, next };
  draft.observation = true;
}

function sameNext(a: Next | null, b: Next | null): boolean {
  return (
    a === b || (a !== null && b !== null && sameWords(a.what, b.what) && a.at === b.at && a.eta === b.eta && a.deadline === b.deadline)
  );
}

/** Maps a batch's targets; those for which the same object is given back cost nothing. Says whether any changed. */
export function mapTargets(draft: Draft, number: number, map: (target: BatchTarget) => BatchTarget): boolean {
  const batch = batchOf(draft.run, number);
  let targets: BatchTarget[] | undefined;
  for (const [index, target] of batch.targets.entries()) {
    const mapped = map(target);
    if (mapped === target) continue;
    targets ??= batch.targets.slice();
    targets[index] = mapped;
  }
  if (targets === undefined) return false;
  putBatch(draft, { ...batch, targets });
  draft.observation = true;
  return true;
}

/** A target in another phase; keys set to undefined are taken away. */
export function moveTarget(
  draft: Draft,
  target: BatchTarget,
  phase: BatchTarget["phase"],
  why: Words,
  patch: Patch<BatchTarget> = {},
): BatchTarget {
  return strip<BatchTarget>({ ...target, ...patch, phase, why, since: draft.at });
}

/** A target in the same phase with other particulars; the same object where nothing differs. */
export function touchTarget(target: BatchTarget, patch: Patch<BatchTarget>): BatchTarget {
  for (const key of Object.keys(patch) as (keyof BatchTarget)[]) {
    if (target[key] !== patch[key] && !(key === "why" && sameWords(target.why, patch.why)))
      return strip<BatchTarget>({ ...target, ...patch });
  }
  return target;
}

/** Pauses a run that is not paused yet and not ending; the first reason stands. */
export function pause(draft: Draft, kind: Pause["kind"], by: string, reason: Words, ask: Words): void {
  if (draft.run.phase === "Paused" || draft.run.ending !== undefined) return;
  change(
    draft,
    { phase: "Paused", since: draft.at, paused: { kind, by, reason, at: draft.at, ask }, why: reason, next: { what: ask } },
    `paused: ${text(reason)}`,
  );
}

/** Looks again at `ms` (epoch) at the latest. */
export function wakeAt(draft: Draft, ms: number): void {
  if (ms < draft.wake) draft.wake = ms;
}

export function wakeAtTime(draft: Draft, time: Time): void {
  wakeAt(draft, epoch(time));
}

export function batchOf(run: Run, number: number): Batch {
  const batch = run.batches[number - 1];
  if (batch === undefined || batch.number !== number) throw new Error(`run ${run.rollout} #${run.number} has no batch ${number}`);
  return batch;
}
