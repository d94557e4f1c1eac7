import type { CommandName, Permission } from "../../core/spec/commands.ts";
import type { AnalysisWhen, TargetBy } from "../../core/spec/rollout.ts";
import type { Limits } from "../../core/spec/schema-common.ts";

/** What a target does once it has seen a change: states one after the other, each for so many milliseconds; the last for ever. */
export type Condition = "Healthy" | "Progressing" | "Degraded" | "Waiting" | "Unreachable";

export type Script = { state: Condition; forMs: number }[];

export interface Behaviour {
  /** From a commit to its sight, in milliseconds. */
  lagMs: number;
  script: Script;
  /** What it does when the value it had at first comes back; absent: as with any other. */
  back?: Script;
  /** What it is before any change. Absent: Healthy. */
  before?: Condition;
}

export interface ModelCluster {
  name: string;
  region: string;
  /** Drained from the start, until a happening undrains it. */
  drained: boolean;
}

/** A time of the day, UTC. */
export interface ModelWindow {
  /** Of the day, from 0. */
  fromMinute: number;
  forMinutes: number;
  kind: "allow" | "deny";
}

/** For some: clusters of a region, a stage. */
export interface ModelScoped extends ModelWindow {
  region?: string;
  stage?: string;
}

/** One of the settings, perhaps for one rollout by name. */
export interface ModelFreeze extends ModelScoped {
  rollout?: string;
}

export interface ModelStage {
  region: string | null;
  maxUnavailable: number;
  batching: "Fixed" | "Rolling";
  bakeMs: number;
  requeue: { attempts: number; intervalMs: number } | null;
  /** maxUnavailable grows up to itself. */
  grow?: { start: number; factor: number };
  jitterMs?: number;
  /** So many of the team have to approve. */
  approvals?: number;
  /** Names of clusters kept apart. */
  pairs?: string[][];
  /** Never two clusters of one region in a batch. */
  topology?: boolean;
  seeded?: string;
  analysis?: { when: AnalysisWhen[]; of: Measured };
  hooks?: { before: number; after: number; onFailure: number };
  steps?: ModelStep[];
  /** Besides the rollout's. */
  windows?: ModelScoped[];
  /** Who syncs, where automated sync is off. */
  sync?: "Wait" | "Request";
}

/** Once for all clusters together, or once for each. */
export type Measured = "all" | "each";

/** `pauseMs` null: until somebody promotes it. */
export type ModelStep = { weight: number } | { pauseMs: number | null } | { analysis: Measured };

export interface ModelRollout {
  name: string;
  /** The model's clusters are Applications or namespaces, on so many clusters. Of all rollouts of a scenario alike. */
  counted?: { by: TargetBy; hosts: number };
  /** Automated sync is off: a person syncs a change so long after its sight, unless the bot asks for it. */
  byHand?: { personMs: number };
  /** Pairs of neighbours share one pin. */
  sharedPins: boolean;
  stages: ModelStage[];
  merge: "Auto" | "Manual";
  mode: "Run" | "Propose";
  /** The next batch's PR is opened while the one before settles. */
  ahead?: true;
  maxFailures: number;
  action: "Pause" | "Rollback" | "Continue";
  onNewRelease: "Supersede" | "Queue" | "Reject";
  baseline: "Strict" | "Tolerate";
  windows?: ModelScoped[];
  /** Of its own runs. */
  limits?: Limits;
  dependsOn?: { rollout: string; atLeast: string }[];
  flap?: { ignoreMs: number; most: number; windowMs: number };
  rollback?: { maxUnavailable?: number; skipBake: boolean };
  joiners?: "Append" | "Ignore" | "Hold";
  /** `drained`: those that are drained count as stopped. */
  quarantine?: { max: number; onReturn: "CatchUp" | "Skip"; drained: boolean };
}

/** What an analysis comes to, and after how long. Endless: it measures until it is told to stop, where it may. */
export interface Measure {
  forMs: number;
  ends: "Successful" | "Failed" | "Inconclusive" | "Error" | "Endless";
}

/** What a hook answers to one request, and after how long. Silent: nothing, until the caller gives up. */
export interface Reply {
  afterMs: number;
  says: "go" | "hold" | "fail" | "error" | "silent";
}

/** What is asked outside: which one of the list an analysis or a request gets is drawn from its id. Empty: all is well at once. */
export interface ModelOutside {
  measures: Measure[];
  replies: Reply[];
  /** What measures does not outlive a crash: under way or over, it is measured anew. */
  forgets: boolean;
}

/** Who somebody is, and what GitHub says they may do at that moment. */
interface Speaker {
  actor: string;
  permission: Permission;
}

/** Something that happens in the outside world at a moment, in milliseconds from the start. `rollout`: its place in the scenario. */
export type Happening = { at: number } & (
  | { kind: "release"; rollout: number; version: string }
  | ({
      kind: "command";
      rollout: number;
      /** Where it is written: on the release PR, or on the PR that is open. */
      on: "release" | "batch";
      name: CommandName;
      args: string[];
      flags?: Record<string, string | true>;
    } & Speaker)
  | { kind: "review"; rollout: number; actor: string; approves: boolean }
  | { kind: "mergeByPerson"; rollout: number }
  | { kind: "closeByPerson"; rollout: number }
  | { kind: "pushToHead"; rollout: number }
  | { kind: "draft"; rollout: number }
  | { kind: "commit"; rollout: number /** null: one that touches no pin. */; cluster: string | null }
  | { kind: "toRelease"; rollout: number; cluster: string }
  | { kind: "label"; cluster: string; drained: boolean }
  | { kind: "leave"; cluster: string }
  /** Appears, with an Application of each rollout at this version. */
  | { kind: "join"; joins: ModelCluster; version: string }
  | { kind: "relabel"; cluster: string; region: string }
  /** Argo CD cannot reach it. */
  | { kind: "unreach"; cluster: string; forMs: number }
  | { kind: "loseApplication"; rollout: number; cluster: string }
  | { kind: "forcePush"; rollout: number /** Rebased: the values stay, under other commits. */; keeps: boolean }
  /** Somebody moves the tag that the run in progress rolls out, once it is known what it was. */
  | { kind: "moveTag"; rollout: number }
  | { kind: "argoDown"; forMs: number }
  | { kind: "forgeDown"; forMs: number }
  | { kind: "refuse"; forMs: number; answer: "Human" | "Wait" | "Retry" }
  | { kind: "guard"; forMs: number; retry: boolean }
  | { kind: "freeze"; forMs: number; window: ModelWindow }
  | { kind: "limits"; limits: Limits | null }
  | { kind: "settingsBroken"; forMs: number }
  /** The rules that keep others from our branches are gone. */
  | { kind: "unprotected"; forMs: number }
);

/** How often the machinery itself misbehaves, each a probability a step. */
export interface Chaos {
  /** Dies after recording, before some of its effects. */
  crash: number;
  /** Another replica was faster: decides on an older state, loses the race. */
  lose: number;
  /** A part of the world cannot be seen. */
  missing: number;
  /** Reads of Argo CD are older than they seem. */
  stale: number;
  /** The event that would wake it is lost. */
  deaf: number;
  /** Woken though nothing happened: an event came twice. */
  doubled: number;
  /** A mere observation is not recorded. */
  lazy: number;
}

/** A whole simulated world as plain data: what it is made of can be left out piece by piece to find the smallest that fails. */
export interface Scenario {
  seed: number;
  clusters: ModelCluster[];
  /** One or more, in the same repo, on the same clusters. */
  rollouts: ModelRollout[];
  /** Of the repo's settings, from the start. */
  freezes?: ModelFreeze[];
  limits?: Limits;
  /** The base branch merges through a queue only. */
  queue?: boolean;
  outside?: ModelOutside;
  /** By name of the Application. */
  behaviours: Record<string, Behaviour>;
  happenings: Happening[];
  chaos: Chaos;
}

/** Longer than any run; written out so that a scenario survives JSON. */
export const FOREVER = 1e13;

export const CALM: Chaos = { crash: 0, lose: 0, missing: 0, stale: 0, deaf: 0, doubled: 0, lazy: 0 };

/** A rollout without anything special. */
export const PLAIN: ModelRollout = {
  name: "payments",
  sharedPins: false,
  stages: [],
  merge: "Auto",
  mode: "Run",
  maxFailures: 0,
  action: "Pause",
  onNewRelease: "Supersede",
  baseline: "Strict",
};

/** Who may approve a stage. The author of every release is one of them. */
export const TEAM = "sre";
export const MEMBERS: readonly string[] = ["alice", "bob", "carol"];
export const AUTHOR = "alice";
