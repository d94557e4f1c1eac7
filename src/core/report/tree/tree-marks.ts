import { epoch, type Time } from "../../base/time.ts";
import type { BatchPhase, RunPhase, TargetPhase } from "../../run/state/run.ts";

/** A line of the terminal's tree; marks, tones and ages. */

export type Tone = "good" | "busy" | "warn" | "bad" | "dim" | "plain";

export interface Mark {
  icon: string;
  tone: Tone;
}

export interface TreeNode {
  kind: "run" | "stage" | "batch" | "cluster" | "application" | "rollout" | "gate";
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

export const RUN_MARKS: Record<RunPhase, Mark> = {
  Pending: mark("○", "dim"),
  Progressing: mark("◌", "busy"),
  Paused: mark("॥", "warn"),
  RollingBack: mark("↩", "warn"),
  Succeeded: mark("✔", "good"),
  RolledBack: mark("↩", "good"),
  Failed: mark("✖", "bad"),
  Aborted: mark("⊘", "warn"),
  Superseded: mark("⊘", "dim"),
};

export const BATCH_MARKS: Record<BatchPhase, Mark> = {
  Proposing: mark("◌", "busy"),
  Open: mark("◌", "busy"),
  Merging: mark("●", "busy"),
  Merged: mark("●", "busy"),
  Baking: mark("●", "good"),
  Settled: mark("✔", "good"),
  Closed: mark("⊘", "dim"),
};

export const TARGET_MARKS: Record<TargetPhase, Mark> = {
  Pending: mark("○", "dim"),
  Requeued: mark("↻", "warn"),
  Proposed: mark("◌", "busy"),
  Merged: mark("●", "busy"),
  Syncing: mark("●", "busy"),
  Healthy: mark("●", "good"),
  Baked: mark("✔", "good"),
  Failed: mark("✖", "bad"),
  Skipped: mark("⊘", "dim"),
  RolledBack: mark("↩", "warn"),
};

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
