import { GATE, type GateWords, gateWords, notOurs } from "../../../core/report/batch/gate-check.ts";
import { type Gate, gatesOf } from "../../../core/run/state/gate-state.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { Advanced, World } from "../../../core/run/state/world.ts";
import { dequeue, mergesByQueue } from "../act/queue-merge.ts";
import type { RepoContext } from "../context.ts";
import { keep, type RepoMemory } from "../memory.ts";
import { lacksPermission } from "../permissions.ts";

/** Of one state, the words follow the run this often: the check is posted once and completed once (docs/spec.md §9.19). */
const SAME_STATE_MS = 60_000;

export interface Judged {
  world: World;
  advanced: Advanced<Run>;
}

/**
 * Fences what must not be merged now, before anything else of the round is tried: its gate fails and it leaves the merge queue.
 * False where something may still be merged: nobody is told then that the run is paused.
 */
export async function fence(context: RepoContext, memory: RepoMemory, judged: Judged): Promise<boolean> {
  let fenced = true;
  for (const gate of gates(judged)) {
    if (gate.state.kind !== "fenced") continue;
    try {
      // A person may have put it in since the queue was read: it is asked for once more, the first time it is fenced.
      const first = mergesByQueue(memory) && memory.gates.get(gate.head)?.kind !== "fenced";
      if (gate.queued || first) await dequeue(context, memory, gate.pull);
      await put(context, memory, judged.advanced.run, gate, gate.head);
    } catch (error) {
      fenced = false;
      context.log.warn({ pull: gate.pull, error: String(error) }, "a pull request could not be fenced; trying again");
    }
  }
  return fenced;
}

/** The gates of the other open PRs, and of the merge groups they are in. A trouble with a check never holds a run. */
export async function putGates(context: RepoContext, memory: RepoMemory, judged: Judged): Promise<void> {
  for (const gate of gates(judged)) {
    if (gate.state.kind === "fenced") continue;
    try {
      await put(context, memory, judged.advanced.run, gate, gate.head);
    } catch (error) {
      context.log.warn({ pull: gate.pull, error: String(error) }, "the gate of a pull request could not be reported");
    }
  }
  await putGroups(context, memory, judged);
}

function gates({ world, advanced }: Judged): Gate[] {
  return gatesOf(advanced.run, world, advanced);
}

/** On a merge group the gate is judged again, for the group's commit (docs/spec.md §9.13). */
async function putGroups(context: RepoContext, memory: RepoMemory, judged: Judged): Promise<void> {
  const ours = new Map(gates(judged).map((gate) => [gate.pull, gate]));
  for (const { pull, head } of memory.queue.entries) {
    if (head === undefined) continue;
    const gate = ours.get(pull);
    try {
      if (gate !== undefined) await put(context, memory, judged.advanced.run, gate, head);
      else if (![...memory.pulls.values()].some((known) => known.number === pull)) await putNotOurs(context, memory, head);
    } catch (error) {
      context.log.warn({ pull, error: String(error) }, "the gate of a merge group could not be reported");
    }
  }
}

async function put(context: RepoContext, memory: RepoMemory, run: Run, gate: Gate, head: string): Promise<void> {
  const batch = run.batches.find((one) => one.number === gate.batch);
  if (batch === undefined) return;
  const now = context.clock.now();
  const words = gateWords(run, batch, gate.state, now);
  const last = gateSaid(memory, head);
  if (last?.kind === gate.state.kind && (gate.state.kind === "passed" || last.title === words.title || now - last.at < SAME_STATE_MS))
    return;
  await putGateCheck(context, memory, head, words, gate.state.kind);
}

/** Green on a PR or merge group that holds nothing of ours: once for each head. */
export async function putNotOurs(context: RepoContext, memory: RepoMemory, head: string): Promise<void> {
  if (gateSaid(memory, head) === undefined) await putGateCheck(context, memory, head, notOurs(), "other");
}

/** What our gate says at a commit; undefined: nothing, or it is to be said anew. */
export function gateSaid(memory: RepoMemory, head: string): { kind: string; title: string; at: number } | undefined {
  const last = memory.gates.get(head);
  const owed = last?.unsent === true && !memory.permissions.isForbidden("checks");
  return owed || memory.reruns.isAsked(head, GATE) ? undefined : last;
}

/** Says it, and notes that it was. An App without `checks: write` has no gate, and then nobody can require it. */
export async function putGateCheck(context: RepoContext, memory: RepoMemory, head: string, words: GateWords, kind: string): Promise<void> {
  await sendGateCheck(context, memory, head, words);
  const unsent = memory.permissions.isForbidden("checks");
  keep(memory.gates, head, { kind, title: words.title, at: context.clock.now(), ...(unsent ? { unsent } : {}) });
}

async function sendGateCheck(context: RepoContext, memory: RepoMemory, head: string, words: GateWords): Promise<void> {
  if (memory.permissions.isForbidden("checks")) return;
  try {
    await memory.reruns.send(head, GATE, (afresh) => context.forge.putCheck({ name: GATE, head, ...words, ...(afresh ? { afresh } : {}) }));
  } catch (error) {
    if (!lacksPermission(error)) throw error;
    memory.permissions.forbid("checks", error);
  }
}
