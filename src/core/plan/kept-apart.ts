import { nearest } from "../base/nearest.ts";
import { labelOf } from "../base/selector.ts";
import { isSlip } from "../base/slip.ts";
import type { ProblemData } from "../reasons/problems/problem.ts";
import type { Stage } from "../spec/rollout.ts";
import type { Cluster, PlannedStage } from "./plan-types.ts";

/** What a stage keeps apart: clusters that have one of these values in common are never in one batch. */
type Apart = (cluster: Pick<Cluster, "key" | "name" | "labels" | "server">) => string[];

/** By the stage's `topologyKey` and `order.pairs`. */
export function apart(stage: Pick<Stage, "topologyKey" | "pairs">): Apart {
  const { topologyKey } = stage;
  const byCluster = new Map<string, string[]>();
  for (const [i, pair] of (stage.pairs ?? []).entries()) {
    for (const name of pair) byCluster.set(name, [...(byCluster.get(name) ?? []), `pair ${i}`]);
  }
  return (cluster) => [
    ...(topologyKey === undefined ? [] : [`value ${topologyOf(cluster, topologyKey)}`]),
    ...(byCluster.get(cluster.name) ?? []),
    ...(byCluster.get(cluster.key) ?? []),
  ];
}

/** A cluster without the label is a value of its own. */
export function topologyOf(cluster: Pick<Cluster, "key" | "name" | "labels" | "server">, topologyKey: string): string {
  const value = labelOf(cluster, topologyKey);
  return value === undefined ? `\0${cluster.key}` : value;
}

export function keepsApart(stage: Pick<Stage, "topologyKey" | "pairs">): boolean {
  return stage.topologyKey !== undefined || (stage.pairs ?? []).length > 0;
}

/** Stages whose `topologyKey` is a label that their clusters lack, all of them or some that could go together. */
export function unlabelled(
  stages: readonly Pick<Stage, "topologyKey">[],
  planned: readonly PlannedStage[],
  clusters: readonly Cluster[],
): ProblemData<"NOT_KEPT_APART">[] {
  const lacking = lackingOf(clusters);
  return planned.flatMap(({ name: stage, clusters: taken, requeued, maxUnavailable }, at) => {
    const topologyKey = stages[at]?.topologyKey;
    if (topologyKey === undefined) return [];
    const lacks = lacking(topologyKey);
    if (lacks.size === 0) return [];
    const own = [...taken, ...requeued];
    const without = own.flatMap((key) => lacks.get(key) ?? []);
    const [all, of] = [without.length === own.length, own.length];
    if (without.length === 0 || (!all && maxUnavailable === 1)) return [];
    // Of some, another spelling alone is meant: others have the label as it is written.
    const near = nearest(topologyKey, keysOf(without), all ? undefined : (key) => isSlip(topologyKey, key));
    const names = without.map(({ name }) => name);
    return of === 1 && near === undefined ? [] : [{ stage, topologyKey, names, of, near }];
  });
}

/** The clusters without a label, by key: found once for each label, whatever the number of stages. */
function lackingOf(clusters: readonly Cluster[]): (label: string) => ReadonlyMap<string, Cluster> {
  const known = new Map<string, ReadonlyMap<string, Cluster>>();
  return (label) => {
    const found = known.get(label) ?? new Map(clusters.flatMap((one) => (labelOf(one, label) === undefined ? [[one.key, one]] : [])));
    known.set(label, found);
    return found;
  };
}

function keysOf(clusters: readonly Cluster[]): Set<string> {
  return new Set(clusters.flatMap(({ labels }) => Object.keys(labels)));
}
