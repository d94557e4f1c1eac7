/** The words of states and groups. The page's own program has them too, so nothing that is not a word belongs here. */
import type { ModelNode, State } from "./types.ts";

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

/** The word of a state as every surface writes it: `Waiting for @acme/sre`. */
export function stateWord({ state, waitsOn: on }: Pick<ModelNode, "state" | "waitsOn">): string {
  if (on !== undefined && state === "Waiting") return `${LABELS[state]} ${on.says}`;
  return on !== undefined && state === "RollingBack" ? `${LABELS[state]}, waiting ${on.says}` : LABELS[state];
}

/** One that is no state of ours, such as of a newer server, stands as it came. */
export function stateLabel(word: string): string {
  return isState(word) ? LABELS[word] : word;
}

export function isState(word: string): word is State {
  return Object.hasOwn(LABELS, word);
}

/** How a fleet is laid out: in the order in which it wants attention. */
export const GROUPS = ["WaitsForYou", "Failing", "Running", "Refused", "Done"] as const;

export const GROUP_TITLES: Readonly<Record<(typeof GROUPS)[number], string>> = {
  WaitsForYou: "Waits for a person",
  Failing: "Failing",
  Running: "Running",
  Refused: "Refused",
  Done: "Done",
};
