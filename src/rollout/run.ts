import type { Edit, Plan, PlannedTarget, Release } from "./plan-types.ts";
import type { Rollout } from "./rollout.ts";
import type { RunAnalysis } from "./run-analysis-types.ts";
import type { HookCall } from "./run-hooks-types.ts";
import type { Time } from "./time.ts";

/** RollingBack: what Progressing is, of a run that puts old values back; RolledBack: what Succeeded is. */
export type RunPhase =
  | "Pending"
  | "Progressing"
  | "Paused"
  | "RollingBack"
  | "Succeeded"
  | "RolledBack"
  | "Failed"
  | "Aborted"
  | "Superseded";

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
  what: string;
  at?: Time;
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
  /** Hotfix: made by command, out of its turn. Revert: puts back what clusters had before, so that they can be tried again later. */
  kind: "Planned" | "CatchUp" | "Hotfix" | "Revert";
  /** Of a stage with steps: a batch travels as one of these a weight, each with a PR of its own, for the same clusters. */
  step?: BatchStep;
  branch: string;
  phase: BatchPhase;
  since: Time;
  why: string;
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
  closing?: { why: string; at: Time };
  /** `/promote` on its PR under `merge: Manual`: merged as with Auto once GitHub allows it. */
  promoted?: { by: string; at: Time };
  merged?: { commit: string; at: Time; by: string };
  bake?: { from: Time; until: Time; restarts: number };
  /** Its analyses, AfterBatch: the last attempt of each. */
  analyses?: RunAnalysis[];
  settledAt?: Time;
}

/** Which weight a batch brings. Its targets are Healthy from their confirmation until the next weight has merged, and Baked then. */
export interface BatchStep {
  /** From 1, over the weights of the stage. */
  index: number;
  of: number;
  weight: number;
  /** Where it is in the pauses and analyses that follow it: `at` counts from 0. `from`: when the present one began; absent: it has not. */
  wait?: { at: number; from?: Time; until?: Time };
}

export interface BatchTarget {
  key: string;
  application: string;
  cluster: string;
  edits: Edit[];
  phase: TargetPhase;
  since: Time;
  /** One sentence: why it is where it is. */
  why: string;
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

/** An Argo Rollout as `kubectl argo rollouts get rollout` shows it. */
export interface RolloutState {
  namespace: string;
  name: string;
  phase: string;
  message: string;
  paused: boolean;
  /** From 0; the step under way. */
  step?: number;
  steps?: number;
  setWeight?: number;
  actualWeight?: number;
  stableImages: string[];
  canaryImages: string[];
  replicas: { desired: number; updated: number; ready: number; available: number };
}

export type RolloutAction = "resume" | "promote-full" | "abort" | "retry";

/** `notOffered`: Argo CD does not offer it now. */
export interface RolloutOutcome {
  kind: "done" | "notOffered" | "forbidden" | "failed";
  why?: string;
}

/** `/promote --rollouts` and the like: journalled before Argo CD is asked for anything, answered once every outcome is known. */
export interface RolloutOrder {
  /** Id of the command. */
  command: string;
  text: string;
  actor: string;
  at: Time;
  action: RolloutAction;
  /** What the command did besides, told with the answer. */
  also?: string;
  /** Rollouts that are left alone, and why, told with the answer. */
  left: string[];
  rollouts: OrderedRollout[];
}

/** A Rollout as it was when the order was given: one that is not so any more has been moved already. */
export interface OrderedRollout {
  /** Key of its target. */
  target: string;
  namespace: string;
  name: string;
  step?: number;
  outcome?: RolloutOutcome;
}

/** Why a verdict was given: the fields and times looked at. Plain data that goes to the journal as it is. */
export interface Evidence {
  verdict: Verdict;
  clause: string;
  sentence: string;
  /** The bot's time of the read. */
  readAt: Time;
  resourceVersion?: string;
  fields: Record<string, string | number | boolean | null>;
}

export type Verdict = "live" | "failing" | "waiting" | "pending" | "lost";

export interface Requeued {
  cluster: string;
  stage: number;
  /** Looks taken that found it still to be put off. */
  attempts: number;
  since: Time;
  nextAt: Time;
  why: string;
  /** By `/requeue … --for`: not before. */
  until?: Time;
  /** Failed after the last attempt. */
  failed?: boolean;
}

/** An amendment to the frozen plan (SPEC §9.16): a cluster that appeared during the run, caught up after its last stage. */
export interface Joined {
  cluster: string;
  /** Index of the stage that selects it. */
  stage: number;
  targets: PlannedTarget[];
  at: Time;
}

/** Left out by rule while it cannot be reached or is stopped. */
export interface Quarantined {
  cluster: string;
  stage: number;
  why: string;
  since: Time;
  /** Somebody has been asked about it: the run paused on it once, and is not paused by it again. */
  asked?: true;
}

export interface HandledCommand {
  id: string;
  text: string;
  actor: string;
  at: Time;
  outcome: "done" | "refused";
  message: string;
}

export interface Pause {
  kind:
    | "Command"
    | "Failure"
    | "Undecided"
    | "Drift"
    | "UnexpectedMerge"
    | "PullClosed"
    | "HeadMoved"
    | "History"
    | "Refused"
    | "Waiting"
    | "MergedByOther"
    | "Joined"
    | "Quarantine";
  by: string;
  reason: string;
  at: Time;
  /** What the person is asked to do: commands, ready to copy. */
  ask: string;
  /** `/pause` of a run that had paused by itself: whatever else ends that pause, this one holds till `/resume`. `reason` tells of it. */
  held?: { by: string; reason: string; at: Time };
}

export interface Approval {
  /** Index of the stage. */
  stage: number;
  /** What was approved: see approvalHash. It lapses where that is another. */
  hash: string;
  by: string;
  at: Time;
}

/** `/halt`. */
export interface Halt {
  /** Cluster keys or names; empty: every cluster. */
  clusters: string[];
  reason: string;
  by: string;
  at: Time;
  /** Absent: until it is lifted. */
  until?: Time;
  /** Id of the command: it binds from when it is read, and is answered once nothing that was begun before can merge any more. */
  command?: string;
}

/** One execution of a rollout for one release. `run.yaml`, `plan.yaml` and `batches/NNN.yaml` of the journal together. */
export interface Run {
  format: 1;
  rollout: string;
  number: number;
  release: Release;
  /** What started it. `pull`: the release PR, or the issue that stands for it where there was none; absent: neither could be made. */
  trigger: { commit: string; pull?: number; author: string; at: Time };
  /** Snapshot of the resource: edits of the file mid-run do not reach the run. */
  spec: Rollout;
  /** Frozen at the start. */
  plan: Plan;
  phase: RunPhase;
  since: Time;
  why: string;
  next: Next | null;
  /** Index of the current stage; equals the number of stages once all are done. */
  stage: number;
  batches: Batch[];
  requeued: Requeued[];
  /** Clusters left out of this run by command or rule, and why. */
  skipped: { cluster: string; why: string; at: Time }[];
  /** Clusters that appeared during the run and are caught up at its end. */
  joined?: Joined[];
  /** Clusters and Applications that appeared during the run and are not taken, and why: named, and left as they are. */
  notJoined?: { cluster: string; why: string; at: Time }[];
  /** Clusters left out by the rule `quarantine`, for as long as it says. */
  quarantined?: Quarantined[];
  /** Clusters accepted as failed, within the budget or by `/resume`. */
  failedAccepted: string[];
  paused?: Pause;
  /** On its way to Aborted or Superseded: nothing merges, and it ends once what it left open is settled. */
  ending?: {
    phase: "Aborted" | "Superseded" | "Failed";
    by: string;
    reason: string;
    at: Time;
    command?: { id: string; text: string };
    answer?: string;
  };
  /** Absent: forward. A rollback puts the old values back, and is a run of its own: `of` is the number of the run whose clusters it moves. */
  kind?: "Rollback";
  of?: number;
  /** By target: the values that were last good, where they are not those that stood there when the run started. */
  lastGood?: Record<string, (string | null)[]>;
  /** Keys of targets whose present value no run has confirmed: it failed there, or its run was over before. */
  unproven?: string[];
  /** Of a rollback: clusters of the run it takes back to which that had not come yet. */
  stays?: string[];
  /** The release that was last good when the run started: what a rollback goes back to. */
  goodRelease?: Record<string, string>;
  /** How many runs in a row right before it were superseded. */
  superseded?: number;
  /** Of a rollback: put the release values back, in the commit of its last batch. */
  restore?: Edit[];
  /** Somebody, or the failure policy, wants it rolled back: it ends, and then that run starts. */
  rollback?: { by: string; reason: string; at: Time; to?: string };
  /** Given by command, for one stage and what it held then. */
  approvals?: Approval[];
  /** Head of the base branch when the run started, where it measures something: analysis templates are read there. */
  startedFrom?: string;
  /** Analyses of its stages: the last attempt of each. Those of batches stand there. */
  analyses?: RunAnalysis[];
  /** What hooks were asked, and answered: the last event of each before and after, and all of onFailure. */
  hooks?: HookCall[];
  /** `/promote --full`: no later bake, step pause or analysis is waited for. */
  promotedFully?: { by: string; at: Time };
  /** Clusters that no run of the repo may touch for now. Carried over to the rollout's next run. */
  halts?: Halt[];
  commands: HandledCommand[];
  /** Actions on Argo Rollouts whose outcome is not known yet. */
  rolloutOrders?: RolloutOrder[];
  /** Control planes of the run that cannot be read now: their targets wait, the others go on. */
  unseen?: { plane: string; since: Time; why: string }[];
  startedAt: Time;
  endedAt?: Time;
}

export const ENDED: readonly RunPhase[] = ["Succeeded", "RolledBack", "Failed", "Aborted", "Superseded"];

/** Goes on by itself: makes batches and merges them. */
export function isMoving(run: Pick<Run, "phase">): boolean {
  return run.phase === "Progressing" || run.phase === "RollingBack";
}

/** The run goes on by itself; or it is paused, and this batch puts back what clusters had before (SPEC §9.14). */
export function mayMove(run: Pick<Run, "phase" | "ending">, batch: Pick<Batch, "kind">): boolean {
  return isMoving(run) || (run.phase === "Paused" && run.ending === undefined && batch.kind === "Revert");
}

/** The phase in which a run goes on. */
export function movingPhase(run: Pick<Run, "kind">): "Progressing" | "RollingBack" {
  return run.kind === "Rollback" ? "RollingBack" : "Progressing";
}

export function isEnded(run: Pick<Run, "phase">): boolean {
  return ENDED.includes(run.phase);
}
