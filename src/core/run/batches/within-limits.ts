import { type Limiter, limiter, type Sized } from "../../plan/limits.ts";
import { putsBack } from "../state/batch-kind.ts";
import type { Draft } from "../state/draft.ts";
import { clustersOf, isOut, liveTargets, targetsOf, unitOf } from "../state/names.ts";
import type { Batch, BatchTarget } from "../state/run.ts";

/** The limits in force, by the clusters that are known now; undefined: there are none. */
export function limiterOf({ world }: Pick<Draft, "world">): Limiter | undefined {
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
  if (putsBack(batch) || (batch.step?.index ?? 1) > 1) return { targets, dropped: [] };
  const live = clustersOf(targets.filter((target) => !isOut(target)));
  const fits = new Set(withinLimits(draft, live));
  const kept = targets.filter((target) => isOut(target) || fits.has(target.cluster));
  return { targets: kept, dropped: live.filter((cluster) => !fits.has(cluster)) };
}

/** What travels in a batch, cluster by cluster. */
export function sizesOf(batch: Batch): Sized[] {
  return liveTargets(batch).map(({ cluster }) => ({ cluster, targets: 1 }));
}
