/** How far batches are: what is over, what takes a place in its stage, and what comes before what. */
import { isInTurn } from "./batch.ts";
import { liveTargets } from "./names.ts";
import type { Batch, Run } from "./run.ts";

/** How long a journalled merge intention stands for a merge call that may be under way (docs/spec.md §9.13). */
export const INTENTION_MS = 30_000;

export function isSettled(batch: Batch): boolean {
  return batch.phase === "Settled" || (batch.phase === "Closed" && liveTargets(batch).length === 0);
}

/** Lists a stage's clusters that take a place in its window: moved and not yet confirmed for as long as the bake wants. */
export function listOccupied(run: Run, stage: number, except?: number): Set<string> {
  const clusters = new Set<string>();
  for (const batch of run.batches) {
    if (batch.stage !== stage || batch.number === except) continue;
    const moved = batch.merged !== undefined || batch.intention !== undefined;
    for (const target of batch.targets) {
      if (target.phase === "Merged" || target.phase === "Syncing" || target.phase === "Healthy") clusters.add(target.cluster);
      else if (moved && target.phase === "Proposed") clusters.add(target.cluster);
    }
  }
  return clusters;
}

/**
 * A hotfix or a revert of which nothing is in flight yet. It may wait for a place in the window, and what is midway takes one until
 * its last weight: that goes on first.
 */
export function waitsOutOfTurn(batch: Pick<Batch, "kind" | "merged" | "intention">): boolean {
  return !isInTurn(batch) && batch.merged === undefined && batch.intention === undefined;
}

/** Whether another batch comes first, by stage, then by number: a catch-up batch of an earlier stage does, though it was made later. */
export function comesBefore(other: Batch, batch: Batch, isRolling: boolean): boolean {
  // Order is what a hotfix skips, and a revert; health and the window they do not.
  if (!isInTurn(batch)) return false;
  if (other.stage !== batch.stage) return other.stage < batch.stage;
  if (waitsOutOfTurn(other) && (batch.step?.index ?? 1) > 1) return false;
  return !isRolling && other.number < batch.number;
}
