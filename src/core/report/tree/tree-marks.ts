import { epoch, type Time } from "../../base/time.ts";
import type { ModelNode, Tone as ModelTone, NodeKind, State } from "../model/types.ts";

/** A line of the terminal's tree; marks, tones and ages. */

export type Tone = ModelTone | "plain";

interface Mark {
  icon: string;
  tone: Tone;
}

export interface TreeNode {
  kind: NodeKind;
  name: string;
  mark: Mark;
  status: string;
  /** Since when it is in this status. */
  since?: Time | undefined;
  info: string;
  children: TreeNode[];
  /** How far it matters now: `done` and `later` are folded first where room is short. */
  state: "done" | "now" | "later";
  /** Said instead of the children where they are folded. */
  folded: string;
}

export const mark = (icon: string, tone: Tone): Mark => ({ icon, tone });

/** Makes a line with nothing below it that matters now, but for what is said otherwise. */
export function line(kind: TreeNode["kind"], name: string, more: Pick<TreeNode, "mark" | "status"> & Partial<TreeNode>): TreeNode {
  return { kind, name, info: "", children: [], state: "now", folded: "", ...more };
}

/** Beside the word of a state, for eyes that see no colour. */
const ICONS: Readonly<Record<State, string>> = {
  Pending: "○",
  Progressing: "◌",
  Paused: "॥",
  RollingBack: "↩",
  Succeeded: "✔",
  RolledBack: "↩",
  Failed: "✖",
  Aborted: "⊘",
  Superseded: "⊘",
  ToCome: "○",
  NotReached: "○",
  Opening: "◌",
  Open: "◌",
  Merging: "●",
  Merged: "●",
  Syncing: "●",
  Healthy: "●",
  AtWeight: "●",
  Done: "⚠",
  Closed: "⊘",
  Requeued: "↻",
  Skipped: "⊘",
  Joined: "○",
  Quarantined: "⊘",
  NotInRun: "⊘",
  Running: "◌",
  Waiting: "॥",
  Held: "॥",
  Passed: "✔",
  Inconclusive: "॥",
  Error: "✖",
  Accepted: "॥",
  Stopped: "⊘",
  Degraded: "✖",
  Unknown: "○",
  Unseen: "⚠",
};

/** Marks what is healthy with a tick once nothing of it is looked at any more. */
export function markOf({ state, tone, when }: Pick<ModelNode, "state" | "tone" | "when">): Mark {
  return mark(state === "Healthy" && when === "past" ? "✔" : ICONS[state], tone);
}

/** `in 2m5s`, or `now` where the time has come. */
export function within(time: Time, now: number): string {
  const ms = epoch(time) - now;
  return ms > 0 ? `in ${shortAge(ms)}` : "now";
}

/** At most two units: `3d4h`, `2m5s`, `40s`. */
export function shortAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const units = [
    ["d", Math.floor(seconds / 86_400)],
    ["h", Math.floor(seconds / 3600) % 24],
    ["m", Math.floor(seconds / 60) % 60],
    ["s", seconds % 60],
  ] as const;
  const first = units.findIndex(([, amount]) => amount > 0);
  if (first < 0) return "0s";
  const parts = units.slice(first, first + 2).filter(([, amount]) => amount > 0);
  return parts.map(([unit, amount]) => `${amount}${unit}`).join("");
}
