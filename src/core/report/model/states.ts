import type { BatchPhase, RunPhase, TargetPhase } from "../../run/state/run.ts";
import { causeBeside } from "./causes.ts";
import type { ModelNode, State, Tone } from "./types.ts";

const TONES: Readonly<Record<State, Tone>> = {
  Pending: "dim",
  Progressing: "busy",
  Paused: "warn",
  RollingBack: "warn",
  Succeeded: "good",
  RolledBack: "warn",
  Failed: "bad",
  Aborted: "warn",
  Superseded: "dim",
  ToCome: "dim",
  NotReached: "dim",
  Opening: "busy",
  Open: "busy",
  Merging: "busy",
  Merged: "busy",
  Syncing: "busy",
  Healthy: "good",
  AtWeight: "busy",
  Done: "warn",
  Closed: "dim",
  Requeued: "warn",
  Skipped: "dim",
  Joined: "dim",
  Quarantined: "warn",
  NotInRun: "dim",
  Running: "busy",
  Waiting: "warn",
  Held: "warn",
  Passed: "good",
  Inconclusive: "warn",
  Error: "bad",
  Accepted: "warn",
  Stopped: "dim",
  Degraded: "bad",
  Unknown: "dim",
  Unseen: "warn",
};

export const TARGET_STATES: Readonly<Record<TargetPhase, State>> = {
  Pending: "ToCome",
  Requeued: "Requeued",
  Proposed: "Open",
  Merged: "Merged",
  Syncing: "Syncing",
  Healthy: "Healthy",
  Baked: "Healthy",
  Failed: "Failed",
  Skipped: "Skipped",
  RolledBack: "RolledBack",
};

export const BATCH_STATES: Readonly<Record<BatchPhase, State>> = {
  Proposing: "Opening",
  Open: "Open",
  Merging: "Merging",
  Merged: "Syncing",
  Baking: "Healthy",
  Settled: "Healthy",
  Closed: "Closed",
};

/** Of a rollback what was put back is what was wanted. */
export function runTone(phase: RunPhase): Tone {
  return phase === "RolledBack" ? "good" : TONES[phase];
}

/** Makes a node with nothing below it that matters now, but for what is said otherwise. */
export function node(given: Pick<ModelNode, "kind" | "name" | "state"> & Partial<ModelNode>): ModelNode {
  const { kind, name, state } = given;
  return {
    ...{ kind, name, state },
    tone: TONES[state],
    when: "now",
    says: "",
    actions: [],
    links: [],
    facts: [],
    children: [],
    ...given,
    cause: causeBeside(given.says ?? "", given.cause),
  };
}
