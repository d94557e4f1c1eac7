import type { AnyReason } from "../base/reason.ts";
import type { MergeObstacle } from "./gates.ts";
import type { BatchRef, PullRef } from "./refs.ts";

type None = Record<never, never>;

/** The reasons of batches: each code with its data. `core/report/reasons/batches.ts` says them. */
export interface BatchesReasons {
  BATCH_BUILT_OFTEN: { batch: BatchRef; times: number; because: AnyReason };
  /** ahead: before its turn. */
  BATCH_MADE: { batch: BatchRef; clusters: string[]; ahead?: true | undefined };
  BATCH_ATTEMPT: { batch: BatchRef; attempt: number };
  /** branches: it moves branches and has no PR. clusters: empty where its pins were not looked at yet. */
  BATCH_OPENING: { branches: boolean; again: boolean; clusters: string[] };
  BATCH_NEEDS_NO_PULL: { batch: BatchRef; clusters: string[] };
  BATCH_PROPOSED: { batch: BatchRef; pull: PullRef };
  /** by: somebody else than Stagecoach. */
  BATCH_MERGED: { batch: BatchRef; pull: PullRef; commit: string; by?: string | undefined };
  BUILT_AGAIN: None;
  ALL_LEFT_OUT: None;
  LIMITS_ALLOW_FEWER: None;
  EARLIER_STAGE_FIRST: None;
  /** A cluster is to be put off since its batch's PR was opened ahead. */
  PUT_OFF_SINCE: { clusters: string[] };
  NOT_OPENED_YET: { because: AnyReason };
  /** GitHub refuses the PR of a batch, or its branch. */
  OPENING_REFUSED: { because: AnyReason };
  NOT_OPENED: { batch: BatchRef; because: AnyReason };
  MUST_NOT_PROPOSE: { batch: BatchRef; because: AnyReason };
  PINS_UNREAD: { clusters: string[] };
  /** value: absent where nothing stands there. */
  PINNED_BY_HAND: { value?: string | undefined };
  PINNED_WITH: { cluster: string };
  CLUSTER_EVENT: { cluster: string; because: AnyReason };
  CLUSTER_GONE: None;
  CLUSTER_LEFT: { cluster: string };
  PIN_GONE_UNSEEN: { cluster: string };
  /** file: absent where the pin is a branch. */
  PIN_GONE: { cluster: string; file?: string | undefined; path?: string | undefined };

  PULL_UNKNOWN: None;
  PULL_CLOSING: { pull: PullRef; because: AnyReason };
  PULL_CLOSED: { pull: PullRef; by: string };
  CLOSED_UNMERGED: { pull: PullRef; by: string; batch: BatchRef };
  CHANGED_NOT_MERGED: { because: AnyReason };
  BRANCH_TAKEN: { branch: string; head: string };
  /** No obstacles: GitHub's words are none of those that are known. */
  GITHUB_REFUSES: { pull: PullRef; obstacles: MergeObstacle[]; message: string };
  GITHUB_WAITS: { pull: PullRef };
  INTENTION_LAPSED: { pull: PullRef };
  QUEUE_ENTERED: { pull: PullRef };
  QUEUE_LEFT: { pull: PullRef };
  /** `message`: GitHub's words; `failed`: checks on the merge group `head`. */
  QUEUE_REFUSED: {
    pull: PullRef;
    message?: string | undefined;
    obstacles?: MergeObstacle[] | undefined;
    failed?: string[] | undefined;
    head?: string | undefined;
  };
  MERGE_UNEXPECTED: { pull: PullRef; commit: string };
  MERGED_EARLY: { pull: PullRef; by: string; because: AnyReason };
  MERGED_BEFORE_CLOSED: None;

  TARGET_IN_PULL: { pull: PullRef };
  TARGET_PULL_CLOSED: None;
  TARGET_MERGED: None;
  TARGET_PUT_BACK: None;
  WENT_ON_TO_WEIGHT: { weight: number };
  STAYS_AT_WEIGHT: { weight: number };

  NEXT_OPEN: { branches: boolean };

  ASK_TRY_AGAIN: None;
  ASK_DELETE_BRANCH: None;
  ASK_LET_OPEN: None;
  ASK_BUILD_AGAIN: None;
  ASK_QUEUE: None;
  ASK_CLOSED: None;
  ASK_UNEXPECTED: None;
  ASK_MERGED_EARLY: None;
  ASK_CHANGE_NAMED: None;
  ASK_PIN_BACK: { cluster: string };
}
