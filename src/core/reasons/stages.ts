import type { AnyReason } from "../base/reason.ts";
import type { Time } from "../base/time.ts";
import type { BatchRef } from "./refs.ts";

type None = Record<never, never>;

/** What is waited for between two weights: an analysis by its templates, or a pause. forMs: absent: until somebody promotes it. */
export type WaitRef = { templates: string[] } | { forMs?: number | undefined };

/** What follows a wait: another, or a step; null: what comes after the last. */
export type NextStepRef = WaitRef | { index: number; of: number } | null;

/** How a run goes on from batch to batch and stage to stage, and to its end. Clusters are keys. */
export interface StageReasons {
  RUN_BEGINS: None;
  RUN_STARTED: None;
  PAUSED: { because: AnyReason };
  STAGE_DONE: { stage: string };
  BATCH_BAKING: { batch: BatchRef; forMs: number };
  BATCH_BAKES: { clusters: string[]; since: Time };
  /** Its bake, or its pause at a weight, is over: only a read of its own is missing. */
  BATCH_READ_AGAIN: { clusters: string[]; weight?: number | undefined };
  BATCH_UNCONFIRMED: { clusters: string[]; because: AnyReason };
  BATCH_AWAITS_HEALTH: { clusters: string[]; confirmed: number; of: number; because: AnyReason };
  BATCH_UNDECIDED: None;
  BATCH_SETTLED: { batch: BatchRef };
  BATCH_CONFIRMED: None;
  /** excused: failed as before. */
  BATCH_SETTLED_WITH: { failed: string[]; excused: string[] };
  TARGET_BAKED: None;
  TARGET_HAS_OLD: None;

  WAIT_BEGINS: { batch: BatchRef; wait: WaitRef; again: boolean };
  WAIT_OVER: { batch: BatchRef; wait: WaitRef };
  STEP_AWAITS_PERSON: { weight: number; clusters: string[] };
  STEP_PAUSED: { weight: number; forMs: number; clusters: string[]; since: Time };
  STEP_UNCONFIRMED: { weight: number; clusters: string[]; because: AnyReason };
  LEFT_AT_WEIGHT: { weight: number; clusters: string[] };

  /** about: what their labels tell. */
  CLUSTERS_UNREAD: { about: "apart" | "putOff" | "requeued" };
  REFILL_WAITS: None;
  CANNOT_TRAVEL: { clusters: string[]; most: number };
  CLUSTERS_PUT_OFF: { clusters: string[]; because: AnyReason };
  PUT_TO_END: { clusters: string[]; because: AnyReason };
  REQUEUE_MATCHED: None;
  REQUEUE_STILL_MATCHES: { attempt: number; of: number };
  REQUEUED_TOO_OFTEN: { attempts: number };
  JOINED_LATE: None;
  REVERT_OF_MADE_PIN: { cluster: string; file: string };

  QUARANTINE_UNREACHABLE: { because: AnyReason };
  QUARANTINE_MATCHED: None;
  QUARANTINED_WITH: { cluster: string; because: AnyReason };
  QUARANTINED: { clusters: string[]; because: AnyReason };
  QUARANTINE_FULL: { clusters: string[]; most: number; because: AnyReason };
  QUARANTINED_IN_BATCH: None;
  QUARANTINE_OVER: { clusters: string[] };
  BACK_FROM_QUARANTINE: None;

  RUN_SUPERSEDED: { values: string[]; commit: string };
  /** open: number of a PR, or a batch that has none. */
  END_AWAITS_PULLS: { because: AnyReason; open: (number | BatchRef)[] };
  END_AWAITS_CLUSTERS: { because: AnyReason; clusters: string[] };
  END_AWAITS_CHECKS: { because: AnyReason };
  ABORT_DONE: None;

  NEXT_FIRST_BATCH: None;
  NEXT_BAKE_ENDS: None;
  NEXT_PAUSE_ENDS: None;
  NEXT_PROMOTED: { after: NextStepRef };
  NEXT_HEALTHY_AGAIN: None;
  NEXT_CONFIRMED: None;
  NEXT_CONFIRMED_OR_FAILED: None;
  /** At the latest a person is asked: what waits does not fail by itself. */
  NEXT_CONFIRMED_OR_ASKED: None;
  NEXT_WINDOW_FILLED: None;
  NEXT_PHASE: { phase: string };
  NEXT_NEWER_RUN: None;
  NEXT_PULLS_CLOSED: None;

  ASK_QUARANTINE: None;
  ASK_NOTHING: None;
}
