import type { BatchTarget } from "../run/state/run.ts";

/** Clusters that are in a batch for good: not those that it only put back, to be tried again. */
export function placesOf(targets: readonly BatchTarget[]): string[] {
  return targets.flatMap(({ phase, cluster }) => (phase === "RolledBack" ? [] : [cluster]));
}
