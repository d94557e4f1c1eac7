import type { AnyReason } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import type { Edit, Plan, PlannedTarget, Release } from "../../plan/plan-types.ts";
import type { Rollout } from "../../spec/rollout.ts";
import type { RunAnalysis } from "./analysis-types.ts";
import { type Batch, type Next, putsBack } from "./batch.ts";
import type { HookCall } from "./hooks-types.ts";
import type { ShownWait } from "./promotable-types.ts";
import type { RolloutOrder } from "./rollouts-types.ts";
import type { Trigger } from "./trigger.ts";

export type { Batch, BatchPhase, BatchTarget, Evidence, Next, TargetPhase, Verdict } from "./batch.ts";
export type { OrderedRollout, RolloutAction, RolloutOrder, RolloutOutcome, RolloutState } from "./rollouts-types.ts";

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

export interface Requeued {
  cluster: string;
  stage: number;
  /** Looks taken that found it still to be put off. */
  attempts: number;
  since: Time;
  nextAt: Time;
  why: AnyReason;
  /** By `/requeue … --for`: not before. */
  until?: Time | undefined;
  /** Failed after the last attempt. */
  failed?: boolean | undefined;
}

/** An amendment to the frozen plan (docs/spec.md §9.16): a cluster that appeared during the run, caught up after its last stage. */
export interface Joined {
  cluster: string;
  /** Index of the stage that selects it. */
  stage: number;
  targets: PlannedTarget[];
  at: Time;
}

/** Left out by rule while it cannot be reached or is stopped. */
interface Quarantined {
  cluster: string;
  stage: number;
  why: AnyReason;
  since: Time;
  /** Somebody has been asked about it: the run paused on it once, and is not paused by it again. */
  asked?: true | undefined;
}

interface HandledCommand {
  id: string;
  text: string;
  actor: string;
  at: Time;
  outcome: "done" | "refused";
  message: AnyReason;
}

export interface Pause {
  kind:
    | "Command"
    | "Failure"
    | "Undecided"
    | "Drift"
    | "Moved"
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
  reason: AnyReason;
  at: Time;
  /** What the person is asked to do: commands, ready to copy. */
  ask: AnyReason;
  /** `/pause` of a run that had paused by itself: whatever else ends that pause, this one holds till `/resume`. `reason` tells of it. */
  held?: { by: string; reason: AnyReason; at: Time } | undefined;
}

/** What a revision that the release names stood for when the run first knew: a tag may be moved, and what is rolled out is what was released. */
export interface ResolvedRevision {
  /** Without what does not tell repositories apart. */
  repoURL: string;
  revision: string;
  commit: string;
  at: Time;
  /** The first cluster that showed it, where Git could not be asked. Absent: Git said so. */
  cluster?: string | undefined;
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
  until?: Time | undefined;
  /** Id of the command: it binds from when it is read, and is answered once nothing that was begun before can merge any more. */
  command?: string | undefined;
}

/** One execution of a rollout for one release. `run.yaml`, `plan.yaml` and `batches/NNN.yaml` of the journal together. */
export interface Run {
  format: 2;
  rollout: string;
  number: number;
  release: Release;
  trigger: Trigger;
  /** Snapshot of the resource: edits of the file mid-run do not reach the run. */
  spec: Rollout;
  /** Frozen at the start. */
  plan: Plan;
  phase: RunPhase;
  since: Time;
  why: AnyReason;
  next: Next | null;
  /** Index of the current stage; equals the number of stages once all are done. */
  stage: number;
  batches: Batch[];
  /** Absent: none was looked up yet. */
  resolved?: ResolvedRevision[] | undefined;
  requeued: Requeued[];
  /** Clusters left out of this run by command or rule, and why. */
  skipped: { cluster: string; why: AnyReason; at: Time }[];
  /** Clusters that appeared during the run and are caught up at its end. */
  joined?: Joined[] | undefined;
  /** Clusters and Applications that appeared during the run and are not taken, and why: named, and left as they are. */
  notJoined?: { cluster: string; why: AnyReason; at: Time }[] | undefined;
  /** Clusters left out by the rule `quarantine`, for as long as it says. */
  quarantined?: Quarantined[] | undefined;
  /** Clusters accepted as failed, within the budget or by `/resume`. */
  failedAccepted: string[];
  paused?: Pause | undefined;
  /** On its way to Aborted or Superseded: nothing merges, and it ends once what it left open is settled. */
  ending?:
    | {
        phase: "Aborted" | "Superseded" | "Failed";
        by: string;
        reason: AnyReason;
        at: Time;
        command?: { id: string; text: string };
        answer?: AnyReason;
      }
    | undefined;
  /** Absent: forward. A rollback puts the old values back, and is a run of its own: `of` is the number of the run whose clusters it moves. */
  kind?: "Rollback" | undefined;
  of?: number | undefined;
  /** By target: the values that were last good, where they are not those that stood there when the run started. */
  lastGood?: Record<string, (string | null)[]> | undefined;
  /** Keys of targets whose present value no run has confirmed: it failed there, or its run was over before. */
  unproven?: string[] | undefined;
  /** Of a rollback: clusters of the run it takes back to which that had not come yet. */
  stays?: string[] | undefined;
  /** The release that was last good when the run started: what a rollback goes back to. */
  goodRelease?: Record<string, string> | undefined;
  /** When it failed first: it paused by a failure, or somebody or the policy wanted it rolled back. What came later does not change it. */
  failedAt?: Time | undefined;
  /** Since when the rollout is broken by runs before it: none of them since has ended well. */
  brokenSince?: Time | undefined;
  /** How many runs in a row right before it were superseded. */
  superseded?: number | undefined;
  /** Of a rollback: put the release values back, in the commit of its last batch. */
  restore?: Edit[] | undefined;
  /** Somebody, or the failure policy, wants it rolled back: it ends, and then that run starts. */
  rollback?: { by: string; reason: AnyReason; at: Time; to?: string } | undefined;
  /** Given by command, for one stage and what it held then. */
  approvals?: Approval[] | undefined;
  /** By stage that wants approval: when what it holds last changed. Reviews from before that are of another stage. */
  amended?: { stage: number; at: Time }[] | undefined;
  /** Head of the base branch when the run started, where it measures something: analysis templates are read there. */
  startedFrom?: string | undefined;
  /** Analyses of its stages: the last attempt of each. Those of batches stand there. */
  analyses?: RunAnalysis[] | undefined;
  /** What hooks were asked, and answered: the last event of each before and after, and all of onFailure. */
  hooks?: HookCall[] | undefined;
  /** `/promote --full`: no later bake, step pause or analysis is waited for. */
  promotedFully?: { by: string; at: Time } | undefined;
  /** Clusters that no run of the repo may touch for now. Carried over to the rollout's next run. */
  halts?: Halt[] | undefined;
  commands: HandledCommand[];
  shown?: ShownWait[] | undefined;
  /** Actions on Argo Rollouts whose outcome is not known yet. */
  rolloutOrders?: RolloutOrder[] | undefined;
  /** Control planes of the run that cannot be read now: their targets wait, the others go on. */
  unseen?: { plane: string; since: Time; why: AnyReason }[] | undefined;
  startedAt: Time;
  endedAt?: Time | undefined;
}

const ENDED: readonly RunPhase[] = ["Succeeded", "RolledBack", "Failed", "Aborted", "Superseded"];

/** Goes on by itself: makes batches and merges them. */
export function isMoving(run: Pick<Run, "phase">): boolean {
  return run.phase === "Progressing" || run.phase === "RollingBack";
}

/** The run goes on by itself; or it is paused, and this batch puts back what clusters had before (docs/spec.md §9.14). */
export function mayMove(run: Pick<Run, "phase" | "ending">, batch: Pick<Batch, "kind">): boolean {
  return isMoving(run) || (run.phase === "Paused" && run.ending === undefined && putsBack(batch));
}

/** The phase in which a run goes on. */
export function movingPhase(run: Pick<Run, "kind">): "Progressing" | "RollingBack" {
  return run.kind === "Rollback" ? "RollingBack" : "Progressing";
}

export function isEnded(run: Pick<Run, "phase">): boolean {
  return ENDED.includes(run.phase);
}
