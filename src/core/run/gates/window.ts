import { formatDuration, iso } from "../../base/time.ts";
import { closedNow, neverOpening, neverTogether, neverWords, nextOpenAt, type WindowSet } from "../../spec/window-waits.ts";
import { type Window, windowsAt } from "../../spec/windows.ts";
import type { Batch, Run } from "../state/run.ts";
import { type Draft, wakeAt } from "../state/run-draft.ts";
import type { Blocked } from "./pull-gates.ts";

export { closedNow, type WindowSet } from "../../spec/window-waits.ts";

/** The rollout's own windows, and the freezes of repo and server, each as a set of its own: every set must be open. */
export function windowSets(own: readonly Window[], freezes: readonly (Window & { where: string })[]): WindowSet[] {
  const byPlace = Map.groupBy(freezes, (freeze) => freeze.where);
  return [{ windows: own, where: "the rollout" }, ...[...byPlace].map(([where, windows]) => ({ windows, where }))];
}

/** Waits for the first moment at which all sets are open together: that is what is promised, not when the first of them opens. */
export function windowGate(draft: Draft, _batch: Batch): Blocked | undefined {
  const sets = windowSets(draft.run.spec.windows ?? [], draft.world.freezes ?? []);
  const closed = closedNow(sets, draft.now);
  if (closed === undefined) return undefined;
  const { where, by, changesAt } = closed;
  const opening = nextOpenAt(sets, draft.now);
  if (opening === undefined) {
    // Nothing new is found out by then, but what closes may be another.
    if (changesAt !== undefined) wakeAt(draft, changesAt);
    const { why, whose } = whyNever(sets, draft.now) ?? { why: shutWords([where]), whose: where };
    return { why, next: { what: `somebody changes the windows of ${whose}` } };
  }
  // Not known when all are open: then it is the next change that is waited for.
  const at = "at" in opening ? opening.at : changesAt;
  // What it waits for may be said anew before that.
  wakeAt(draft, changesAt ?? ("at" in opening ? opening.at : opening.lookedUntil));
  return { why: `${named(by)} of ${where}`, next: { what: "the window opens", ...(at === undefined ? {} : { at: iso(at) }) } };
}

/** Why nothing ever merges, and whose windows somebody has to change; undefined: they open, or may. Ends on `within a year`. */
export function whyNever(sets: readonly WindowSet[], now: number): { why: string; whose: string } | undefined {
  const shut = neverOpening(sets, now);
  if (shut.length > 0) return { why: shutWords(shut), whose: shut.join(" and of ") };
  const apart = neverTogether(sets, now);
  return apart === undefined ? undefined : { why: neverWords(apart), whose: apart.join(" or of ") };
}

function shutWords(whose: readonly string[]): string {
  return `the windows of ${whose.join(" and of ")} do not open within a year`;
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
