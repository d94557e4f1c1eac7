import { epoch } from "../../base/time.ts";
import type { Scene } from "./decision.ts";
import { clusterName, hostOf, keysOf, shortOf } from "./names.ts";
import type { Halt, Run } from "./run.ts";

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
  const names = [clusterName(run, cluster), ...keys, ...keys.map(shortOf)];
  return names.some((name) => halt.clusters.includes(name));
}
