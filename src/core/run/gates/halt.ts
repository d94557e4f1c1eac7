import { epoch } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { clusterName, clustersOf, hostOf, keysOf, liveTargets } from "../state/names.ts";
import type { Batch, Halt, Run } from "../state/run.ts";
import type { Decision, Scene } from "./decision.ts";

/** The halts that are on now, of this run and of every other of the repo. */
export function haltsNow({ run, world, now }: Scene): Halt[] {
  const all = [run, ...(world.others ?? [])].flatMap((one) => one.halts ?? []);
  return all.filter((halt) => isOn(halt, now));
}

function isOn(halt: Halt, now: number): boolean {
  return halt.until === undefined || now < epoch(halt.until);
}

/** The halts of a run that are on: also those that the rollout's next run takes over. */
export function haltsOn(run: Pick<Run, "halts"> | undefined, now: number): Halt[] {
  return (run?.halts ?? []).filter((halt) => isOn(halt, now));
}

/**
 * Keys and names are both meant: a halt written on one rollout's PR names clusters as that rollout knows them. One of a cluster is of all that
 * is counted on it.
 */
export function haltCovers(halt: Halt, run: Pick<Run, "plan" | "joined">, cluster: string): boolean {
  if (halt.clusters.length === 0) return true;
  const host = hostOf(run, cluster);
  const keys = [...keysOf(cluster), ...keysOf(host)];
  const names = [clusterName(run, cluster), ...keys, ...keys.map(afterPlane)];
  return names.some((name) => halt.clusters.includes(name));
}

function afterPlane(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

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
