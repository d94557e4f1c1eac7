import type { Draft } from "../state/draft.ts";
import type { Batch, BatchTarget } from "../state/run.ts";
import type { ObservedTarget } from "../state/world.ts";

/**
 * Notes the batch where every target is as it was left. Each round looks at all that has ever moved, and of a large fleet nearly all
 * of it is so: nothing more has to be asked about it. False: look at each.
 */
export function restsWhole(draft: Draft, batch: Batch): boolean {
  if (batch.phase !== "Settled" || batch.step !== undefined) return false;
  const { targets } = draft.world;
  for (const target of batch.targets) if (!isAtRest(batch, target, targets.get(target.key))) return false;
  draft.resting.add(batch);
  return true;
}

/** Baked, live, its pins and its commit in the base, and nothing that counts down: what is seen of it changes nothing. */
function isAtRest(batch: Batch, target: BatchTarget, seen: ObservedTarget | undefined): boolean {
  if (target.phase !== "Baked" || target.deadlineAt !== undefined || target.rollouts !== undefined) return false;
  if (seen?.assessment?.verdict !== "live" || seen.inHistory !== true || seen.pins === undefined) return false;
  if (seen.batch !== undefined && seen.batch !== batch.number) return false;
  const { edits } = target;
  for (let index = 0; index < edits.length; index++) if ((seen.pins[index] ?? null) !== edits[index]?.to) return false;
  return true;
}
