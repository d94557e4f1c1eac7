import { type ReasonsOf, reasonsOf } from "../base/reason.ts";

type None = Record<never, never>;

/** How an invariant of a run would be violated (docs/spec.md §3). number: that of the batch in the run. */
export interface BreachReasons {
  /** 1 */
  WINDOW_OVERFULL: { stage: string; clusters: string[]; most: number };
  /** 2 */
  MERGE_OF_NO_BATCH: { number: number };
  MERGE_OVER_UNCONFIRMED: { number: number; other: number; target: string; how: Unconfirmed };
  /** 3 */
  MERGE_WHILE_STOPPED: { phase: string };
  INTENTION_WHILE_STOPPED: { number: number; phase: string };
  /** Before its turn. */
  MERGE_AHEAD: { number: number };
  /** 4 */
  TARGET_NOT_PLANNED: { number: number; target: string };
  PUT_BACK_OTHERWISE: { number: number; target: string };
  EDITED_OTHERWISE: { number: number; target: string };
  WEIGHT_NOT_GROWN: { number: number; target: string; weight: number; before: number };
  /** 5 */
  RUN_IS_ANOTHER: None;
  FROZEN_CHANGED: None;
  JOINER_CHANGED: { cluster: string };
  ENDED_GOES_ON: { phase: string };
  ENDING_GOES_ON: None;
  PULLS_OPEN_AT_ONCE: { count: number };
  ENDED_WITH_OPEN: { number: number };
  /** 6 */
  CHECK_NOT_JOURNALLED: { effect: string };
  SYNC_NOT_JOURNALLED: { target: string };
  ORDER_NOT_JOURNALLED: { command: string };
  PULL_NOT_JOURNALLED: { number: number };
  MERGE_NOT_INTENDED: { number: number };
  MERGE_OF_OTHER_HEAD: { number: number };
  MERGE_AFTER_LAPSE: { number: number };
  /** 7 */
  COMMAND_OF_NOBODY: { command: string };
  COMMAND_NOT_PERMITTED: { text: string; by: string; permission: string };
  COMMAND_TWICE: None;
  /** 8 */
  END_AND_PHASE_DIFFER: { phase: string; ended: boolean };
  NEXT_UNSAID: { phase: string };
}

export type Unconfirmed = { phase: string } | { verdict: string } | "beyondBudget" | "unproven" | "unmerged" | "older";

export type Breach = ReasonsOf<BreachReasons>;

/** Makes the reason of a violation. */
export const breach = reasonsOf<BreachReasons>();
