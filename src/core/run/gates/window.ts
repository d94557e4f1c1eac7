/** What a batch waits for while a window is shut. Which windows bind it, and whether they are open, is asked of `../../spec/`. */
import { defined } from "../../base/defined.ts";
import { iso } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { hangsOnLabels, type Travels, windowSets } from "../../spec/windows-binding.ts";
import { closedNow, neverOpening, neverTogether, nextOpenAt, type PlacedWindow, type WindowSet } from "../../spec/windows-together.ts";
import type { Batch } from "../state/batch.ts";
import { type Scene, type Wait, wait } from "../state/decision.ts";
import { clustersOf, liveTargets } from "../state/names.ts";

/** Waits for the first moment at which all sets that bind the batch are open together: that is what is promised, not when the first opens. */
export function windowGate({ run, world, now }: Scene, batch: Batch): Wait | undefined {
  const freezes = world.freezes ?? [];
  const clusters = clustersOf(liveTargets(batch)).map((key) => world.clusters.get(key));
  const travels: Travels = { rollout: run.spec, stage: batch.stage, clusters };
  const sets = windowSets(travels, freezes);
  const closed = closedNow(sets, now);
  if (closed === undefined) return undefined;
  if (!world.clustersKnown && clusters.includes(undefined) && hangsOnLabels(travels, freezes))
    return wait(runReason("WINDOW_LABELS_UNREAD"), { what: runReason("NEXT_READ") });
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
  const opens = at === undefined ? undefined : iso(at);
  const what = runReason(
    "NEXT_WINDOW",
    opens === undefined || by === undefined || by.timeZone === "UTC" ? {} : { opens: { at: opens, timeZone: by.timeZone } },
  );
  // What it waits for may be said anew before that.
  const again = changesAt ?? ("at" in opening ? opening.at : opening.lookedUntil);
  return wait(why, opens === undefined ? { what } : { what, eta: opens }, again);
}

/** Says why nothing ever merges within a year, and whose windows that are; undefined: they open, or may. */
function whyNever(sets: readonly WindowSet[], now: number) {
  const shut = neverOpening(sets, now);
  if (shut.length > 0) return runReason("WINDOWS_NEVER_OPEN", { where: shut });
  const apart = neverTogether(sets, now);
  return apart === undefined ? undefined : runReason("WINDOWS_NEVER_TOGETHER", { where: apart });
}

function refOf({ schedule, durationMs, timeZone, kind, at }: PlacedWindow) {
  return { schedule, durationMs, timeZone, kind, ...defined({ at }) };
}
