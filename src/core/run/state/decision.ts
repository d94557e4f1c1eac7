/**
 * What a gate answers of a batch, as a value: nothing happens by it. `gates.ts` asks the gates in order, and `batches/merge.ts` carries out
 * the first answer that is none of "go on". So a gate can be asked as often as one likes, and of any moment.
 */
import type { AnyReason } from "../../base/reason.ts";
import type { Batch, Next, Run } from "./run.ts";
import type { ObservedPull, World } from "./world.ts";

/** What a gate sees: a draft of a round, or a run at any other moment. Nothing of it can be changed. */
export interface Scene {
  readonly run: Run;
  readonly world: World;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Set: nothing may merge in this round, and why. */
  readonly hold?: AnyReason;
}

interface Answer {
  why: AnyReason;
  next: Next;
  /** When it is worth another look though nothing happens, in epoch milliseconds. */
  again?: number | undefined;
}

/** The PR stays as it is. */
export type Wait = { kind: "wait" } & Answer;

export type Decision =
  | Wait
  /** Nobody may merge it, whoever that be: its check fails, and it leaves the merge queue. */
  | ({ kind: "stop" } & Answer)
  /** The PR is closed, and built again. */
  | ({ kind: "rebuild"; closing: AnyReason } & Answer)
  /** Somebody has to decide: the run pauses. `closing`: and the PR is closed. */
  | ({ kind: "pause"; reason: AnyReason; ask: AnyReason; closing?: AnyReason } & Answer)
  /** The health of these targets has to be read first. */
  | ({ kind: "read"; targets: string[] } & Answer);

/** Answers for one batch; undefined: the gate is open. */
export type Gate = (scene: Scene, batch: Batch, pull: ObservedPull) => Decision | undefined;

/** Makes the answer that a batch waits. */
export function wait(why: AnyReason, next: Next, again?: number): Wait {
  return { kind: "wait", why, next, again };
}
