import type { Batch, Run } from "./run.ts";
import { unitOf } from "./run-names.ts";
import { isMidStep } from "./steps.ts";

/** Failed at a weight after the next one's batch was made, or shares its pin with one that did: it does not go on to it. */
export function failedBefore(run: Run, batch: Batch, cluster: string): boolean {
  if (batch.step === undefined || batch.step.index === 1) return false;
  const unit = unitOf(run, cluster);
  return run.batches.some(
    (other) =>
      other.number < batch.number &&
      other.stage === batch.stage &&
      other.ofStage === batch.ofStage &&
      isMidStep(other) &&
      other.merged !== undefined &&
      other.targets.some((target) => target.phase === "Failed" && target.excused !== true && unit.includes(target.cluster)),
  );
}
