import type { Cluster } from "./plan-types.ts";
import type { Batch, BatchTarget } from "./run.ts";
import type { Draft } from "./run-draft.ts";
import { clustersOf, count, isOut, liveTargets, targetsOf, unitOf } from "./run-names.ts";
import type { Limits } from "./world.ts";

/** A cluster with how many Applications of it travel. */
export interface Sized {
  cluster: string;
  targets: number;
}

/** More in flight than one of the limits allows. */
export interface Over {
  /** As it stands in the repo's settings. */
  setting: "limits.clusters" | "limits.targets" | "limits.label";
  have: number;
  most: number;
  /** `3 clusters`, `2 clusters with region=eu`. */
  what: string;
}

/** Counts what travels together while it is put together: each question costs only what is added by it. */
export interface Tally {
  /**
   * The first of the limits that all that was added is over; undefined: none is. A cluster added twice counts once, its targets each
   * time. What was added stays, over or not: who leaves it out begins anew.
   */
  add(flying: Iterable<Sized>): Over | undefined;
}

/** Begins to count, with nothing in flight. */
export type Limiter = () => Tally;

/** `clusters`: all there are, since a percentage is of those with the label; undefined: they cannot be read, and no label holds anything back. */
export function limiter(limits: Limits, clusters: Iterable<Pick<Cluster, "key" | "labels">> | undefined): Limiter {
  const byLabel = labelLimiter(limits.label, clusters);
  return () => {
    const keys = new Set<string>();
    const labels = byLabel();
    let targets = 0;
    const add = (flying: Iterable<Sized>): Over | undefined => {
      for (const one of flying) {
        targets += one.targets;
        if (keys.has(one.cluster)) continue;
        keys.add(one.cluster);
        labels.add(one.cluster);
      }
      if (limits.clusters !== undefined && keys.size > limits.clusters)
        return { setting: "limits.clusters", have: keys.size, most: limits.clusters, what: count(keys.size, "cluster") };
      if (limits.targets !== undefined && targets > limits.targets)
        return { setting: "limits.targets", have: targets, most: limits.targets, what: count(targets, "target") };
      return labels.over();
    };
    return { add };
  };
}

interface LabelTally {
  /** A cluster that was not added before. */
  add(cluster: string): void;
  over(): Over | undefined;
}

function labelLimiter(label: Limits["label"], clusters: Iterable<Pick<Cluster, "key" | "labels">> | undefined): () => LabelTally {
  if (label === undefined || clusters === undefined) return () => ({ add: () => undefined, over: () => undefined });
  const { key, percent } = label;
  const valueAt = new Map<string, string>();
  const all = new Map<string, number>();
  for (const cluster of clusters) {
    const value = cluster.labels[key];
    if (value === undefined) continue;
    valueAt.set(cluster.key, value);
    all.set(value, (all.get(value) ?? 0) + 1);
  }
  const mostOf = (value: string) => Math.max(1, Math.floor(((all.get(value) ?? 0) * percent) / 100));
  return () => {
    const flying = new Map<string, number>();
    let exceeded: string | undefined;
    const add = (cluster: string) => {
      const value = valueAt.get(cluster);
      if (value === undefined) return;
      const have = (flying.get(value) ?? 0) + 1;
      flying.set(value, have);
      if (have > mostOf(value)) exceeded ??= value;
    };
    const over = (): Over | undefined => {
      if (exceeded === undefined) return undefined;
      const have = flying.get(exceeded) ?? 0;
      return { setting: "limits.label", have, most: mostOf(exceeded), what: `${count(have, "cluster")} with ${key}=${exceeded}` };
    };
    return { add, over };
  };
}

/** The limits in force, by the clusters that are known now; undefined: there are none. */
export function limiterOf({ world }: Draft): Limiter | undefined {
  return world.limits === undefined ? undefined : limiter(world.limits, world.clustersKnown ? world.clusters.values() : undefined);
}

/**
 * Of these clusters as many, in order, as the limits could ever let travel in one batch, were nothing else in flight: a larger one would
 * wait for ever. What has to travel together stays together, and of the first that is never less.
 */
export function withinLimits(draft: Draft, clusters: readonly string[]): string[] {
  const begin = limiterOf(draft);
  if (begin === undefined) return [...clusters];
  const tally = begin();
  const given = new Set(clusters);
  const kept: string[] = [];
  const seen = new Set<string>();
  for (const cluster of clusters) {
    if (seen.has(cluster)) continue;
    const unit = unitOf(draft.run, cluster).filter((member) => given.has(member));
    for (const member of unit) seen.add(member);
    const over = tally.add(unit.map((member) => ({ cluster: member, targets: targetsOf(draft.run, member).length })));
    if (kept.length > 0 && over !== undefined) break;
    for (const member of unit) kept.push(member);
  }
  return kept;
}

/** Of the targets of a batch that is built again, those that may still travel together, and the clusters that are left for a later batch. */
export function fitting(draft: Draft, batch: Batch, targets: BatchTarget[]): { targets: BatchTarget[]; dropped: string[] } {
  // The later weights of what is in flight, and what puts old values back, stay whole.
  if (batch.kind === "Revert" || (batch.step?.index ?? 1) > 1) return { targets, dropped: [] };
  const live = clustersOf(targets.filter((target) => !isOut(target)));
  const fits = new Set(withinLimits(draft, live));
  const kept = targets.filter((target) => isOut(target) || fits.has(target.cluster));
  return { targets: kept, dropped: live.filter((cluster) => !fits.has(cluster)) };
}

/** What travels in a batch, cluster by cluster. */
export function sizesOf(batch: Batch): Sized[] {
  return liveTargets(batch).map(({ cluster }) => ({ cluster, targets: 1 }));
}
