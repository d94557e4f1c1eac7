import type { Words } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import type { Edit } from "../../plan/plan-types.ts";
import type { BatchStep } from "../../plan/steps.ts";
import type { RunAnalysis } from "./analysis-types.ts";
import type { BatchKind } from "./batch-kind.ts";
import type { RolloutState } from "./rollouts-types.ts";

export type TargetPhase =
  | "Pending"
  | "Requeued"
  | "Proposed"
  | "Merged"
  | "Syncing"
  | "Healthy"
  | "Baked"
  | "Failed"
  | "Skipped"
  | "RolledBack";

/**
 * Proposing: journalled, branch and PR perhaps not there yet. Open: the PR is there. Merging: a merge intention is
 * outstanding. Merged: watched until every target is confirmed. Baking: all confirmed, healthy for `bake`. Settled: done.
 * Closed: its PR ended without a merge and nothing of it is in flight.
 */
export type BatchPhase = "Proposing" | "Open" | "Merging" | "Merged" | "Baking" | "Settled" | "Closed";

/** What happens next, and when at the latest. */
export interface Next {
  what: Words;
  /** Transitional: eta or deadline. */
  at?: Time;
  /** When it is expected. */
  eta?: Time;
  /** When it counts as over at the latest. */
  deadline?: Time;
}

export interface Batch {
  /** 1, 2, 3 … over the run, in the order proposed. */
  number: number;
  /** Index of the stage in the plan. */
  stage: number;
  /** Number within its stage, from 1: the BATCH of the branch name. */
  ofStage: number;
  /** From 1; raised before a branch is built again after a close or conflict. */
  attempt: number;
  kind: BatchKind;
  /** Of a stage with steps: a batch travels as one of these a weight, each with a PR of its own, for the same clusters. */
  step?: BatchStep;
  branch: string;
  phase: BatchPhase;
  since: Time;
  why: Words;
  next: Next | null;
  targets: BatchTarget[];
  /** We began to merge it, and so its stage's approval was there. */
  approved?: true;
  /** Edited in the same commit besides the targets' pins: of a rollback's last batch, the release value that is restored. */
  also?: Edit[];
  pull?: { number: number; url: string; head: string; openedAt: Time };
  /** Journalled before the merge call; lapses after 30 s, and while its PR is in a merge queue (`queued`) not at all. */
  intention?: { head: string; at: Time; queued?: Time };
  /** GitHub's last answer that something has to happen first: not asked again before what it was said of (`key`) changes, or a while has passed. */
  refused?: { message: string; at: Time; key: string };
  /** Its PR is to be closed; done once it is observed closed. A run that goes on builds it again, as the next attempt. */
  closing?: { why: Words; at: Time };
  /** `/promote` on its PR under `merge: Manual`: merged as with Auto once GitHub allows it. */
  promoted?: { by: string; at: Time };
  merged?: { commit: string; at: Time; by: string };
  bake?: { from: Time; until: Time; restarts: number };
  /** Its analyses, AfterBatch: the last attempt of each. */
  analyses?: RunAnalysis[];
  settledAt?: Time;
}

export interface BatchTarget {
  key: string;
  application: string;
  cluster: string;
  edits: Edit[];
  phase: TargetPhase;
  since: Time;
  /** Why it is where it is. */
  why: Words;
  /** First read of Argo CD that showed the change. */
  firstSeenAt?: Time;
  /** When it counts as failed at the latest, absent while nothing runs. */
  deadlineAt?: Time;
  /** Since when it waits for a person, window or retry; `progressDeadline` stands still meanwhile. */
  waitingSince?: Time;
  confirmedAt?: Time;
  /** Under `baseline: Tolerate`: what was wrong with it when its batch was proposed; dropped where it got well before the merge. */
  baseline?: string[];
  /** Failed, and no worse than its baseline: outside the budget. */
  excused?: true;
  /** Looked at anew since then by `/retry`: what was failing has its grace once more. */
  retriedAt?: Time;
  /** Since when a dip lasts that is ignored as yet, and when those before it began, as far as they are in the window. */
  dippedAt?: Time;
  dips?: Time[];
  /** Kept at confirmation and at failure. */
  evidence?: Evidence;
  /** Its Argo Rollouts as last read, while it is in flight and where it failed: the first few, shortened. */
  rollouts?: RolloutState[];
}

/** Why a verdict was given: the fields and times looked at. Plain data that goes to the journal as it is. */
export interface Evidence {
  verdict: Verdict;
  clause: string;
  sentence: Words;
  /** The bot's time of the read. */
  readAt: Time;
  resourceVersion?: string;
  fields: Record<string, string | number | boolean | null>;
}

export type Verdict = "live" | "failing" | "waiting" | "pending" | "lost";
