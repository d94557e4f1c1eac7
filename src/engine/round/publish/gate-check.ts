/**
 * The gate of every open PR of a run, and of the merge groups they are in, follows what the run decided.
 *
 * Called by a round after it has recorded: first what must not be merged is locked, then the others are told.
 */
import { gateWords } from "../../../core/report/batch/gate-check.ts";
import { type Gate, gatesOf } from "../../../core/run/state/gate-state.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { Advanced, World } from "../../../core/run/state/world.ts";
import type { BatchPulls } from "../batch-pulls.ts";
import type { RepoContext } from "../context.ts";
import type { MergeQueue } from "../merge-queue.ts";
import type { GateChecks } from "./gate-checks.ts";

/** Of one state, the words follow the run this often: the check is posted once and completed once (docs/spec.md §9.19). */
const SAME_STATE_MS = 60_000;

export interface Judged {
  world: World;
  advanced: Advanced<Run>;
}

/** What gates are put with. */
export interface GateParts {
  context: RepoContext;
  checks: GateChecks;
  queue: MergeQueue;
  pulls: BatchPulls;
}

/**
 * Locks what must not be merged now, before anything else of the round is tried: its gate fails and it leaves the merge queue.
 * False where something may still be merged: nobody is told then that the run is paused.
 */
export async function lock(parts: GateParts, judged: Judged): Promise<boolean> {
  let locked = true;
  for (const gate of gates(judged)) {
    if (gate.state.kind !== "fenced") continue;
    try {
      // A person may have put it in since the queue was read: it is asked for once more, the first time it is locked.
      const first = parts.queue.isWanted() && parts.checks.last(gate.head)?.kind !== "fenced";
      if (gate.queued || first) await parts.queue.dequeue(gate.pull);
      await put(parts, judged.advanced.run, gate, gate.head);
    } catch (error) {
      locked = false;
      parts.context.log.warn({ pull: gate.pull, error: String(error) }, "a pull request could not be locked; trying again");
    }
  }
  return locked;
}

/** The gates of the other open PRs, and of the merge groups they are in. A trouble with a check never holds a run. */
export async function putGates(parts: GateParts, judged: Judged): Promise<void> {
  for (const gate of gates(judged)) {
    if (gate.state.kind === "fenced") continue;
    try {
      await put(parts, judged.advanced.run, gate, gate.head);
    } catch (error) {
      parts.context.log.warn({ pull: gate.pull, error: String(error) }, "the gate of a pull request could not be reported");
    }
  }
  await putGroups(parts, judged);
}

function gates({ world, advanced }: Judged): Gate[] {
  return gatesOf(advanced.run, world, advanced);
}

/** On a merge group the gate is judged again, for the group's commit (docs/spec.md §9.13). */
async function putGroups(parts: GateParts, judged: Judged): Promise<void> {
  const ours = new Map(gates(judged).map((gate) => [gate.pull, gate]));
  for (const { pull, head } of parts.queue.entries) {
    if (head === undefined) continue;
    const gate = ours.get(pull);
    try {
      if (gate !== undefined) await put(parts, judged.advanced.run, gate, head);
      else if (parts.pulls.byNumber(pull) === undefined) await parts.checks.putNotOurs(head);
    } catch (error) {
      parts.context.log.warn({ pull, error: String(error) }, "the gate of a merge group could not be reported");
    }
  }
}

async function put({ context, checks }: GateParts, run: Run, gate: Gate, head: string): Promise<void> {
  const batch = run.batches.find((one) => one.number === gate.batch);
  if (batch === undefined) return;
  const now = context.clock.now();
  const words = gateWords(run, batch, gate.state, now);
  const last = checks.reported(head);
  if (last?.kind === gate.state.kind && (gate.state.kind === "passed" || last.title === words.title || now - last.at < SAME_STATE_MS))
    return;
  await checks.put(head, words, gate.state.kind);
}
