/**
 * The merge queue of the base branch: what stands in it as last read, and putting batches' PRs in and taking them out.
 *
 * Nothing is concluded from a queue that is not known.
 */
import type { MergeOutcome, QueueEntry } from "../../adapters/forge/port.ts";
import { BoundedMap, BoundedSet } from "../../core/base/bounded.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { ObservedPull } from "../../core/run/state/world.ts";
import type { RemoteHeads } from "../config-repo/remote-heads.ts";
import type { BatchPulls } from "./batch-pulls.ts";
import type { Rules } from "./branch-rules.ts";
import type { RepoContext } from "./context.ts";

export interface MergeCall {
  number: number;
  head: string;
  method: "squash" | "merge" | "rebase";
  title: string;
  message: string;
}

export interface MergeQueue {
  /** As last read. */
  readonly entries: readonly QueueEntry[];
  /** Says whether the base branch is known to merge through its queue. */
  isWanted(): boolean;
  /** A merge group may be there, or gone. */
  expire(): void;
  /**
   * Reads the queue, before the PRs are read: what has left it by then shows itself as merged, or as taken out. Only where a PR of
   * ours may be in it: one that we put in, or an open one, that a person may have put in.
   */
  read(run: Run, base: string): Promise<void>;
  /** Merges, or asks for a place in the merge queue where the base branch merges through its queue only. */
  merge(branch: string, call: MergeCall): Promise<MergeOutcome>;
  /** Takes a PR out of the queue. Throws where it may still be in it. */
  dequeue(pull: number): Promise<void>;
  /** Where a batch's PR stands in the queue as last read: undefined where that says nothing about now. */
  placeOf(batch: Batch, pull: number, head: string): ObservedPull["queue"];
  /** Keeps why GitHub took a PR out, as far as its merge group's checks tell, as the answer to the intention. */
  learnWhyLeft(batch: Batch, pull: number, head: string): Promise<void>;
}

/** The queue is read at most this often while a PR of ours is in it. */
const READ_EVERY_MS = 5_000;
/** And this often while one is open that a person may have put in. */
const READ_OPEN_EVERY_MS = 30_000;
const MOST_KEPT = 200;

interface Parts {
  context: RepoContext;
  rules: Rules;
  pulls: BatchPulls;
  remote: RemoteHeads;
}

interface State {
  isOnly: boolean;
  /** When it was read; 0: it says nothing about now. */
  at: number;
  entries: readonly QueueEntry[];
  /** `branch@head` put in by this process. */
  mine: Set<string>;
  /** PR → the last commit its merge group was seen at. */
  groups: Map<number, string>;
}

export function openMergeQueue(parts: Parts): MergeQueue {
  const state: State = { isOnly: false, at: 0, entries: [], mine: new BoundedSet(MOST_KEPT), groups: new BoundedMap(MOST_KEPT) };
  const { context } = parts;
  return {
    get entries() {
      return state.entries;
    },
    isWanted: () => isWanted(parts, state),
    expire() {
      state.at = 0;
    },
    read: (run, base) => read(parts, state, run, base),
    merge: (branch, call) => merge(parts, state, branch, call),
    async dequeue(pull) {
      await context.forge.dequeuePull(pull);
      state.at = 0;
      state.entries = state.entries.filter((entry) => entry.pull !== pull);
    },
    placeOf: (batch, pull, head) => placeOf(context, state, batch, pull, head),
    learnWhyLeft: (batch, pull, head) => learnWhyLeft(parts, state, batch, pull, head),
  };
}

function isWanted({ rules }: Parts, { isOnly }: State): boolean {
  return isOnly || rules.last?.mergeQueue === true;
}

async function merge(parts: Parts, state: State, branch: string, call: MergeCall): Promise<MergeOutcome> {
  const { forge } = parts.context;
  if (!isWanted(parts, state)) {
    const outcome = await forge.mergePull(call);
    if (outcome.kind !== "queueOnly") return outcome;
    state.isOnly = true;
  }
  const outcome = await forge.enqueuePull(call.number, call.head);
  if (outcome.kind !== "queued") return outcome;
  state.mine.add(`${branch}@${call.head}`);
  state.at = 0;
  return outcome;
}

async function learnWhyLeft({ context, pulls }: Parts, { groups }: State, batch: Batch, pull: number, head: string): Promise<void> {
  const group = groups.get(pull);
  if (group === undefined || batch.intention === undefined) return;
  groups.delete(pull);
  const checks = await context.forge.checksOf(group).catch(() => []);
  const failed = checks.filter((check) => check.state === "failure").map((check) => `"${check.name.slice(0, 100)}"`);
  if (failed.length === 0) return;
  const message = `${failed.slice(0, 5).join(", ")} failed on its merge group ${group.slice(0, 10)}`;
  pulls.refuse(batch.branch, head, { kind: "Retry", message, to: batch.intention.at });
}

async function read(parts: Parts, state: State, run: Run, base: string): Promise<void> {
  const { context, remote } = parts;
  const merging = run.batches.some((batch) => batch.phase === "Merging" && batch.pull !== undefined);
  const open = merging || run.batches.some((batch) => batch.phase === "Open" && batch.pull !== undefined);
  if (!open || (!isWanted(parts, state) && !run.batches.some((one) => one.intention?.queued !== undefined))) return;
  const now = context.clock.now();
  const isYoung = now - state.at < (merging ? READ_EVERY_MS : READ_OPEN_EVERY_MS);
  if (context.forge.mergeQueue === undefined || (isYoung && !remote.hasNews)) return;
  try {
    state.entries = await context.forge.mergeQueue(base);
    state.at = now;
    for (const { pull, head } of state.entries) if (head !== undefined) state.groups.set(pull, head);
  } catch (error) {
    state.at = 0;
    context.log.warn({ rollout: run.rollout, error: String(error) }, "the merge queue could not be read");
  }
}

function placeOf(context: RepoContext, state: State, batch: Batch, pull: number, head: string): ObservedPull["queue"] {
  const entry = state.entries.find((one) => one.pull === pull);
  if (entry !== undefined) return { state: entry.state, position: entry.position };
  if (batch.intention === undefined) return undefined;
  // Not seen since it was put in: taken for queued until the queue is read.
  if (context.forge.mergeQueue === undefined || state.at === 0)
    return state.mine.has(`${batch.branch}@${head}`) ? { state: "QUEUED", position: 0 } : undefined;
  return batch.intention.queued === undefined ? undefined : null;
}
