/**
 * The gate of every open PR of a run, and of the merge groups they are in, follows what the run decided.
 *
 * Called by a round after it has recorded: first what must not be merged is locked, then the others are told.
 */
import { BoundedSet } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import { epoch } from "../../../core/base/time.ts";
import { GATE, gateWords, isStale } from "../../../core/report/batch/gate-check.ts";
import { applicationLinks } from "../../../core/report/links.ts";
import type { GivenToDraw } from "../../../core/report/model/context.ts";
import { type Gate, gatesOf } from "../../../core/run/gates/gate-state.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Advanced, World } from "../../../core/run/state/world.ts";
import type { BatchPulls } from "../batch-pulls.ts";
import type { RepoContext } from "../context.ts";
import type { MergeQueue } from "../merge-queue.ts";
import type { GateChecks } from "./gate-checks.ts";

/** Of one state, the words follow the run this often: the check is posted once and completed once (docs/spec.md §9.19). */
const SAME_STATE_MS = 60_000;
const MOST_KEPT = 1000;

interface Judged {
  before: Run;
  world: World;
  advanced: Advanced<Run>;
}

type Context = Pick<RepoContext, "clock" | "log" | "forge" | "planes" | "page">;

export class Gates {
  readonly #context: Context;
  readonly #checks: GateChecks;
  readonly #queue: MergeQueue;
  readonly #pulls: BatchPulls;
  readonly #given: GivenToDraw;
  /** Heads of merged PRs whose gate is known to have ended. */
  readonly #over = new BoundedSet<string>(MOST_KEPT);
  /** Of those whose gate has yet to end. */
  readonly #owed = new BoundedSet<string>(MOST_KEPT);

  constructor(context: Context, checks: GateChecks, queue: MergeQueue, pulls: BatchPulls) {
    this.#context = context;
    this.#checks = checks;
    this.#queue = queue;
    this.#pulls = pulls;
    this.#given = defined({ linkTo: applicationLinks((plane) => context.planes.get(plane)?.uiUrl), page: context.page });
  }

  /**
   * Locks what must not be merged now, before anything else of the round is tried: its gate fails and it leaves the merge queue.
   * False where something may still be merged: nobody is told then that the run is paused.
   */
  async lock(judged: Judged): Promise<boolean> {
    let locked = true;
    for (const gate of gatesIn(judged)) {
      if (gate.state.kind !== "fenced") continue;
      const isLocked = await this.#tried(gate.pull, "a pull request could not be locked; trying again", async () => {
        // A person may have put it in since the queue was read: it is asked for once more, the first time it is locked.
        const isFirst = this.#queue.isWanted() && this.#checks.last(gate.head)?.kind !== "fenced";
        if (gate.queued || isFirst) await this.#queue.dequeue(gate.pull);
        await this.#putOne(judged.advanced.run, gate, gate.head);
      });
      locked &&= isLocked;
    }
    return locked;
  }

  /**
   * Puts the gates of the other open PRs, and of the merge groups they are in; and has those of merged ones say so, whoever merged them,
   * and though the process was killed right after. A trouble with a check never holds a run.
   */
  async put(judged: Judged): Promise<void> {
    const { run } = judged.advanced;
    const gates = gatesIn(judged);
    for (const gate of gates) {
      if (gate.state.kind === "fenced" || isUnasked(judged, gate)) continue;
      await this.#tried(gate.pull, "the gate of a pull request could not be reported", () => this.#putOne(run, gate, gate.head));
    }
    const lately = settledLast(run);
    for (const { batch, pull, head } of mergedIn(run)) {
      const wasSettled = judged.before.batches[batch.number - 1]?.phase === "Settled";
      // Those that settled last may have done so in the very round in which an earlier process was killed.
      if (this.#over.has(head) || (wasSettled && !this.#owed.has(head) && epoch(batch.settledAt ?? "") !== lately)) continue;
      this.#owed.add(head);
      await this.#tried(pull, "the gate of a merged pull request could not be ended", () => this.#endLeftOpen(run, batch, head));
    }
    // On a merge group the gate is judged again, for the group's commit (docs/spec.md §9.13).
    for (const { pull, head } of this.#queue.entries) {
      if (head === undefined) continue;
      const gate = gates.find((one) => one.pull === pull);
      await this.#tried(pull, "the gate of a merge group could not be reported", async () => {
        if (gate !== undefined) await this.#putOne(run, gate, head);
        else if (this.#pulls.byNumber(pull) === undefined) await this.#checks.putNotOurs(head);
      });
    }
  }

  /** True: it was tried without trouble. */
  async #tried(pull: number, trouble: string, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#context.log.warn({ pull, error: String(error) }, trouble);
      return false;
    }
  }

  async #putOne(run: Run, gate: Gate, head: string): Promise<void> {
    const batch = run.batches.find((one) => one.number === gate.batch);
    if (batch === undefined) return;
    const now = this.#context.clock.now();
    const last = this.#checks.reported(head);
    const { kind } = gate.state;
    const isSame = last?.kind === kind;
    if (isSame && (kind === "passed" || now - last.at < SAME_STATE_MS)) return;
    const words = gateWords(run, batch, gate.state, now, this.#given);
    if (isSame && !isStale(last, words)) return;
    await this.#checks.put(head, words, kind);
  }

  async #endLeftOpen(run: Run, batch: Batch, head: string): Promise<void> {
    const gate = { kind: "merged", why: batch.why, next: batch.next } as const;
    const words = gateWords(run, batch, gate, this.#context.clock.now(), this.#given);
    const last = this.#checks.last(head);
    const isToldYet = last?.kind === "merged" || (last === undefined && !(await saysOther(this.#context.forge, head, words.title)));
    if (!isToldYet) await this.#checks.put(head, words, "merged");
    this.#over.add(head);
  }
}

/** Whether an earlier process left it saying what was before the merge. */
async function saysOther(forge: Context["forge"], head: string, title: string): Promise<boolean> {
  return (await forge.checksOf(head)).some((one) => one.name === GATE && (one.state === "pending" || one.title !== title));
}

/** Before its turn a check that nobody requires would say what the PR itself says. A required one that is not there yet holds it as well. */
function isUnasked({ world, advanced }: Judged, { batch, state }: Gate): boolean {
  const isAhead = advanced.run.batches[batch - 1]?.ahead === true;
  return isAhead && state.kind === "waiting" && world.pulls.get(batch)?.gate === undefined;
}

function mergedIn(run: Run): { batch: Batch; pull: number; head: string }[] {
  return run.batches.flatMap((batch) => {
    const isOver = batch.merged === undefined || batch.phase === "Closed";
    return isOver || batch.pull === undefined || batch.pull.number === 0 ? [] : [{ batch, pull: batch.pull.number, head: batch.pull.head }];
  });
}

/** When the run's last event was that batches settled: that time. Past another merge a process has been there that ended their gates. */
function settledLast({ batches }: Run): number {
  const settled = batches.map(({ settledAt }) => epoch(settledAt ?? ""));
  const last = Math.max(...settled.filter(Number.isFinite));
  return batches.some(({ settledAt, merged }) => epoch(settledAt ?? "") !== last && epoch(merged?.at ?? "") >= last) ? Number.NaN : last;
}

function gatesIn({ world, advanced }: Judged): Gate[] {
  return gatesOf(advanced.run, world, advanced);
}
