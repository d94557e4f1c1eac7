import { type AnyReason, sameReason } from "../../base/reason.ts";
import { iso, type Time } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { amendedBy } from "./amend.ts";
import { isFailure } from "./broken.ts";
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
  readonly events: AnyReason[];
  /** Batches made or rebuilt in this round: what the world says of their PR is of an older attempt. */
  readonly rebuilt: Set<number>;
  /** Batches in which a confirmed target became unhealthy in this round. */
  readonly disturbed: Set<number>;
  /** Settled batches of which every target was seen as it was left: see ../targets/rest.ts. */
  readonly resting: Set<Batch>;
  /** See Advanced. */
  readonly cleared: number[];
  readonly fenced: number[];
  readonly wantsHealth: Set<string>;
  /** By target key: those that show another commit than was released, and are not confirmed by it. */
  readonly moved: Set<string>;
  /** Syncs that targets wait for; asked for at the end, unless somebody stopped the run in this very round. */
  readonly syncs: { batch: number; target: string; commit: string; revisions: readonly string[] }[];
  /** The first of these, or what Git itself shows. */
  movedFirst?: AnyReason | undefined;
  transition: boolean;
  observation: boolean;
  wake: number;
  /** Set: nothing may merge in this round, and why. The first reason stands. */
  hold?: AnyReason;
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
    moved: new Set(),
    syncs: [],
    transition: false,
    observation: false,
    wake: Number.POSITIVE_INFINITY,
  };
}

export function closeDraft(draft: Draft): Advanced<Run> {
  const { run, effects, events, cleared, fenced, wantsHealth, wake, now } = draft;
  return {
    run,
    effects,
    events,
    cleared,
    fenced,
    change: draft.transition ? "transition" : draft.observation ? "observation" : "none",
    wantsHealth: wantsHealth.size === 0 ? undefined : [...wantsHealth],
    wakeAt: Number.isFinite(wake) ? Math.max(wake, now) : undefined,
  };
}

/** Changes the run in a way that must be journalled before anything is done about it. */
export function change(draft: Draft, patch: Partial<Run>, event?: AnyReason): void {
  const failedAt = draft.run.failedAt ?? (isFailure(patch) ? draft.at : undefined);
  draft.run = { ...draft.run, ...patch, amended: amendedBy(draft.run, patch, draft.at) ?? draft.run.amended, failedAt };
  draft.transition = true;
  if (event !== undefined) draft.events.push(event);
}

/** Changes one batch; a transition as `change`. */
export function changeBatch(draft: Draft, number: number, patch: Partial<Batch>, event?: AnyReason): void {
  putBatch(draft, { ...batchOf(draft.run, number), ...patch });
  draft.transition = true;
  if (event !== undefined) draft.events.push(event);
}

/** Changes one batch by what is seen, and would be again: an observation, and so one record less. What follows from it is looked at at once. */
export function noteBatch(draft: Draft, number: number, patch: Partial<Batch>, event?: AnyReason): void {
  putBatch(draft, { ...batchOf(draft.run, number), ...patch });
  draft.observation = true;
  wakeAt(draft, draft.now);
  if (event !== undefined) draft.events.push(event);
}

function putBatch(draft: Draft, batch: Batch): void {
  const batches = draft.run.batches.slice();
  batches[batch.number - 1] = batch;
  draft.run = { ...draft.run, batches };
}

/** Moves a batch on: phase and since, with what else changes. */
export function moveBatch(draft: Draft, number: number, phase: Batch["phase"], patch: Partial<Batch> = {}, event?: AnyReason): void {
  changeBatch(draft, number, { ...patch, phase, since: draft.at }, event);
}

/** Says why a batch is where it is. An observation only, and none at all where it says the same as before. */
export function sayBatch(draft: Draft, number: number, why: AnyReason, next: Next | null): void {
  const batch = batchOf(draft.run, number);
  if (sameReason(batch.why, why) && sameNext(batch.next, next)) return;
  putBatch(draft, { ...batch, why, next });
  draft.observation = true;
}

/** Says why the run is where it is. */
export function say(draft: Draft, why: AnyReason, next: Next | null): void {
  if (sameReason(draft.run.why, why) && sameNext(draft.run.next, next)) return;
  draft.run = { ...draft.run, why, next };
  draft.observation = true;
}

function sameNext(a: Next | null, b: Next | null): boolean {
  return a === b || (a !== null && b !== null && sameReason(a.what, b.what) && a.eta === b.eta && a.deadline === b.deadline);
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

/** A target in another phase. */
export function moveTarget(
  draft: Draft,
  target: BatchTarget,
  phase: BatchTarget["phase"],
  why: AnyReason,
  patch: Partial<BatchTarget> = {},
): BatchTarget {
  return { ...target, ...patch, phase, why, since: draft.at };
}

/** A target in the same phase with other particulars; the same object where nothing differs. */
export function touchTarget(target: BatchTarget, patch: Partial<BatchTarget>): BatchTarget {
  for (const key of Object.keys(patch) as (keyof BatchTarget)[]) {
    if (target[key] !== patch[key] && !(key === "why" && sameReason(target.why, patch.why))) return { ...target, ...patch };
  }
  return target;
}

/** Pauses a run that is not paused yet and not ending; the first reason stands. */
export function pause(draft: Draft, kind: Pause["kind"], by: string, reason: AnyReason, ask: AnyReason): void {
  if (draft.run.phase === "Paused" || draft.run.ending !== undefined) return;
  const paused = { kind, by, reason, at: draft.at, ask };
  change(draft, { phase: "Paused", since: draft.at, paused, why: reason, next: { what: ask } }, runReason("PAUSED", { because: reason }));
}

/** Looks again at `ms` (epoch) at the latest. */
export function wakeAt(draft: Draft, ms: number): void {
  if (ms < draft.wake) draft.wake = ms;
}

export function batchOf(run: Run, number: number): Batch {
  const batch = run.batches[number - 1];
  if (batch === undefined || batch.number !== number) throw new Error(`run ${run.rollout} #${run.number} has no batch ${number}`);
  return batch;
}

/** A run on its way to its end: Paused until it gets there. */
export function endSoon(run: Run, ending: NonNullable<Run["ending"]>): Run {
  const { by, reason, at } = ending;
  const paused: Pause = { kind: "Command", by, reason, at, ask: runReason("ASK_NOTHING") };
  return { ...run, phase: "Paused", since: at, why: reason, next: { what: runReason("NEXT_PULLS_CLOSED") }, paused, ending };
}
