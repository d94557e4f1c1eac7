import { defined } from "../base/defined.ts";
import { formatSelector, matcher } from "../base/selector.ts";
import type { LimitsPlace, OverLimit } from "../reasons/problems/plan.ts";
import type { WindowScope } from "../reasons/refs.ts";
import type { Limits } from "../spec/schema-common.ts";
import type { Cluster } from "./plan-types.ts";

/** A cluster with how many Applications of it travel: a real one, whatever the rollout counts. */
export interface Sized extends Partial<InStage> {
  cluster: string;
  /** What the rollout counts there, where that is something else: its labels are selected by, too. */
  counted?: string | undefined;
  targets: number;
}

/** Where something travels; absent: nobody knows, and every limit counts it. */
interface InStage {
  rollout: string;
  stage: string | undefined;
}

/** The limits that hold for a rollout's batch. */
interface Bounds {
  /** Of the repo's settings: over all runs. */
  repo?: Limits | undefined;
  /** Of the rollout of this name. */
  own?: { rollout: string; limits: Limits | undefined } | undefined;
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
type OneLimit = Omit<NonNullable<Limits["selected"]>[number], "rollouts"> & { rollouts?: readonly string[] | undefined };

/**
 * Returns what counts by these limits; undefined: there are none. `clusters`: all there are, besides what is counted in their place, since a
 * percentage is of those with the label; undefined: they cannot be read, and no label holds anything back.
 */
export function limiter({ repo, own }: Bounds, clusters: Iterable<Labelled> | undefined): Limiter | undefined {
  if (repo === undefined && own?.limits === undefined) return undefined;
  const all = clusters === undefined ? undefined : [...clusters];
  const begin = [
    ...limitersOf(repo, "limits.", all),
    ...(own === undefined ? [] : limitersOf(own.limits, "spec.limits.", all, [own.rollout])),
  ];
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

/** Counts for a stage all that is added. */
export function inStage(begin: Limiter, { rollout, stage }: InStage): Limiter {
  return () => {
    const tally = begin();
    return { add: (flying) => tally.add([...flying].map((one) => ({ ...one, rollout, stage }))) };
  };
}

/** `of`: the rollouts whose runs alone are counted. */
function limitersOf(
  limits: Limits | undefined,
  place: "limits." | "spec.limits.",
  all: readonly Labelled[] | undefined,
  of?: readonly string[],
): Limiter[] {
  if (limits === undefined) return [];
  const { selected = [], ...every } = limits;
  const each = selected.flatMap((one, i) => {
    if (one.selector !== undefined && all === undefined) return [];
    return limiterOf({ rollouts: of, ...one }, `${place}selected[${i}].`, one.selector && all?.filter(matcher(one.selector)), all);
  });
  return [limiterOf({ rollouts: of, ...every }, place, undefined, all), ...each];
}

/** Whether it stands in the rollout, and so holds for its runs alone, as it was when they began. */
export function isOwnLimit(setting: LimitsPlace | OverLimit["setting"]): boolean {
  return setting.startsWith("spec.");
}

/** Whether the limits go by labels of clusters. */
export function goesByLabels({ label, selected = [] }: Limits): boolean {
  return label !== undefined || selected.some((one) => one.selector !== undefined || one.label !== undefined);
}

/** `selected`: what is counted; undefined: everything. */
function limiterOf(
  limits: OneLimit,
  place: LimitsPlace,
  selected: readonly Labelled[] | undefined,
  all: readonly Labelled[] | undefined,
): Limiter {
  const byLabel = labelLimiter(
    limits.label,
    (selected ?? all)?.filter(({ on }) => on === undefined),
  );
  const only = selected && new Set(selected.map(({ key }) => key));
  const { rollouts, stages } = limits;
  const isCounted = ({ cluster, counted, rollout, stage }: Sized) =>
    (rollout === undefined || rollouts?.includes(rollout) !== false) &&
    (stage === undefined || stages?.includes(stage) !== false) &&
    (only === undefined || only.has(cluster) || (counted !== undefined && only.has(counted)));
  return () => {
    const keys = new Set<string>();
    const labels = byLabel();
    let targets = 0;
    const over = () => {
      if (limits.clusters !== undefined && keys.size > limits.clusters)
        return { key: "clusters", have: keys.size, most: limits.clusters } as const;
      if (limits.targets !== undefined && targets > limits.targets) return { key: "targets", have: targets, most: limits.targets } as const;
      const exceeded = labels.over();
      return exceeded && ({ key: "label", ...exceeded } as const);
    };
    const add = (flying: Iterable<Sized>): OverLimit | undefined => {
      for (const one of flying) {
        if (!isCounted(one)) continue;
        targets += one.targets;
        if (keys.has(one.cluster)) continue;
        keys.add(one.cluster);
        labels.add(one.cluster);
      }
      const found = over();
      if (found === undefined) return undefined;
      const { key, ...numbers } = found;
      return { setting: `${place}${key}`, ...numbers, ...scopeOf(limits, place) };
    };
    return { add };
  };
}

/** Of a rollout's own it goes without saying which rollout. */
function scopeOf({ selector, rollouts, stages }: OneLimit, place: LimitsPlace): { only?: WindowScope } {
  const only = defined({
    selector: selector && formatSelector(selector),
    rollouts: isOwnLimit(place) ? undefined : rollouts,
    stages,
  });
  return Object.keys(only).length === 0 ? {} : { only };
}

interface LabelTally {
  /** A cluster that was not added before. */
  add(cluster: string): void;
  over(): Pick<OverLimit, "have" | "most" | "label"> | undefined;
}

function labelLimiter(label: Limits["label"], clusters: readonly Labelled[] | undefined): () => LabelTally {
  if (label === undefined || clusters === undefined) return () => ({ add: () => undefined, over: () => undefined });
  const { key, percent } = label;
  const valueAt = new Map<string, string>();
  const all = new Map<string, number>();
  for (const cluster of clusters) {
    const value = Object.hasOwn(cluster.labels, key) ? cluster.labels[key] : undefined;
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
    const over = () => {
      if (exceeded === undefined) return undefined;
      const have = flying.get(exceeded) ?? 0;
      return { have, most: mostOf(exceeded), label: { key, value: exceeded, percent } };
    };
    return { add, over };
  };
}
