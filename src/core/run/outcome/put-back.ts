import { type RunReason, runReason } from "../../reasons/run.ts";
import { putsBack } from "../state/batch.ts";
import type { Batch, BatchTarget, Run } from "../state/run.ts";

/** What of a cluster has been changed by a merged batch and would have to be put back. */
export function changedTargets(batch: Batch | undefined, targets: readonly BatchTarget[]): BatchTarget[] {
  if (batch?.merged === undefined || putsBack(batch)) return [];
  return targets.filter((target) => target.edits.some((edit) => edit.from !== edit.to));
}

/** What a batch left at a cluster, held against what stood there before this run came to it: the edits that put all of it back. */
export function asBefore(run: Run, batch: Batch, target: BatchTarget): BatchTarget {
  const whole = sinceFirstStep(run, batch, target);
  const earlier = run.batches.slice(0, batch.number - 1).reverse();
  const last = earlier.findIndex((one) => putsBack(one) && one.merged !== undefined && ofKey(one, target) !== undefined);
  const since = last < 0 ? earlier : earlier.slice(0, last);
  const edits = whole.edits.map((edit, index) => {
    let { from } = edit;
    // It was tried again after it had moved: what it found there an earlier batch had brought.
    for (const one of since) {
      const brought = one.merged === undefined ? undefined : ofKey(one, target)?.edits[index];
      if (brought !== undefined && brought.to === from) from = brought.from;
    }
    return from === edit.from ? edit : { ...edit, from };
  });
  return edits.every((edit, index) => edit === whole.edits[index]) ? whole : { ...whole, edits };
}

/** What a step left at a cluster, held against what stood there before the first. */
function sinceFirstStep(run: Run, batch: Batch, target: BatchTarget): BatchTarget {
  const steps = run.batches.filter((one) => one.stage === batch.stage && one.ofStage === batch.ofStage && one.merged !== undefined);
  const [before] = steps.flatMap((one) => ofKey(one, target) ?? []);
  if (batch.step === undefined || before === undefined || before === target) return target;
  return { ...target, edits: target.edits.map((edit, index) => ({ ...edit, from: before.edits[index]?.from ?? edit.from })) };
}

function ofKey({ targets }: Batch, { key }: BatchTarget): BatchTarget | undefined {
  return targets.find((target) => target.key === key);
}

/** Why what a batch has changed for a cluster cannot be put back; undefined: it can be. */
export function cannotRevert(targets: readonly BatchTarget[]): RunReason | undefined {
  for (const { cluster, edits } of targets) {
    const made = edits.find((edit) => edit.from === null && edit.made === undefined);
    if (made !== undefined) return runReason("REVERT_OF_MADE_PIN", { cluster, file: made.file });
  }
  return undefined;
}
