import type { AnyReason } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import type { HookWhen } from "../../spec/rollout.ts";

/**
 * Calling: a request is under way. Waiting: it got no usable answer, and is asked again. Held: it said to wait. Done: it said to go on.
 * Failed: it said that the run has failed. Error: no usable answer was got, however often it was asked.
 */
type HookPhase = "Calling" | "Waiting" | "Held" | "Done" | "Failed" | "Error";

/** One event for one hook of a run: journalled before the hook is asked, and with its answer. */
export interface HookCall {
  /** `ROLLOUT/RUN/STAGE/WHEN/HOOK/ATTEMPT`: id of the event, the same however often it is sent. */
  id: string;
  /** Index of the stage. */
  stage: number;
  when: HookWhen;
  /** Which of the stage's hooks of this kind, from 0. */
  index: number;
  /** From 1; raised by `/retry`, and for each event of its kind. */
  attempt: number;
  phase: HookPhase;
  why: AnyReason;
  /** Requests made, the one under way included. */
  tries: number;
  /** Of these, without a usable answer in a row. */
  errors: number;
  /** Time of the event. */
  since: Time;
  /** Waiting and Held: when it is asked again. */
  nextAt?: Time | undefined;
  endedAt?: Time | undefined;
  /** onFailure: what it is about. */
  failures?: HookFailure[] | undefined;
  /** By `/resume`: the run goes on without its consent. */
  accepted?: { by: string; at: Time } | undefined;
}

export interface HookFailure {
  /** A cluster's name, or what has failed of the stage. */
  what: AnyReason;
  why: AnyReason;
}

/** What a hook answered to one request. `error`: nothing usable; `again`: asking again may help. */
export type HookAnswer =
  | { kind: "go"; message: string }
  | { kind: "hold"; message: string; forMs: number }
  | { kind: "fail"; message: string }
  | { kind: "error"; message: AnyReason; again: boolean };

/** How the answer to one request is found. */
export function hookTryKey(id: string, request: number): string {
  return `${id}#${request}`;
}
