import type { MergeOutcome } from "../forge/port.ts";
import type { Batch, Run } from "../rollout/run.ts";
import type { ObservedPull } from "../rollout/world.ts";
import type { RepoContext } from "./context.ts";
import type { RepoMemory } from "./memory.ts";

export interface MergeCall {
  number: number;
  head: string;
  method: "squash" | "merge" | "rebase";
  title: string;
  message: string;
}

/** The queue is read at most this often while a PR of ours is in it. */
const READ_EVERY_MS = 10_000;

/** Merges, or asks for a place in the merge queue where the base branch merges through its queue only. */
export async function mergeOrEnqueue(context: RepoContext, memory: RepoMemory, branch: string, call: MergeCall): Promise<MergeOutcome> {
  const { forge } = context;
  const { queue } = memory;
  if (!queue.only && memory.rules?.rules?.mergeQueue !== true) {
    const outcome = await forge.mergePull(call);
    if (outcome.kind !== "queueOnly") return outcome;
    queue.only = true;
  }
  const outcome = await forge.enqueuePull(call.number, call.head);
  if (outcome.kind !== "queued") return outcome;
  queue.mine.add(`${branch}@${call.head}`);
  queue.at = 0;
  return outcome;
}

/** Takes a PR out of the queue. Throws where it may still be in it. */
export async function dequeue(context: RepoContext, memory: RepoMemory, pull: number): Promise<void> {
  await context.forge.dequeuePull(pull);
  memory.queue.at = 0;
  memory.queue.entries = memory.queue.entries.filter((entry) => entry.pull !== pull);
}

/**
 * Reads the queue, before the PRs are read: what has left it by then shows itself as merged, or as taken out. Only where a
 * PR of ours may be in it.
 */
export async function readQueue(context: RepoContext, memory: RepoMemory, run: Run, base: string): Promise<void> {
  const { queue } = memory;
  const may = run.batches.some((batch) => batch.phase === "Merging" && batch.pull !== undefined);
  if (!may || (!queue.only && memory.rules?.rules?.mergeQueue !== true && !run.batches.some((one) => one.intention?.queued !== undefined)))
    return;
  const now = context.clock.now();
  if (context.forge.mergeQueue === undefined || (now - queue.at < READ_EVERY_MS && !memory.remote.dirty)) return;
  queue.entries = await context.forge.mergeQueue(base);
  queue.at = now;
}

/** Where a batch's PR stands in the queue as last read: undefined where that says nothing about now. */
export function placeInQueue(context: RepoContext, memory: RepoMemory, batch: Batch, pull: number, head: string): ObservedPull["queue"] {
  const { queue } = memory;
  const entry = queue.entries.find((one) => one.pull === pull);
  if (entry !== undefined) return { state: entry.state, position: entry.position };
  if (batch.intention === undefined) return undefined;
  // Not seen since it was put in: taken for queued until the queue is read.
  if (context.forge.mergeQueue === undefined || queue.at === 0)
    return queue.mine.has(`${batch.branch}@${head}`) ? { state: "QUEUED", position: 0 } : undefined;
  return batch.intention.queued === undefined ? undefined : null;
}
