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

/** The first of the limits that so much in flight is over; undefined: none is. A cluster given twice counts once, its targets each time. */
export type Limiter = (flying: Iterable<Sized>) => Over | undefined;

/** `clusters`: all there are, since a percentage is of those with the label; undefined: they cannot be read, and no label holds anything back. */
export function limiter(limits: Limits, clusters: Iterable<Pick<Cluster, "key" | "labels">> | undefined): Limiter {
  const byLabel = labelLimiter(limits.label, clusters);
  return (flying) => {
    const keys = new Set<string>();
    let targets = 0;
    for (const one of flying) {
      keys.add(one.cluster);
      targets += one.targets;
    }
    if (limits.clusters !== undefined && keys.size > limits.clusters)
      return { setting: "limits.clusters", have: keys.size, most: limits.clusters, what: count(keys.size, "cluster") };
    if (limits.targets !== undefined && targets > limits.targets)
      return { setting: "limits.targets", have: targets, most: limits.targets, what: count(targets, "target") };
    return byLabel(keys);
  };
}

function labelLimiter(
  label: Limits["label"],
  clusters: Iterable<Pick<Cluster, "key" | "labels">> | undefined,
): (keys: ReadonlySet<string>) => Over | undefined {
  if (label === undefined || clusters === undefined) return () => undefined;
  const { key, percent } = label;
  const valueAt = new Map<string, string>();
  const all = new Map<string, number>();
  for (const cluster of clusters) {
    const value = cluster.labels[key];
    if (value === undefined) continue;
    valueAt.set(cluster.key, value);
    all.set(value, (all.get(value) ?? 0) + 1);
  }
  return (keys) => {
    const flying = new Map<string, number>();
    for (const cluster of keys) {
      const value = valueAt.get(cluster);
      if (value !== undefined) flying.set(value, (flying.get(value) ?? 0) + 1);
    }
    for (const [value, have] of flying) {
      const most = Math.max(1, Math.floor(((all.get(value) ?? 0) * percent) / 100));
      if (have > most) return { setting: "limits.label", have, most, what: `${count(have, "cluster")} with ${key}=${value}` };
    }
    return undefined;
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
  const over = limiterOf(draft);
  if (over === undefined) return [...clusters];
  const kept: Sized[] = [];
  const seen = new Set<string>();
  for (const cluster of clusters) {
    if (seen.has(cluster)) continue;
    const unit = unitOf(draft.run, cluster).filter((member) => clusters.includes(member));
    for (const member of unit) seen.add(member);
    const more = unit.map((member) => ({ cluster: member, targets: targetsOf(draft.run, member).length }));
    if (kept.length > 0 && over([...kept, ...more]) !== undefined) break;
    kept.push(...more);
  }
  return kept.map((one) => one.cluster);
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
