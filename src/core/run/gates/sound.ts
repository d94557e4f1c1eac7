import { defined } from "../../base/defined.ts";
import { runReason } from "../../reasons/run.ts";
import { type Decision, type Scene, wait } from "../state/decision.ts";
import { clustersOf, liveTargets, pullRef } from "../state/names.ts";
import type { Batch } from "../state/run.ts";
import { failedBefore } from "../state/steps.ts";
import type { ObservedPull, World } from "../state/world.ts";

/** Whether the PR is what we proposed and can still be merged as it is. What cannot is closed, and built again. */
export function soundGate({ run, world }: Scene, batch: Batch, observed: ObservedPull): Decision | undefined {
  const pull = pullRef(observed);
  if (observed.draft) return wait(runReason("PULL_DRAFT", { pull }), { what: runReason("NEXT_PULL_READY", { pull }) });
  if (!observed.headIsOurs) return wait(changedPull(observed), { what: runReason("NEXT_MERGE_ENDS") });
  const next = { what: runReason("NEXT_PULL_CLOSED") };
  if (nothingLeft(world, batch)) {
    const closing = runReason("BASE_AT_RELEASE");
    return { kind: "rebuild", closing, why: runReason("PULL_CLOSED_NEEDLESS", { pull, because: closing }), next };
  }
  const behind = clustersOf(liveTargets(batch)).filter((cluster) => failedBefore(run, batch, cluster));
  const closing =
    behind.length > 0
      ? runReason("WEIGHT_MISSED", { clusters: behind })
      : observed.mergeable === "conflict"
        ? runReason("BASE_CONFLICTS")
        : observed.mergeable === "behind"
          ? runReason("BASE_MOVED")
          : undefined;
  if (closing === undefined) return undefined;
  return { kind: "rebuild", closing, why: runReason("PULL_BUILT_AGAIN", { pull, because: closing }), next };
}

/** Why a PR whose head is not taken for ours is none that is merged. */
export function changedPull(observed: ObservedPull) {
  const { head, retargeted } = observed;
  return runReason("PULL_CHANGED", defined({ pull: pullRef(observed), head, retargeted }));
}

/** Somebody else has brought every pin of the batch to the release meanwhile. */
function nothingLeft(world: World, batch: Batch): boolean {
  if (batch.intention !== undefined || batch.also !== undefined) return false;
  return liveTargets(batch).every((target) => {
    const pins = world.targets.get(target.key)?.pins;
    return pins !== undefined && target.edits.every((edit, index) => pins[index] === edit.to);
  });
}
