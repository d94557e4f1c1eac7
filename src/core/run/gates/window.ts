import { iso } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import type { Window } from "../../spec/windows.ts";
import { closedNow, neverOpening, neverTogether, nextOpenAt, type WindowSet } from "../../spec/windows-together.ts";
import { type Scene, type Wait, wait } from "./decision.ts";

/** The rollout's own windows, and the freezes of repo and server, each as a set of its own: every set must be open. */
export function windowSets(own: readonly Window[], freezes: readonly (Window & { where: string })[]): WindowSet[] {
  const byPlace = Map.groupBy(freezes, (freeze) => freeze.where);
  return [{ windows: own, where: "the rollout" }, ...[...byPlace].map(([where, windows]) => ({ windows, where }))];
}

/** Waits for the first moment at which all sets are open together: that is what is promised, not when the first of them opens. */
export function windowGate({ run, world, now }: Scene): Wait | undefined {
  const sets = windowSets(run.spec.windows ?? [], world.freezes ?? []);
  const closed = closedNow(sets, now);
  if (closed === undefined) return undefined;
  const { where, by, changesAt } = closed;
  const opening = nextOpenAt(sets, now);
  if (opening === undefined) {
    const why = whyNever(sets, now) ?? runReason("WINDOWS_NEVER_OPEN", { where: [where] });
    const what = runReason("NEXT_WINDOWS_CHANGED", { where: why.where, all: why.code === "WINDOWS_NEVER_OPEN" });
    // Nothing new is found out by then, but what closes may be another.
    return wait(why, { what }, changesAt);
  }
  // Not known when all are open: then it is the next change that is waited for.
  const at = "at" in opening ? opening.at : changesAt;
  const why = runReason("WINDOW_SHUT", by === undefined ? { where } : { window: refOf(by), where });
  const what = runReason("NEXT_WINDOW");
  // What it waits for may be said anew before that.
  return wait(why, at === undefined ? { what } : { what, eta: iso(at) }, changesAt ?? ("at" in opening ? opening.at : opening.lookedUntil));
}

/** Says why nothing ever merges within a year, and whose windows that are; undefined: they open, or may. */
function whyNever(sets: readonly WindowSet[], now: number) {
  const shut = neverOpening(sets, now);
  if (shut.length > 0) return runReason("WINDOWS_NEVER_OPEN", { where: shut });
  const apart = neverTogether(sets, now);
  return apart === undefined ? undefined : runReason("WINDOWS_NEVER_TOGETHER", { where: apart });
}

function refOf({ schedule, durationMs, timeZone, kind }: Window) {
  return { schedule, durationMs, timeZone, kind };
}
