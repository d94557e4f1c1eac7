import { rolloutsComment, rolloutsSign } from "../../../core/report/rollouts.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import { keep, type RepoMemory } from "../memory.ts";
import { slowness } from "./pace.ts";
import { send } from "./send-comment.ts";

/** One batch's comment is edited this often at most, however fast its Rollouts move. */
const EDIT_MS = 15_000;

interface Shown {
  sign: string;
  at: number;
}

const memories = new WeakMap<RepoMemory, Map<string, Shown>>();

/**
 * Brings the comment with the Argo Rollouts on the PRs of batches under way up to date: made once there are any, edited when one of
 * them goes on, and a last time when nothing is under way any more. Gives the time (epoch milliseconds) an edit that waits is due.
 */
export function publishRollouts(context: RepoContext, memory: RepoMemory, run: Run): number | undefined {
  const shown = memories.get(memory) ?? new Map<string, Shown>();
  memories.set(memory, shown);
  let due: number | undefined;
  for (const batch of run.batches) {
    const at = publishOne(context, memory, shown, run, batch);
    if (at !== undefined && (due === undefined || at < due)) due = at;
  }
  return due;
}

function publishOne(context: RepoContext, memory: RepoMemory, shown: Map<string, Shown>, run: Run, batch: Batch): number | undefined {
  if (batch.pull === undefined || batch.merged === undefined) return undefined;
  const key = `rollouts ${run.rollout}/${run.number}/${batch.number}`;
  const before = shown.get(key);
  const sign = rolloutsSign(batch);
  if (sign === (before?.sign ?? "")) return undefined;
  const now = context.clock.now();
  // While GitHub's limit is near only its last word is worth an edit.
  if (slowness(context) !== undefined && sign !== "") return undefined;
  if (before !== undefined && now - before.at < EDIT_MS) return before.at + EDIT_MS;
  keep(shown, key, { sign, at: now });
  const comment = { key, pull: batch.pull.number, marker: `stagecoach:rollouts:${run.rollout}/${run.number}/${batch.number}` };
  send(context, memory, { ...comment, body: rolloutsComment(run, batch, now) }, () => void shown.delete(key));
  return undefined;
}
