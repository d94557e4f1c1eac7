import { BoundedMap } from "../../../core/base/bounded.ts";
import { rolloutsComment } from "../../../core/report/rollouts.ts";
import { rolloutsSign } from "../../../core/report/rollouts-sign.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import { slowness } from "./pace.ts";
import type { Comments } from "./send-comment.ts";

/** One batch's comment is edited this often at most, however fast its Rollouts move. */
const EDIT_MS = 15_000;

/**
 * Brings the comment with the Argo Rollouts on the PRs of batches under way up to date: made once there are any, edited when one of
 * them goes on, and a last time when nothing is under way any more. Gives the time (epoch milliseconds) an edit that waits is due.
 */
export type PublishRollouts = (run: Run) => number | undefined;

const MOST_KEPT = 1000;

export function openRolloutComments({ forge, clock }: Pick<RepoContext, "forge" | "clock">, comments: Comments): PublishRollouts {
  const shown = new BoundedMap<string, { sign: string; at: number }>(MOST_KEPT);

  function publishOne(run: Run, batch: Batch): number | undefined {
    if (batch.pull === undefined || batch.merged === undefined) return undefined;
    const key = `rollouts ${run.rollout}/${run.number}/${batch.number}`;
    const before = shown.get(key);
    const sign = rolloutsSign(batch);
    if (sign === (before?.sign ?? "")) return undefined;
    const now = clock.now();
    // While GitHub's limit is near only its last word is worth an edit.
    if (slowness({ forge, clock }) !== undefined && sign !== "") return undefined;
    if (before !== undefined && now - before.at < EDIT_MS) return before.at + EDIT_MS;
    shown.set(key, { sign, at: now });
    const comment = { key, pull: batch.pull.number, marker: `stagecoach:rollouts:${run.rollout}/${run.number}/${batch.number}` };
    comments.send({ ...comment, body: rolloutsComment(run, batch, now) }, { failed: () => void shown.delete(key) });
    return undefined;
  }

  return (run) => {
    const due = run.batches.flatMap((batch) => publishOne(run, batch) ?? []);
    return due.length === 0 ? undefined : Math.min(...due);
  };
}
