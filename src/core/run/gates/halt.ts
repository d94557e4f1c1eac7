import { text } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import type { Batch, Halt, Run } from "../state/run.ts";
import { batchOf, type Draft, moveBatch, wakeAt } from "../state/run-draft.ts";
import { clusterName, clustersOf, liveTargets, nameList, pullName } from "../state/run-names.ts";
import type { Blocked } from "./pull-gates.ts";

/** The halts that are on now, of this run and of every other of the repo. */
export function haltsNow(draft: Pick<Draft, "run" | "world" | "now">): Halt[] {
  const all = [draft.run, ...(draft.world.others ?? [])].flatMap((run) => run.halts ?? []);
  return all.filter((halt) => isOn(halt, draft.now));
}

function isOn(halt: Halt, now: number): boolean {
  return halt.until === undefined || now < epoch(halt.until);
}

/** The halts of a run that are on: also those that the rollout's next run takes over. */
export function haltsOn(run: Pick<Run, "halts"> | undefined, now: number): Halt[] {
  return (run?.halts ?? []).filter((halt) => isOn(halt, now));
}

/** Keys and names are both meant: a halt written on one rollout's PR names clusters as that rollout knows them. */
export function haltCovers(halt: Halt, run: Pick<Run, "plan" | "joined">, cluster: string): boolean {
  if (halt.clusters.length === 0) return true;
  return (
    halt.clusters.includes(cluster) ||
    halt.clusters.includes(clusterName(run, cluster)) ||
    halt.clusters.includes(cluster.slice(cluster.indexOf("/") + 1))
  );
}

/**
 * Nobody merges a PR whose clusters are halted (docs/spec.md §9.13): its gate fails and it leaves the merge queue, and what was asked
 * of the queue is taken back. A merge call that may be under way is waited for as ever.
 */
export function fenceHalted(draft: Draft): void {
  for (const { number } of draft.run.batches) {
    const batch = batchOf(draft.run, number);
    if ((batch.phase !== "Open" && batch.phase !== "Merging") || haltGate(draft, batch) === undefined) continue;
    const pull = draft.world.pulls.get(number);
    if (batch.intention !== undefined && (pull == null || pull.queue == null)) continue;
    draft.fenced.push(number);
    if (batch.intention !== undefined)
      moveBatch(draft, number, "Open", { intention: undefined }, `${pullName(batch.pull)} is taken out of the merge queue: it is halted`);
  }
}

export function haltGate(draft: Draft, batch: Batch): Blocked | undefined {
  for (const halt of haltsNow(draft)) {
    const held = clustersOf(liveTargets(batch)).filter((cluster) => haltCovers(halt, draft.run, cluster));
    // What touches no cluster, such as the release a rollback puts back last, waits for a halt of all of them.
    const none = liveTargets(batch).length === 0 && halt.clusters.length === 0;
    if (held.length === 0 && !none) continue;
    if (halt.until !== undefined) wakeAt(draft, epoch(halt.until));
    const what = halt.until === undefined ? "the halt is lifted (`/halt --off`)" : "the halt ends";
    const because = halt.reason === "" ? "" : `: ${text(halt.reason)}`;
    return {
      why: `@${halt.by} halted ${halt.clusters.length === 0 ? "every cluster" : nameList(draft.run, held)}${because}`,
      next: halt.until === undefined ? { what } : { what, at: halt.until },
    };
  }
  return undefined;
}
