import { defined } from "../../base/defined.ts";
import { batchReason } from "../../reasons/batches.ts";
import { gateReason } from "../../reasons/gates.ts";
import { batchOf, changeBatch, type Draft, pause, sayBatch } from "../state/draft.ts";
import type { BatchTarget } from "../state/run.ts";
import { seesClusterOf } from "../targets/unseen.ts";
import { skip } from "./skip.ts";

/** A cluster whose pin is gone has left with it, unless it is still registered: then somebody has to say what is meant. */
export function leave(draft: Draft, number: number, target: BatchTarget): boolean {
  const { run, world } = draft;
  const edit = target.edits.find((one) => one.create !== true);
  const seen = seesClusterOf(draft, target.cluster);
  if (seen && !world.clusters.has(target.cluster)) {
    const targets = batchOf(run, number).targets.filter((one) => one.cluster !== target.cluster);
    changeBatch(draft, number, { targets });
    skip(draft, target.cluster, batchReason("CLUSTER_GONE"), batchReason("CLUSTER_LEFT", { cluster: target.cluster }));
    return true;
  }
  if (!seen) {
    sayBatch(draft, number, batchReason("PIN_GONE_UNSEEN", { cluster: target.cluster }), { what: gateReason("NEXT_LOOKED_AGAIN") });
    return false;
  }
  const place = defined({ file: edit?.kind === "branch" ? undefined : edit?.file, path: edit?.path });
  const reason = batchReason("PIN_GONE", { cluster: target.cluster, ...place });
  pause(draft, "Drift", "Git", reason, batchReason("ASK_PIN_BACK", { cluster: target.cluster }));
  return false;
}
