import { BoundedMap } from "../../../core/base/bounded.ts";
import { rolloutsComment, rolloutsSign } from "../../../core/report/rollouts.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import { slowness } from "./pace.ts";
import type { Comments } from "./send-comment.ts";

/** One batch's comment is edited this often at most, however fast its Rollouts move. */
const EDIT_MS = 15_000;

interface Shown {
  sign: string;
  at: number;
}

/**
 * Brings the comment with the Argo Rollouts on the PRs of batches under way up to date: made once there are any, edited when one of
 * them goes on, and a last time when nothing is under way any more. Gives the time (epoch milliseconds) an edit that waits is due.
 */
export type PublishRollouts = (run: Run) => number | undefined;

const MOST_KEPT = 1000;

export function openRolloutComments(context: RepoContext, comments: Comments): PublishRollouts {
  const shown = new BoundedMap<string, Shown>(MOST_KEPT);
  return (run) => publishRollouts(context, comments, shown, run);
}

function publishRollouts(context: RepoContext, comments: Comments, shown: Map<string, Shown>, run: Run): number | undefined {
  let due: number | undefined;
  for (const batch of run.batches) {
    const at = publishOne(context, comments, shown, run, batch);
    if (at !== undefined && (due === undefined || at < due)) due = at;
  }
  return due;
}

function publishOne(context: RepoContext, comments: Comments, shown: Map<string, Shown>, run: Run, batch: Batch): number | undefined {
  if (batch.pull === undefined || batch.merged === undefined) return undefined;
  const key = `rollouts ${run.rollout}/${run.number}/${batch.number}`;
  const before = shown.get(key);
  const sign = rolloutsSign(batch);
  if (sign === (before?.sign ?? "")) return undefined;
  const now = context.clock.now();
  // While GitHub's limit is near only its last word is worth an edit.
  if (slowness(context) !== undefined && sign !== "") return undefined;
  if (before !== undefined && now - before.at < EDIT_MS) return before.at + EDIT_MS;
  shown.set(key, { sign, at: now });
  const comment = { key, pull: batch.pull.number, marker: `stagecoach:rollouts:${run.rollout}/${run.number}/${batch.number}` };
  comments.send({ ...comment, body: rolloutsComment(run, batch, now) }, () => void shown.delete(key));
  return undefined;
}
