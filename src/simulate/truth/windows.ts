import { epoch } from "../../core/base/time.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { World } from "../../core/run/state/world.ts";
import type { ModelWindow } from "../generate/scenario.ts";
import type { Freeze, Truth } from "../world/world.ts";
import { isOpenAt } from "./gates.ts";

const MINUTE = 60_000;
const DAY_MINUTES = 24 * 60;

/** An opening that was just promised is the first moment, as things stand, at which windows and freezes are open; where none is promised there is none. */
export function openingsArePromisedRightly(truth: Truth, before: Run, run: Run, world: World, now: number): string[] {
  const model = truth.lanes.find((lane) => lane.name === run.rollout)?.model;
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
    if (next.what === "the window opens" && (next.at === undefined || epoch(next.at) !== first))
      wrong.push(
        `${said} promises an opening at ${next.at}, and the first is ${first === undefined ? "never" : new Date(first).toISOString()}`,
      );
    if (next.what.startsWith("somebody changes the windows") && first !== undefined)
      wrong.push(`${said} says that its windows never open, and they do at ${new Date(first).toISOString()}`);
  }
  return wrong;
}

/** By the minute, within a day: they are the same each day. */
export function firstOpening(sets: readonly (readonly ModelWindow[])[], now: number): number | undefined {
  const isOpen = (at: number) => sets.every((windows) => isOpenAt(windows, at));
  if (isOpen(now)) return now;
  const from = Math.floor(now / MINUTE) + 1;
  for (let minute = from; minute <= from + DAY_MINUTES; minute++) if (isOpen(minute * MINUTE)) return minute * MINUTE;
  return undefined;
}
