import { matcher } from "../base/selector.ts";
import type { OverLimit } from "../reasons/problems/plan.ts";
import type { Limits } from "../spec/repo-config.ts";
import type { Cluster } from "./plan-types.ts";

/** A cluster with how many Applications of it travel: a real one, whatever the rollout counts. */
export interface Sized {
  cluster: string;
  /** What the rollout counts there, where that is something else: its labels are selected by, too. */
  counted?: string | undefined;
  targets: number;
}

/** Counts what travels together while it is put together: each question costs only what is added by it. */
interface Tally {
  /**
   * The first of the limits that all that was added is over; undefined: none is. A cluster added twice counts once, its targets each
   * time. What was added stays, over or not: who leaves it out begins anew.
   */
  add(flying: Iterable<Sized>): OverLimit | undefined;
}

/** Begins to count, with nothing in flight. */
export type Limiter = () => Tally;

type Labelled = Pick<Cluster, "key" | "name" | "labels" | "on">;

/** `clusters`: all there are, besides what is counted in their place, since a percentage is of those with the label; undefined: they cannot be read, and no label holds anything back. */
export function limiter(limits: Limits, clusters: Iterable<Labelled> | undefined): Limiter {
  const all = clusters === undefined ? undefined : [...clusters];
  const begin = [limiterOf(limits, "limits.", all?.filter(isReal))];
  for (const [i, one] of (limits.selected ?? []).entries()) {
    const own = all?.filter(matcher(one.selector));
    if (own !== undefined) begin.push(limiterOf(one, `limits.selected[${i}].`, own.filter(isReal), new Set(own.map(({ key }) => key))));
  }
  return () => {
    const tallies = begin.map((one) => one());
    return {
      add(flying) {
        const added = [...flying];
        return tallies.map((tally) => tally.add(added)).find((over) => over !== undefined);
      },
    };
  };
}

function isReal({ on }: Labelled): boolean {
  return on === undefined;
}

/** Whether the limits go by labels of clusters. */
export function goesByLabels({ label, selected }: Limits): boolean {
  return label !== undefined || selected !== undefined;
}

/** `only`: what is counted; undefined: everything. */
function limiterOf(
  limits: Omit<Limits, "selected">,
  prefix: "limits." | `limits.selected[${number}].`,
  clusters: readonly Labelled[] | undefined,
  only?: ReadonlySet<string>,
): Limiter {
  const byLabel = labelLimiter(limits.label, prefix, clusters);
  return () => {
    const keys = new Set<string>();
    const labels = byLabel();
    let targets = 0;
    const add = (flying: Iterable<Sized>): OverLimit | undefined => {
      for (const one of flying) {
        if (only !== undefined && !only.has(one.cluster) && !(one.counted !== undefined && only.has(one.counted))) continue;
        targets += one.targets;
        if (keys.has(one.cluster)) continue;
        keys.add(one.cluster);
        labels.add(one.cluster);
      }
      if (limits.clusters !== undefined && keys.size > limits.clusters)
        return { setting: `${prefix}clusters`, have: keys.size, most: limits.clusters };
      if (limits.targets !== undefined && targets > limits.targets)
        return { setting: `${prefix}targets`, have: targets, most: limits.targets };
      return labels.over();
    };
    return { add };
  };
}

interface LabelTally {
  /** A cluster that was not added before. */
  add(cluster: string): void;
  over(): OverLimit | undefined;
}

function labelLimiter(
  label: Limits["label"],
  prefix: "limits." | `limits.selected[${number}].`,
  clusters: readonly Labelled[] | undefined,
): () => LabelTally {
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
    const over = (): OverLimit | undefined => {
      if (exceeded === undefined) return undefined;
      const have = flying.get(exceeded) ?? 0;
      return { setting: `${prefix}label`, have, most: mostOf(exceeded), label: { key, value: exceeded, percent } };
    };
    return { add, over };
  };
}
