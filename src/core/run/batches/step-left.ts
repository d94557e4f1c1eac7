import { runReason } from "../../reasons/run.ts";
import type { Draft } from "../state/draft.ts";
import { clustersOf, unitOf } from "../state/names.ts";
import type { Batch } from "../state/run.ts";
import { weightMissed } from "../state/steps.ts";
import { skip } from "./requeue.ts";

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
