import type { MergeOutcome } from "../../../adapters/forge/port.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { ObservedPull } from "../../../core/run/state/world.ts";
import type { RepoContext } from "../context.ts";
import { keep, type RepoMemory } from "../memory.ts";

export interface MergeCall {
  number: number;
  head: string;
  method: "squash" | "merge" | "rebase";
  title: string;
  message: string;
}

/** The queue is read at most this often while a PR of ours is in it. */
const READ_EVERY_MS = 5_000;
/** And this often while one is open that a person may have put in. */
const READ_OPEN_EVERY_MS = 30_000;

/** Whether the base branch is known to merge through its queue. */
export function mergesByQueue({ queue, rules }: RepoMemory): boolean {
  return queue.only || rules?.rules?.mergeQueue === true;
}

/** Merges, or asks for a place in the merge queue where the base branch merges through its queue only. */
export async function mergeOrEnqueue(context: RepoContext, memory: RepoMemory, branch: string, call: MergeCall): Promise<MergeOutcome> {
  const { forge } = context;
  const { queue } = memory;
  if (!mergesByQueue(memory)) {
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

/**
 * Why GitHub took a PR out, as far as its merge group's checks tell: kept as the answer to the intention, for the run to say.
 */
export async function learnWhyLeft(context: RepoContext, memory: RepoMemory, batch: Batch, pull: number, head: string): Promise<void> {
  const group = memory.queue.groups.get(pull);
  if (group === undefined || batch.intention === undefined) return;
  memory.queue.groups.delete(pull);
  const checks = await context.forge.checksOf(group).catch(() => []);
  const failed = checks.filter((check) => check.state === "failure").map((check) => `"${check.name.slice(0, 100)}"`);
  if (failed.length === 0) return;
  const message = `${failed.slice(0, 5).join(", ")} failed on its merge group ${group.slice(0, 10)}`;
  keep(memory.refusals, `${batch.branch}@${head}`, { kind: "Retry", message, to: batch.intention.at });
}

/** Takes a PR out of the queue. Throws where it may still be in it. */
export async function dequeue(context: RepoContext, memory: RepoMemory, pull: number): Promise<void> {
  await context.forge.dequeuePull(pull);
  memory.queue.at = 0;
  memory.queue.entries = memory.queue.entries.filter((entry) => entry.pull !== pull);
}

/**
 * Reads the queue, before the PRs are read: what has left it by then shows itself as merged, or as taken out. Only where a
 * PR of ours may be in it: one that we put in, or an open one, that a person may have put in.
 */
export async function readQueue(context: RepoContext, memory: RepoMemory, run: Run, base: string): Promise<void> {
  const { queue } = memory;
  const merging = run.batches.some((batch) => batch.phase === "Merging" && batch.pull !== undefined);
  const open = merging || run.batches.some((batch) => batch.phase === "Open" && batch.pull !== undefined);
  if (!open || (!mergesByQueue(memory) && !run.batches.some((one) => one.intention?.queued !== undefined))) return;
  const now = context.clock.now();
  if (context.forge.mergeQueue === undefined || (now - queue.at < (merging ? READ_EVERY_MS : READ_OPEN_EVERY_MS) && !memory.remote.hasNews))
    return;
  queue.entries = await context.forge.mergeQueue(base);
  queue.at = now;
  for (const { pull, head } of queue.entries) if (head !== undefined) keep(queue.groups, pull, head, 200);
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
