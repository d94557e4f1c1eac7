import { labelOf } from "../base/selector.ts";
import type { Stage } from "../spec/rollout.ts";
import type { Cluster } from "./plan-types.ts";

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
