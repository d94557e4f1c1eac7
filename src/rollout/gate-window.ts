import type { Blocked } from "./pull-gates.ts";
import type { Batch, Run } from "./run.ts";
import { type Draft, wakeAt } from "./run-draft.ts";
import { formatDuration, iso } from "./time.ts";
import { type Window, windowsAt } from "./windows.ts";

/** Windows that are judged together, and who says them. */
export interface WindowSet {
  windows: readonly Window[];
  where: string;
}

/** The rollout's own windows, and the freezes of repo and server, each as a set of its own: every set must be open. */
export function windowSets(own: readonly Window[], freezes: readonly (Window & { where: string })[]): WindowSet[] {
  const byPlace = Map.groupBy(freezes, (freeze) => freeze.where);
  return [{ windows: own, where: "the rollout" }, ...[...byPlace].map(([where, windows]) => ({ windows, where }))];
}

/** The first set that is closed now, by which window, and when it opens; undefined: all are open. */
export function closedNow(
  sets: readonly WindowSet[],
  now: number,
): { where: string; by: Window | undefined; changesAt: number | undefined } | undefined {
  for (const { windows, where } of sets) {
    const { open, changesAt, by } = windowsAt(windows, now);
    if (!open) return { where, by, changesAt };
  }
  return undefined;
}

export function windowGate(draft: Draft, _batch: Batch): Blocked | undefined {
  const closed = closedNow(windowSets(draft.run.spec.windows ?? [], draft.world.freezes ?? []), draft.now);
  if (closed === undefined) return undefined;
  const { where, by, changesAt } = closed;
  if (changesAt === undefined) {
    const why = `the windows of ${where} do not open within a year`;
    return { why, next: { what: `somebody changes the windows of ${where}` } };
  }
  wakeAt(draft, changesAt);
  return { why: `${named(by)} of ${where}`, next: { what: "the window opens", at: iso(changesAt) } };
}

function named(window: Window | undefined): string {
  if (window === undefined) return "closed by the windows";
  const words = `${window.schedule} for ${formatDuration(window.durationMs)}, ${window.timeZone}`;
  return window.kind === "deny" ? `frozen by the window (${words})` : `waiting for the window (${words})`;
}

/** When the windows change next, for the plan and the page: whether open now, and until or from when. */
export function windowsOf(run: Pick<Run, "spec">, now: number): { open: boolean; changesAt?: number } {
  return windowsAt(run.spec.windows ?? [], now);
}
