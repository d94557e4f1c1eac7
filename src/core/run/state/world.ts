import type { AnyReason } from "../../base/reason.ts";
import type { Time } from "../../base/time.ts";
import type { Cluster, PlannedTarget } from "../../plan/plan-types.ts";
import type { BareBranch, PullNeed } from "../../reasons/gates.ts";
import type { Command } from "../../spec/commands.ts";
import type { Limits } from "../../spec/schema-common.ts";
import type { PlacedFreeze } from "../../spec/windows-binding.ts";
import type { ObservedAnalysis } from "./analysis-types.ts";
import type { Effect, ObservedSync } from "./effects.ts";
import type { HookAnswer } from "./hooks-types.ts";
import type { PromotableWait } from "./promotable-types.ts";
import type { Evidence, ResolvedRevision, RolloutOutcome, RolloutState, Run, Verdict } from "./run.ts";

export type { Effect } from "./effects.ts";

/** What one round of looking found. What is missing (`undefined`: not looked, or not seen) is waited for, never taken for good. */
export interface World {
  /** Head of the base branch. */
  base: { commit: string };
  /** By batch number. null: looked, and there is none for its branch. */
  pulls: ReadonlyMap<number, ObservedPull | null>;
  /** By batch number: head of a branch that bears our name and holds what is not ours. No PR is ever opened on it. */
  taken?: ReadonlyMap<number, string> | undefined;
  /** By batch number: why GitHub refuses to have its PR opened, and since when this process was refused it. */
  unopened?: ReadonlyMap<number, { since: Time; because: AnyReason }> | undefined;
  /** The render guard's answer for a batch, on this very base. */
  guards: ReadonlyMap<number, Guard>;
  /** By target key: every target of a batch that is not Closed. */
  targets: ReadonlyMap<string, ObservedTarget>;
  /** By target key: how the Applications are that a batch with an open PR follows, whatever changed last. Absent: not looked. */
  health?: ReadonlyMap<string, ObservedHealth> | undefined;
  /** What the revisions that its targets name stand for in Git now. undefined: not looked, or Git did not answer. */
  revisions?: readonly NamedRevision[] | undefined;
  /** By key: as registered now, or what the rollout counts in their place. Empty map and `clustersKnown: false` where they cannot be read. */
  clusters: ReadonlyMap<string, Cluster>;
  fleet?: ReadonlyMap<string, Cluster> | undefined;
  /** For limits by labels: clusters where other runs have something in flight, and what these count there; unread: not all can be seen. */
  elsewhere?: readonly Cluster[] | "unread" | undefined;
  clustersKnown: boolean;
  /** Commands written for this run, oldest first, whether or not already handled. */
  commands: readonly Command[];
  /** Windows of the repo's and the server's settings, as of now: they bind the runs besides their own. `where`: who says so. */
  freezes?: readonly PlacedFreeze[] | undefined;
  /** The repo's settings cannot be read, and why: nobody can tell what they freeze or limit, so nothing merges. */
  settingsBroken?: AnyReason | undefined;
  /** Branches of ours that others may write to; unread: GitHub did not say. Absent: none, or the operator does not mind. */
  unprotected?: readonly BareBranch[] | "unread" | undefined;
  /** The waits that the run's page shows since this process last edited it, and when that was by GitHub's clock. Absent: it has not yet. */
  shown?: { waits: readonly PromotableWait[]; at: Time } | undefined;
  /** Milliseconds by which our clock is ahead of GitHub's, where the two differ. */
  clockAheadMs?: number | undefined;
  /** The last run of every other rollout of the repo, ended or not: what they halt, hold in flight and have brought where. undefined: could not be read. */
  others?: readonly Run[] | undefined;
  /** Most clusters or targets in flight over all runs of the repo. */
  limits?: Limits | undefined;
  /** By name: control planes of the run that cannot be read now. Nothing is concluded about their targets; the others go on. */
  lostPlanes?: ReadonlyMap<string, LostPlane> | undefined;
  /** By command: what came of its actions on Argo Rollouts, by `actionKey`, as far as this process has tried them. */
  actions?: ReadonlyMap<string, ReadonlyMap<string, RolloutOutcome>> | undefined;
  /** Clusters that have Applications of the rollout's source which the run does not know, with their pins resolved. undefined: not looked. */
  joiners?: readonly Joiner[] | undefined;
  /** By cluster key: those that Argo CD says it cannot reach now, and why. */
  unreachable?: ReadonlyMap<string, AnyReason> | undefined;
  /** By id: analyses that are under way or over. One that is not in it is to be started. undefined: not looked. */
  analyses?: ReadonlyMap<string, ObservedAnalysis> | undefined;
  /** By `hookTryKey`: what hooks answered, as far as this process has asked them. */
  hooks?: ReadonlyMap<string, HookAnswer> | undefined;
  /** By batch number: who has approved its PR at its present head and is in one of the stage's approval teams now. Absent: not looked. */
  approvals?: ReadonlyMap<number, readonly Approver[]> | undefined;
  /** By batch number: who approved its stage by command and does not count now, and why: "is in none of them any more". Absent: not looked. */
  lapsed?: ReadonlyMap<number, readonly Lapsed[]> | undefined;
}

/** What Argo CD says of one Application's health, and how that came to us. */
export interface ObservedHealth {
  /** Argo CD's word, or `gone` where there is no such Application. undefined: Argo CD says nothing. */
  status?: string | undefined;
  /** When a read by its name was begun that this is the outcome of. Absent: it is what a watch or stream brought last. */
  readAt?: Time | undefined;
  /** Why that read failed. */
  failed?: AnyReason | undefined;
}

/** `commit` null: there is none of that name. hidden: that repository cannot be read from here. */
export interface NamedRevision extends Pick<ResolvedRevision, "repoURL" | "revision"> {
  commit: string | null | "hidden";
}

export interface Joiner {
  cluster: Cluster;
  targets: readonly PlannedTarget[];
}

/** `why` says what to do about it, e.g. what to grant. */
export interface LostPlane {
  since: Time;
  why: AnyReason;
}

export interface Approver {
  by: string;
  at: Time;
}

export interface Lapsed {
  by: string;
  why: AnyReason;
}

export interface ObservedPull {
  /** 0: there is no PR, the batch moves branches (`delivery.strategy: Commit`), and this is how that stands. */
  number: number;
  url: string;
  state: "open" | "closed" | "merged";
  draft: boolean;
  head: string;
  /** Who moved the head last: true where the head is a commit of ours for this batch and attempt. */
  headIsOurs: boolean;
  /** The branch that somebody has pointed it at instead of the one it was opened for; then `headIsOurs` is false. */
  retargeted?: string | undefined;
  /** unknown: GitHub has not computed it yet. */
  mergeable: "yes" | "conflict" | "blocked" | "behind" | "unknown";
  /** The last answer to our merge call that was a refusal, if any in this process. */
  refusal?:
    | {
        kind: "Retry" | "Wait" | "Human";
        message: string;
        /** Checks of its merge group that failed, where it was taken out of the queue for them. */
        failed?: { checks: string[]; head: string };
        /** Time of the intention it was the answer to; absent: not known, and taken for the outstanding one. */
        to?: Time | undefined;
      }
    | undefined;
  /** What GitHub still wants before it merges this head, worked out from its rules; empty: nothing that the rules we may read name. undefined: not looked. */
  needs?: PullNeed[] | undefined;
  /** Our own check at this head, only where it is a required one. */
  gate?: "absent" | "waiting" | "passed" | "failed" | undefined;
  /** When a check of ours was last posted green at this head, as far as this process knows. */
  greenAt?: Time | undefined;
  /** Its place in the merge queue; null: looked, and it is not in it. undefined: not looked, or could not be seen. */
  queue?: { state: string; position: number } | null | undefined;
  openedAt: Time;
  merged?:
    | {
        commit: string;
        at: Time;
        by: string;
        byUs: boolean /** The pin files at the commit and its first parent differ in exactly the batch's pins. */;
        exact: boolean;
      }
    | undefined;
  closedBy?: string | undefined;
  /** It was our own App that closed it: no person has said anything by that. */
  closedByUs?: boolean | undefined;
}

/** See docs/spec.md §9.4. Void on another base or after 60 s: the shell leaves it out then. */
export type Guard =
  | { ok: true; base: string; at: Time }
  | { ok: false; base: string; at: Time; why: AnyReason /** Not decidable now, e.g. the live set is not Git's yet. */; retry: boolean };

export interface ObservedTarget {
  /** Number of the batch whose change `assessment`, `drift` and `inHistory` are about. undefined: of the only one that it is in. */
  batch?: number | undefined;
  /** Where the target has moved: the liveness of its change. */
  assessment?: Assessment | undefined;
  /** The pins' values at the base head, in the order of its edits; null: absent. undefined: could not be read. */
  pins?: (string | null)[] | undefined;
  /** The commit that last changed a pin away from the intended value, if any. */
  drift?: { commit: string; author: string; subject: string } | undefined;
  /** The batch's merge commit is an ancestor of the base head. undefined: not merged. */
  inHistory?: boolean | undefined;
  /** Its Argo Rollouts. undefined: not looked. */
  rollouts?: ObservedRollouts | undefined;
  /** When Argo CD was last asked to compare it anew, and whether it could be asked. undefined: it was not wanted. */
  nudge?: { at: Time; answer: "asked" | "unavailable" | { failed: AnyReason } } | undefined;
  /** What is wrong with its Application, whatever changed last: short words, empty for nothing. undefined: not seen, or not asked. */
  healthIssues?: string[] | undefined;
}

/** `seen` or `unseen` (why they cannot be read). */
export interface ObservedRollouts {
  /** Of the read. */
  at: Time;
  /** When they are worth another look. */
  lookAgainAt?: Time | undefined;
  seen?: readonly RolloutState[] | undefined;
  unseen?: AnyReason | undefined;
  /** Why actions cannot be run on them, with what to configure; undefined: they can. */
  cannotAct?: AnyReason | undefined;
}

export interface Assessment {
  verdict: Verdict;
  /** Short stable name of the clause not met, or `all`. */
  clause: string;
  sentence: AnyReason;
  /** First read of Argo CD that showed the change. */
  firstSeenAt?: Time | undefined;
  /** The same as the cluster dated it. */
  firstComparedAt?: Time | undefined;
  /** When to look again at the latest, e.g. settle end or next retry. */
  lookAgainAt?: Time | undefined;
  /** A refresh would help. */
  wantsRefresh: boolean;
  /** It waits for a sync, and its stage has the bot ask for that. */
  sync?: ObservedSync | undefined;
  /** Others that are to look before it can change: the Application that applies its ApplicationSet, the set itself. By key. */
  asksFirst?: { applications: string[]; sets: string[] } | undefined;
  /** Something in it is paused on purpose, such as a Rollout at a canary step: `progressDeadline` stands still. */
  clockStopped?: true | undefined;
  /** A pin was changed since, as of the revision that Argo CD has seen: the commit that did it. */
  changedBy?: string | undefined;
  /** The commits that Argo CD shows for revisions that the change names, such as tags. */
  shows?: readonly { repoURL: string; revision: string; commit: string }[] | undefined;
  /** For the next assessment of the same change: since when, by our clock, all has been well, or something bad. */
  held?: { goodSince?: Time; badSince?: Time; badCompared?: Time } | undefined;
  evidence: Evidence;
}

export interface Advanced<Run> {
  run: Run;
  effects: Effect[];
  /** When to look again though nothing happens, in epoch milliseconds; undefined: only on an event. */
  wakeAt?: number | undefined;
  /** transition: record before acting. observation: may be recorded at leisure. */
  change: "none" | "observation" | "transition";
  /** What happened, one sentence each, for the journal's subject. */
  events: AnyReason[];
  /** Targets whose health has to be read by name before anything merges: with what was read it is to be decided again at once. */
  wantsHealth?: string[] | undefined;
  /** Batches whose open PR nothing of the run stands against: what it still waits for is GitHub's or a person's. */
  cleared?: number[] | undefined;
  /** Batches whose open PR nobody may merge now, though the run goes on: their clusters are halted. */
  fenced?: number[] | undefined;
}
