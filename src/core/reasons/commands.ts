import type { AnyReason } from "../base/reason.ts";
import type { BatchRef, CheckRef, PullRef, WaitNamed } from "./refs.ts";
import type { NextStepRef } from "./stages.ts";

/** What came of commands: answers, the pauses and ends that people ask for, and what is journalled of them. Clusters are keys. */
export interface CommandReasons {
  COMMAND_GIVEN: { by: string; text: string };
  COMMAND_ENDED: { by: string; text: string; outcome: "done" | "refused" };
  RUN_STATUS: { phase: string; because: AnyReason };
  PERMISSION_MISSING: { command: string; needs: string; by: string; has: string };
  COMMAND_OF_FORMER_RUN: { rollout: string; former: number; last: number; pull?: number | undefined };
  COMMAND_TOO_EARLY: { before: "run" | "failure" | "halt" };
  COMMAND_TOO_LATE: Record<never, never>;
  COMMAND_OVERTAKEN: { by: string; text: string };
  COMMAND_BEFORE_PULL: { pull: PullRef };
  COMMAND_BEFORE_PAUSE: { because: AnyReason };
  RUN_HAS_ENDED: { phase: string };
  RUN_IS_ENDING: { because: AnyReason };
  RUN_IS_PAUSED: { because: AnyReason; ask: AnyReason };
  HOTFIX_WHILE_PAUSED: { because: AnyReason; ask: AnyReason };
  COMMAND_WAITS_FOR_MERGE: { command: string; by: string; pull: PullRef };

  ASK_RESUME: Record<never, never>;
  ASK_BESIDES: { ask: AnyReason; by: string };
  ALREADY_PAUSED: { because: AnyReason };
  PAUSED_BY: { by: string; text: string };
  PAUSED_BESIDES: { because: AnyReason; held: AnyReason };
  PAUSE_DONE: Record<never, never>;
  NOT_PAUSED: Record<never, never>;
  RESUME_ACCEPTS_FAILURES: { clusters: readonly string[]; checks: readonly CheckRef[] };
  FAILED_SINCE: { clusters: readonly string[] };
  RESUMED_BY: { by: string; text?: string | undefined };
  RESUME_DONE: { accepted: boolean; clusters: readonly string[]; checks: readonly CheckRef[] };
  RESUMED_WITH_ROLLOUTS: { resumed: AnyReason; rollouts: AnyReason };
  HEAD_CHANGED: Record<never, never>;
  ABORTED_BY: { by: string; text: string };

  NOTHING_TO_PROMOTE: { because: AnyReason };
  /** was: what its author had in view, and is over; absent: what waits had not been shown yet. current: what waits. */
  PROMOTE_CAME_LATE: { was?: WaitNamed | undefined; current?: WaitNamed | undefined; because: AnyReason };
  PROMOTE_ON_FORMER_PULL: { batch: BatchRef; pull: PullRef; current?: WaitNamed | undefined };
  PROMOTE_OF_OTHER_BATCH: { batch: BatchRef; current: WaitNamed; because: AnyReason };
  BAKE_OVER: { because: AnyReason };
  BAKE_ENDED: { batch: BatchRef };
  ANALYSIS_NOT_PROMOTED: { because: AnyReason };
  STEP_PAUSE_ENDED: { batch: BatchRef; after: NextStepRef };
  STAGE_APPROVED: { stage: string; by: string };
  FULL_NEEDS_MAINTAIN: { rollouts: boolean };
  FULL_GIVEN_ALREADY: { by: string };
  WAITS_ENDED_BY: { by: string };
  FULL_DONE: Record<never, never>;
  MODE_NEVER_MERGES: { mode: string; pull: PullRef };
  MERGES_BY_ITSELF: { pull: PullRef; because: AnyReason };
  PROMOTED_ALREADY: { by: string; pull: PullRef; because: AnyReason };
  PROMOTE_DONE: { pull: PullRef };

  CLUSTER_UNKNOWN: { name: string };
  CLUSTER_AMBIGUOUS: { name: string; keys: readonly string[] };
  CLUSTER_SHARES_PIN: { cluster: string; others: readonly string[] };
  CLUSTERS_NOT_NAMED: { command: "skip" | "requeue" | "hotfix" };
  LEFT_OUT_BY: { by: string; text?: string | undefined };
  CLUSTER_LEFT_OUT: { cluster: string; because: AnyReason };
  BATCH_LOSES_CLUSTER: { by: "skip" | "requeue" | "retry" | "hotfix" };
  SKIP_DONE: { clusters: readonly string[] };
  LEFT_OUT_ALREADY: { cluster: string };
  CONFIRMED_ALREADY: { cluster: string };
  DURATION_INVALID: { text: string };
  PUT_OFF_BY: { by: string; text?: string | undefined };
  REQUEUE_DONE: { clusters: readonly string[]; back: readonly string[] };
  NOTHING_FAILED: Record<never, never>;
  BEING_PUT_BACK: { cluster: string; because: AnyReason };
  PUT_OFF_ALREADY: { cluster: string; because: AnyReason };
  GOES_ON_AFTER: { command: string; by: string };

  HALT_TOO_MANY: { most: number };
  HALT_NAMES_NONE: Record<never, never>;
  HALT_WANTS_REASON: Record<never, never>;
  HALTED_BY: { clusters: readonly string[]; by: string };
  HALT_DONE: { clusters: readonly string[]; until?: string | undefined };
  HALT_NOT_FOUND: { clusters: readonly string[]; rollout: string; elsewhere: boolean };
  HALT_LIFTED_BY: { clusters: readonly string[]; by: string };
  HALT_LIFTED: { clusters: readonly string[] };

  HOTFIX_OF_ROLLBACK: Record<never, never>;
  HOTFIX_WANTS_REASON: { names: readonly string[] };
  HOTFIX_STAGES_DIFFER: Record<never, never>;
  HOTFIX_TOO_LARGE: { most: number };
  HOTFIX_OVER_LIMITS: { allowed: AnyReason };
  CLUSTERS_KEPT_APART: { clusters: readonly string[] };
  HOTFIX_DONE: { clusters: readonly string[]; text: string };
  IN_BATCH_ALREADY: { cluster: string; because: AnyReason };
  MOVED_ALREADY: { cluster: string; because: AnyReason };

  RETRY_OF_GOING_RUN: Record<never, never>;
  RETRIED_BY: { by: string; text?: string | undefined };
  RETRY_DONE: { clusters: readonly string[]; checks: readonly CheckRef[]; pausedBy?: string | undefined };
  TARGET_LOOKED_AT_ANEW: Record<never, never>;
  NEXT_CLUSTERS_LOOKED_AT: Record<never, never>;

  ROLLBACK_OF_ROLLBACK: Record<never, never>;
  ROLLBACK_OF_ENDED_ROLLBACK: Record<never, never>;
  ROLLING_BACK_ALREADY: { by: string };
  ROLLBACK_WANTS_VERSION: Record<never, never>;
  /** A version without `--to`. */
  ROLLBACK_WANTS_TO: { given: string };
  /** It names clusters, and is for all of them. */
  COMMAND_FOR_WHOLE_RUN: { command: string; names: readonly string[] };
  ROLLED_BACK_BY: { by: string; to?: string | undefined; text?: string | undefined };
  ROLLBACK_DONE: { clusters: readonly string[]; left: readonly string[]; because?: AnyReason | undefined };

  NOT_OF_ROLLOUTS: { command: string };
  ROLLOUTS_NOT_MERGED: Record<never, never>;
  ROLLOUTS_TOO_MANY: { count: number };
  ROLLOUTS_ORDERED: { by: string; action: string; clusters: readonly string[] };
  ROLLOUTS_UNSEEN: { cluster: string; because: AnyReason };
  ROLLOUTS_ALL_UNSEEN: { left: readonly AnyReason[] };
  ROLLOUT_UNSEEN: { cluster: string; because: AnyReason };
  ROLLOUT_STATE: { cluster: string; name: string; phase: string; paused: boolean; step?: number | undefined; steps?: number | undefined };
  ROLLOUT_NOT_TRIED: Record<never, never>;
  ROLLOUTS_BROKEN: { rollouts: readonly AnyReason[]; more: number };
  ROLLOUTS_BEHIND: { rollouts: readonly AnyReason[]; more: number };
  ROLLOUTS_NONE: Record<never, never>;
  ROLLOUTS_NONE_SUCH: { wanted: string; rollouts: readonly AnyReason[]; more: number };
  ROLLOUTS_DONE: {
    action: string;
    also?: AnyReason | undefined;
    done: number;
    clusters: readonly string[];
    failed: readonly { cluster: string; name: string; because: AnyReason }[];
    left: readonly AnyReason[];
  };
}
