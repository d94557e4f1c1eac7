import type { BatchPhase, RunPhase, TargetPhase } from "../../run/state/run.ts";
import { causeBeside } from "./causes.ts";
import type { ModelNode, State, Tone } from "./types.ts";

/** The word of each state, as people read it everywhere. */
export const LABELS: Readonly<Record<State, string>> = {
  Pending: "Pending",
  Progressing: "Progressing",
  Paused: "Paused",
  RollingBack: "Rolling back",
  Succeeded: "Succeeded",
  RolledBack: "Rolled back",
  Failed: "Failed",
  Aborted: "Aborted",
  Superseded: "Superseded",
  ToCome: "To come",
  NotReached: "Not reached",
  Opening: "Opening PR",
  Open: "PR open",
  Merging: "Merging",
  Merged: "Merged",
  Syncing: "Syncing",
  Healthy: "Healthy",
  AtWeight: "Healthy so far",
  Done: "Done",
  Closed: "Closed",
  Requeued: "Requeued",
  Skipped: "Skipped",
  Joined: "Joined",
  Quarantined: "Quarantined",
  NotInRun: "Not in this run",
  Running: "Running",
  Waiting: "Waiting",
  Held: "On hold",
  Passed: "Passed",
  Inconclusive: "Inconclusive",
  Error: "Error",
  Accepted: "Accepted",
  Stopped: "Stopped",
  Degraded: "Degraded",
  Unknown: "Unknown",
  Unseen: "Cannot be reached",
};

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

type Given = Pick<ModelNode, "kind" | "name" | "state"> & Partial<ModelNode>;

/** Makes a node with nothing below it that matters now, but for what is said otherwise. */
export function node(given: Given): ModelNode {
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

export function isState(word: string): word is State {
  return Object.hasOwn(LABELS, word);
}
