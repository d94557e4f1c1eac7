import { epoch } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import type { Decision, Scene } from "../state/decision.ts";
import { haltCovers, haltsNow } from "../state/halts.ts";
import { clustersOf, liveTargets } from "../state/names.ts";
import type { Batch } from "../state/run.ts";

/** Nobody merges a PR whose clusters are halted (docs/spec.md §9.13). */
export function haltGate(scene: Scene, batch: Batch): Decision | undefined {
  for (const halt of haltsNow(scene)) {
    const held = clustersOf(liveTargets(batch)).filter((cluster) => haltCovers(halt, scene.run, cluster));
    // What touches no cluster, such as the release a rollback puts back last, waits for a halt of all of them.
    const none = liveTargets(batch).length === 0 && halt.clusters.length === 0;
    if (held.length === 0 && !none) continue;
    const why = runReason("CLUSTERS_HALTED", { by: halt.by, clusters: halt.clusters.length === 0 ? [] : held, text: halt.reason });
    if (halt.until === undefined) return { kind: "stop", why, next: { what: runReason("NEXT_HALT_LIFTED") } };
    return { kind: "stop", why, next: { what: runReason("NEXT_HALT_ENDS"), eta: halt.until }, again: epoch(halt.until) };
  }
  return undefined;
}
