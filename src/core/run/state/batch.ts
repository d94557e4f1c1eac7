import type { AnyReason } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import type { Edit } from "../../plan/plan-types.ts";
import type { BatchStep } from "../../plan/steps.ts";
import type { RunAnalysis } from "./analysis-types.ts";
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
  what: AnyReason;
  /** When it is expected. */
  eta?: Time | undefined;
  /** When it counts as over at the latest. */
  deadline?: Time | undefined;
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
  step?: BatchStep | undefined;
  branch: string;
  phase: BatchPhase;
  since: Time;
  why: AnyReason;
  next: Next | null;
  targets: BatchTarget[];
  /** Its PR is opened before its turn, while the batch before settles or bakes: nothing of it merges before its turn has come. */
  ahead?: true | undefined;
  /** We began to merge it, and so its stage's approval was there. */
  approved?: true | undefined;
  /** Edited in the same commit besides the targets' pins: of a rollback's last batch, the release value that is restored. */
  also?: Edit[] | undefined;
  pull?: { number: number; url: string; head: string; openedAt: Time } | undefined;
  /** Journalled before the merge call; lapses after 30 s, and while its PR is in a merge queue (`queued`) not at all. */
  intention?: { head: string; at: Time; queued?: Time } | undefined;
  /** GitHub's last answer that something has to happen first: not asked again before what it was said of (`key`) changes, or a while has passed. */
  refused?: { message: string /** When it was asked. */; at: Time; key: string } | undefined;
  /** Its PR is to be closed; done once it is observed closed. A run that goes on builds it again, as the next attempt. */
  closing?: { why: AnyReason; at: Time } | undefined;
  /** `/promote` on its PR under `merge: Manual`: merged as with Auto once GitHub allows it. */
  promoted?: { by: string; at: Time } | undefined;
  merged?: { commit: string; at: Time; by: string } | undefined;
  bake?: { from: Time; until: Time; restarts: number } | undefined;
  /** Its analyses, AfterBatch: the last attempt of each. */
  analyses?: RunAnalysis[] | undefined;
  settledAt?: Time | undefined;
}

export interface BatchTarget {
  key: string;
  application: string;
  cluster: string;
  edits: Edit[];
  phase: TargetPhase;
  since: Time;
  /** Why it is where it is. */
  why: AnyReason;
  /** First read of Argo CD that showed the change. */
  firstSeenAt?: Time | undefined;
  /** When that comparison was made by the cluster's own clock, which may be ahead of ours. */
  firstComparedAt?: Time | undefined;
  /** Since when, by our clock, every read of it was good: a process that lives shortly goes on where the one before it was. */
  goodSince?: Time | undefined;
  /** When it counts as failed at the latest, absent while nothing runs. */
  deadlineAt?: Time | undefined;
  /** Since when it waits for a person, window or retry; `progressDeadline` stands still meanwhile. */
  waitingSince?: Time | undefined;
  confirmedAt?: Time | undefined;
  /** Under `baseline: Tolerate`: what was wrong with it when its batch was proposed; dropped where it got well before the merge. */
  baseline?: string[] | undefined;
  /** Failed, and no worse than its baseline: outside the budget. */
  excused?: true | undefined;
  /** Looked at anew since then by `/retry`: what was failing has its grace once more. */
  retriedAt?: Time | undefined;
  /** Since when a dip lasts that is ignored as yet, and when those before it began, as far as they are in the window. */
  dippedAt?: Time | undefined;
  dips?: Time[] | undefined;
  /** With `sync: Request`: since when Argo CD is asked to sync it, and to which revisions of its sources. */
  syncAsked?: { at: Time; revisions: string[] } | undefined;
  /** Kept at confirmation and at failure. */
  evidence?: Evidence | undefined;
  /** Its Argo Rollouts as last read, while it is in flight and where it failed: the first few, shortened. */
  rollouts?: RolloutState[] | undefined;
}

/** What follows from a batch of fewer targets costs less to work out again than to remember by the batch. */
export const WORTH_REMEMBERING = 64;

/** Why a verdict was given: the fields and times looked at. Plain data that goes to the journal as it is. */
export interface Evidence {
  verdict: Verdict;
  clause: string;
  sentence: AnyReason;
  /** The bot's time of the read. */
  readAt: Time;
  resourceVersion?: string | undefined;
  fields: Record<string, string | number | boolean | null>;
}

export type Verdict = "live" | "failing" | "waiting" | "pending" | "lost";

/** Planned: of the plan. CatchUp: of what was put off. Hotfix: made by command, out of its turn. Revert: puts back what clusters had before. */
type BatchKind = "Planned" | "CatchUp" | "Hotfix" | "Revert";

interface Traits {
  /** It waits for the batches and stages before it, for windows and for what is measured, travels in steps, and bakes. */
  inTurn: boolean;
  /** It puts back what clusters had before, so that they can be tried again later: also while the run is paused, and nobody approves it. */
  putsBack: boolean;
}

const TRAITS: Record<BatchKind, Traits> = {
  Planned: { inTurn: true, putsBack: false },
  CatchUp: { inTurn: true, putsBack: false },
  Hotfix: { inTurn: false, putsBack: false },
  Revert: { inTurn: false, putsBack: true },
};

export function isInTurn({ kind }: { kind: BatchKind }): boolean {
  return TRAITS[kind].inTurn;
}

export function putsBack({ kind }: { kind: BatchKind }): boolean {
  return TRAITS[kind].putsBack;
}

/** Its PR is asked for, there, or being merged. */
export function isProposed({ phase }: Pick<Batch, "phase">): boolean {
  return phase === "Proposing" || phase === "Open" || phase === "Merging";
}
