import { runReason } from "../../reasons/run.ts";
import { skip } from "../batches/requeue.ts";
import type { Draft } from "../state/draft.ts";
import { clustersOf, isOut, unitOf } from "../state/names.ts";
import type { Batch, Run } from "../state/run.ts";
import { isMidStep } from "../state/steps.ts";

/** Failed at a weight after the next one's batch was made, or shares its pin with one that did: it does not go on to it. */
export function failedBefore(run: Run, batch: Batch, cluster: string): boolean {
  return weightMissed(run, batch, unitOf(run, cluster)) !== undefined;
}

/** The batch of the weight before, where one of these clusters has failed; what was so at a still earlier one is over. */
function weightMissed(run: Run, batch: Batch, clusters: readonly string[]): Batch | undefined {
  if (batch.step === undefined || batch.step.index === 1) return undefined;
  for (const cluster of clusters) {
    const own = (other: Batch) => other.targets.filter((target) => target.cluster === cluster && !isOut(target));
    const before = run.batches.findLast(
      (other) =>
        other.number < batch.number &&
        other.stage === batch.stage &&
        other.ofStage === batch.ofStage &&
        isMidStep(other) &&
        other.merged !== undefined &&
        own(other).length > 0,
    );
    if (before !== undefined && own(before).some((target) => target.phase === "Failed" && target.excused !== true)) return before;
  }
  return undefined;
}

/** Of a batch that is built again: those that do not go on for the sake of another are left out of the run, and named. */
export function nameBehind(draft: Draft, batch: Batch): void {
  for (const cluster of clustersOf(batch.targets)) {
    const missed = weightMissed(draft.run, batch, unitOf(draft.run, cluster));
    if (missed !== undefined && weightMissed(draft.run, batch, [cluster]) === undefined) leaveBehind(draft, missed, [cluster]);
  }
}

/** Who got through stays for the sake of others that share its pin and did not: it is left out of the run, and named. */
export function leaveBehind(draft: Draft, { step }: Batch, clusters: readonly string[]): void {
  for (const cluster of clusters) {
    const others = unitOf(draft.run, cluster).filter((member) => member !== cluster);
    const because = runReason("LEFT_AT_WEIGHT", { weight: step?.weight ?? 0, clusters: others });
    skip(draft, cluster, because, runReason("CLUSTER_EVENT", { cluster, because }));
  }
}
