import { BoundedSet } from "../../../core/base/bounded.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import type { Comments } from "../publish/send-comment.ts";

/** Deletes the branches of merged batches once their run is over, all of a run in one push: nobody needs them, and they are many. */
export type SweepBranches = (runs: Iterable<Run>) => void;

const MOST_KEPT = 1000;
/** A run that is over for longer was swept then, or by whoever keeps its branches on purpose. */
const RECENT_MS = 24 * 3_600_000;

type Context = Pick<RepoContext, "mirror" | "clock" | "log" | "repository">;

export function openBranchSweeper({ mirror, clock, log, repository }: Context, comments: Pick<Comments, "follow">): SweepBranches {
  const swept = new BoundedSet<string>(MOST_KEPT);

  async function sweep({ rollout, number, batches }: Run): Promise<void> {
    const folder = `refs/heads/stagecoach-run/${rollout}/${number}/`;
    const merged = new Set(batches.filter((batch) => batch.merged !== undefined).map(({ branch }) => `refs/heads/${branch}`));
    const there = [...(await mirror.remoteBelow([folder]))].filter(([ref]) => merged.has(ref));
    if (there.length === 0) return;
    await mirror.push(there.map(([ref, old]) => ({ ref, old, new: undefined })));
    log.info({ repository, rollout, run: number, branches: there.length }, "branches of merged batches were deleted");
  }

  return (runs) => {
    for (const run of runs) {
      const key = `${run.rollout} #${run.number}`;
      const isOver = isEnded(run) && run.endedAt !== undefined && clock.now() - Date.parse(run.endedAt) < RECENT_MS;
      if (!isOver || swept.has(key) || run.batches.every(({ merged }) => merged === undefined)) continue;
      swept.add(key);
      comments.follow(0, async () => {
        // GitHub deletes them by itself where it is told to, and a rule may keep them: neither is worth another try.
        await sweep(run).catch((error: unknown) =>
          log.warn({ repository, rollout: run.rollout, error: String(error) }, "branches of merged batches are left"),
        );
      });
    }
  };
}
