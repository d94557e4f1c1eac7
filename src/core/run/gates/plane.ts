import { runReason } from "../../reasons/run.ts";
import { clustersOf, liveTargets } from "../state/names.ts";
import type { Batch } from "../state/run.ts";
import { lostPlane, lostWords, planeOf } from "../targets/unseen.ts";
import { type Scene, type Wait, wait } from "./decision.ts";

/**
 * What would not be seen is not merged: a batch with targets on a control plane that cannot be read waits for that, whole. One
 * whose targets are all on others goes on, if the order of batches and stages lets it.
 */
export function planeGate(scene: Scene, batch: Batch): Wait | undefined {
  const clusters = clustersOf(liveTargets(batch)).filter((cluster) => lostPlane(scene, cluster) !== undefined);
  const [first] = clusters;
  const lost = first === undefined ? undefined : lostPlane(scene, first);
  if (first === undefined || lost === undefined) return undefined;
  const why = runReason("PLANE_UNSEEN", { clusters, because: lostWords(planeOf(first), lost) });
  return wait(why, { what: runReason("NEXT_PLANE", { clusters }) });
}
