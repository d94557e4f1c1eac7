import type { BatchTarget } from "../state/run.ts";
import { batchOf, changeBatch, type Draft, pause, sayBatch } from "../state/run-draft.ts";
import { clusterName, pinPlace } from "../state/run-names.ts";
import { seesClusterOf } from "../targets/target-unseen.ts";
import { skip } from "./run-skip.ts";

const LEFT = "cluster and pin are gone";

/** A cluster whose pin is gone has left with it, unless it is still registered: then somebody has to say what is meant. */
export function leave(draft: Draft, number: number, target: BatchTarget): boolean {
  const { run, world } = draft;
  const name = clusterName(run, target.cluster);
  const edit = target.edits.find((one) => one.create !== true);
  const seen = seesClusterOf(draft, target.cluster);
  if (seen && !world.clusters.has(target.cluster)) {
    const targets = batchOf(run, number).targets.filter((one) => one.cluster !== target.cluster);
    changeBatch(draft, number, { targets });
    skip(draft, target.cluster, LEFT, `${name} left: ${LEFT}`);
    return true;
  }
  if (!seen) {
    sayBatch(draft, number, `the pin of ${name} is gone and the clusters cannot be read: waiting to see whether it left`, {
      what: "looked at again",
    });
    return false;
  }
  const reason = `the pin of ${name} is gone from ${pinPlace(edit)}${edit?.kind === "branch" ? "" : ` (${edit?.path ?? ""})`} though the cluster is still registered`;
  pause(draft, "Drift", "Git", reason, `put the pin back, then \`/resume\`; or \`/skip ${name}\`; or \`/abort\``);
  return false;
}
