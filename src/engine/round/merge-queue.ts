/**
 * The merge queue of the base branch: what stands in it as last read, and putting batches' PRs in and taking them out.
 *
 * Nothing is concluded from a queue that is not known.
 */
import type { Forge, MergeOutcome, QueueEntry } from "../../adapters/forge/port.ts";
import { BoundedMap, BoundedSet } from "../../core/base/bounded.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { ObservedPull } from "../../core/run/state/world.ts";
import type { RemoteHeads } from "../config-repo/remote-heads.ts";
import type { BatchPulls } from "./batch-pulls.ts";
import type { Rules } from "./branch-rules.ts";
import type { RepoContext } from "./context.ts";

/** The queue is read at most this often while a PR of ours is in it. */
const READ_EVERY_MS = 5_000;
/** And this often while one is open that a person may have put in. */
const READ_OPEN_EVERY_MS = 30_000;
const MOST_KEPT = 200;

type Context = Pick<RepoContext, "forge" | "clock" | "log">;

export class MergeQueue {
  readonly #context: Context;
  readonly #rules: Rules;
  readonly #pulls: BatchPulls;
  readonly #remote: RemoteHeads;
  #isOnly = false;
  /** When it was read; 0: it says nothing about now. */
  #readAt = 0;
  #entries: readonly QueueEntry[] = [];
  /** `branch@head` put in by this process. */
  readonly #mine = new BoundedSet<string>(MOST_KEPT);
  /** PR → the last commit its merge group was seen at. */
  readonly #groups = new BoundedMap<number, string>(MOST_KEPT);

  constructor(context: Context, rules: Rules, pulls: BatchPulls, remote: RemoteHeads) {
    this.#context = context;
    this.#rules = rules;
    this.#pulls = pulls;
    this.#remote = remote;
  }

  /** As last read. */
  get entries(): readonly QueueEntry[] {
    return this.#entries;
  }

  /** Says whether the base branch is known to merge through its queue. */
  isWanted(): boolean {
    return this.#isOnly || this.#rules.last?.mergeQueue === true;
  }

  /** A merge group may be there, or gone. */
  expire(): void {
    this.#readAt = 0;
  }

  /**
   * Reads the queue, before the PRs are read: what has left it by then shows itself as merged, or as taken out. Only where a PR of
   * ours may be in it: one that we put in, or an open one, that a person may have put in.
   */
  async read(run: Run, base: string): Promise<void> {
    const { forge, clock, log } = this.#context;
    const merging = run.batches.some((batch) => batch.phase === "Merging" && batch.pull !== undefined);
    const open = merging || run.batches.some((batch) => batch.phase === "Open" && batch.pull !== undefined);
    if (!open || (!this.isWanted() && !run.batches.some((one) => one.intention?.queued !== undefined))) return;
    const now = clock.now();
    const isYoung = now - this.#readAt < (merging ? READ_EVERY_MS : READ_OPEN_EVERY_MS);
    if (forge.mergeQueue === undefined || (isYoung && !this.#remote.hasNews)) return;
    try {
      this.#entries = await forge.mergeQueue(base);
      this.#readAt = now;
      for (const { pull, head } of this.#entries) if (head !== undefined) this.#groups.set(pull, head);
    } catch (error) {
      this.#readAt = 0;
      log.warn({ rollout: run.rollout, error: String(error) }, "the merge queue could not be read");
    }
  }

  /** Merges, or asks for a place in the merge queue where the base branch merges through its queue only. */
  async merge(branch: string, call: Parameters<Forge["mergePull"]>[0]): Promise<MergeOutcome> {
    const { forge } = this.#context;
    if (!this.isWanted()) {
      const merged = await forge.mergePull(call);
      if (merged.kind !== "queueOnly") return merged;
      this.#isOnly = true;
    }
    const outcome = await forge.enqueuePull(call.number, call.head, call.base);
    if (outcome.kind === "queued") {
      this.#mine.add(`${branch}@${call.head}`);
      this.#readAt = 0;
    }
    return outcome;
  }

  /** Takes a PR out of the queue. Throws where it may still be in it. */
  async dequeue(pull: number): Promise<void> {
    await this.#context.forge.dequeuePull(pull);
    this.#readAt = 0;
    this.#entries = this.#entries.filter((entry) => entry.pull !== pull);
  }

  /** Where a batch's PR stands in the queue as last read: undefined where that says nothing about now. */
  placeOf({ branch, intention }: Batch, pull: number, head: string): ObservedPull["queue"] {
    const entry = this.#entries.find((one) => one.pull === pull);
    if (entry !== undefined) return { state: entry.state, position: entry.position };
    if (intention === undefined) return undefined;
    // Not seen since it was put in: taken for queued until the queue is read.
    if (this.#context.forge.mergeQueue === undefined || this.#readAt === 0)
      return this.#mine.has(`${branch}@${head}`) ? { state: "QUEUED", position: 0 } : undefined;
    return intention.queued === undefined ? undefined : null;
  }

  /** Keeps why GitHub took a PR out, as far as its merge group's checks tell, as the answer to the intention. */
  async learnWhyLeft({ branch, intention }: Batch, pull: number, head: string): Promise<void> {
    const group = this.#groups.get(pull);
    if (group === undefined || intention === undefined) return;
    this.#groups.delete(pull);
    const checks = await this.#context.forge.checksOf(group).catch(() => []);
    const failed = checks.flatMap(({ name, state }) => (state === "failure" ? [name.slice(0, 100)] : [])).slice(0, 5);
    if (failed.length > 0)
      this.#pulls.refuse(branch, head, { kind: "Retry", message: "", failed: { checks: failed, head: group }, to: intention.at });
  }
}
