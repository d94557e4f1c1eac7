import { hasCode } from "../../base/reason.ts";
import type { Draft } from "../state/draft.ts";
import type { Batch, BatchTarget, Run } from "../state/run.ts";
import type { Assessment, ObservedTarget } from "../state/world.ts";

/**
 * What was seen of a target, as far as it says anything of this batch's change: while a cluster is at one weight and the
 * pull request of the next is open, or has just merged, what is seen is of the first.
 */
export function seenOf(draft: Pick<Draft, "world">, batch: Pick<Batch, "number">, key: string): ObservedTarget | undefined {
  const seen = draft.world.targets.get(key);
  if (seen?.batch === undefined || seen.batch === batch.number) return seen;
  const { assessment: _, drift: __, inHistory: ___, ...rest } = seen;
  return rest;
}

/** The base holds what the next weight's pull request brings: it has merged, and is seen to have merged in a moment. */
export function holdsNextStep(run: Run, batch: Batch, target: BatchTarget, pins: readonly (string | null)[] | undefined): boolean {
  if (batch.step === undefined || pins === undefined) return false;
  return run.batches.some(
    (other) =>
      other.number > batch.number &&
      other.step !== undefined &&
      other.merged === undefined &&
      other.targets.some(({ key, edits }) => key === target.key && edits.every((edit, index) => (pins[index] ?? null) === edit.to)),
  );
}

/** Nothing is against it: it is about to be asked for by name. */
export function isToBeRead(assessment: Assessment | undefined): boolean {
  return assessment?.clause === "settled" && !hasCode(assessment.sentence, "READ_FAILED");
}
