import type { Permission } from "../../rollout/world.ts";

/** What a target does once it has seen a change: states one after the other, each for so many milliseconds; the last for ever. */
export type Condition = "Healthy" | "Progressing" | "Degraded" | "Waiting" | "Unreachable";

export interface Behaviour {
  /** From a commit to its sight, in milliseconds. */
  lagMs: number;
  script: { state: Condition; forMs: number }[];
}

export interface ModelCluster {
  name: string;
  region: string;
  /** Drained from the start, until a happening undrains it. */
  drained: boolean;
}

export interface ModelStage {
  region: string | null;
  maxUnavailable: number;
  batching: "Fixed" | "Rolling";
  bakeMs: number;
  requeue: { attempts: number; intervalMs: number } | null;
}

/** Something that happens in the outside world at a moment, in milliseconds from the start. */
export type Happening = { at: number } & (
  | {
      kind: "command";
      name: "promote" | "requeue" | "skip" | "pause" | "resume" | "abort" | "retry" | "status" | "rollback";
      args: string[];
      permission: Permission;
    }
  | { kind: "mergeByPerson" }
  | { kind: "closeByPerson" }
  | { kind: "pushToHead" }
  | { kind: "draft" }
  | { kind: "commit" /** null: one that touches no pin. */; cluster: string | null }
  | { kind: "toRelease"; cluster: string }
  | { kind: "label"; cluster: string; drained: boolean }
  | { kind: "leave"; cluster: string }
  | { kind: "loseApplication"; cluster: string }
  | { kind: "forcePush" /** Rebased: the values stay, under other commits. */; keeps: boolean }
  | { kind: "argoDown"; forMs: number }
  | { kind: "forgeDown"; forMs: number }
  | { kind: "refuse"; forMs: number; answer: "Human" | "Wait" | "Retry" }
  | { kind: "guard"; forMs: number; retry: boolean }
  | { kind: "supersede" }
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
  /** A mere observation is not recorded. */
  lazy: number;
}

/** A whole simulated run as plain data: what it is made of can be left out piece by piece to find the smallest that fails. */
export interface Scenario {
  seed: number;
  clusters: ModelCluster[];
  /** Pairs of neighbours share one pin. */
  sharedPins: boolean;
  stages: ModelStage[];
  merge: "Auto" | "Manual";
  mode: "Run" | "Propose";
  /** The base branch merges through a queue only. */
  queue?: boolean;
  maxFailures: number;
  behaviours: Record<string, Behaviour>;
  happenings: Happening[];
  chaos: Chaos;
}

/** Longer than any run; written out so that a scenario survives JSON. */
export const FOREVER = 1e13;

export const CALM: Chaos = { crash: 0, lose: 0, missing: 0, stale: 0, deaf: 0, lazy: 0 };
