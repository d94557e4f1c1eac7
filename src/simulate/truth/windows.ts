import { hasCode } from "../../core/base/reason.ts";
import { epoch } from "../../core/base/time.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { World } from "../../core/run/state/world.ts";
import { firstOpening } from "../world/windows.ts";
import type { Freeze, Truth } from "../world/world.ts";

/** An opening that was just promised is the first moment, as things stand, at which windows and freezes are open; where none is promised there is none. */
export function openingsArePromisedRightly(truth: Truth, before: Run, run: Run, world: World, now: number): string[] {
  const model = truth.rollouts.find((rollout) => rollout.name === run.rollout)?.model;
  if (model === undefined) return [];
  const freezes = (world.freezes ?? []).map((freeze: Freeze) => freeze.model);
  if (freezes.includes(undefined)) return [];
  const sets = [run.kind === "Rollback" ? [] : (model.windows ?? []), freezes.flatMap((one) => (one === undefined ? [] : [one]))];
  const wrong: string[] = [];
  for (const batch of run.batches) {
    const { next } = batch;
    if (next === null || next === before.batches[batch.number - 1]?.next) continue;
    const said = `truth: batch ${batch.number} of ${run.rollout}`;
    const first = firstOpening(sets, now);
    if (hasCode(next.what, "NEXT_WINDOW") && (next.eta === undefined || epoch(next.eta) !== first))
      wrong.push(
        `${said} promises an opening at ${next.eta}, and the first is ${first === undefined ? "never" : new Date(first).toISOString()}`,
      );
    if (hasCode(next.what, "NEXT_WINDOWS_CHANGED") && first !== undefined)
      wrong.push(`${said} says that its windows never open, and they do at ${new Date(first).toISOString()}`);
  }
  return wrong;
}
