import type { Blocked } from "./pull-gates.ts";
import type { Batch, Run } from "./run.ts";
import { type Draft, wakeAt } from "./run-draft.ts";
import { formatDuration, iso } from "./time.ts";
import { type Window, windowsAt } from "./windows.ts";

/** Whether the rollout's windows, and the freezes of repo and server, let a batch merge now. They are judged apart: each set must be open. */
export function windowGate(draft: Draft, _batch: Batch): Blocked | undefined {
  const sets: { windows: readonly Window[]; where: string }[] = [{ windows: draft.run.spec.windows ?? [], where: "the rollout" }];
  for (const freeze of draft.world.freezes ?? []) {
    const same = sets.find((set) => set.where === freeze.where);
    if (same === undefined) sets.push({ windows: [freeze], where: freeze.where });
    else same.windows = [...same.windows, freeze];
  }
  for (const { windows, where } of sets) {
    const { open, changesAt, by } = windowsAt(windows, draft.now);
    if (open) continue;
    if (changesAt === undefined) {
      const why = `the windows of ${where} do not open within a year`;
      return { why, next: { what: `somebody changes the windows of ${where}` } };
    }
    wakeAt(draft, changesAt);
    return { why: `${named(by)} of ${where}`, next: { what: "the window opens", at: iso(changesAt) } };
  }
  return undefined;
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
