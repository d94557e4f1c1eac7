import { GitError } from "../../../adapters/git/port.ts";
import type { Batch } from "../../../core/run/state/run.ts";
import type { Commits } from "../../config-repo/commits.ts";
import type { BatchPulls } from "../batch-pulls.ts";
import type { RepoContext } from "../context.ts";
import { branchHeads } from "../observe/branch-heads.ts";
import { branchesOf, movesOf } from "./branch-moves.ts";

/**
 * Fast-forwards every branch of the batch to the release commit, in one push that is refused as a whole unless each is still
 * where it was when it was judged. Nothing is returned: where the branches are is looked at in the next round.
 */
export async function moveBranches(
  context: RepoContext,
  commits: Commits,
  pulls: BatchPulls,
  batch: Batch,
  release: string,
): Promise<void> {
  const heads = await branchHeads(
    context,
    branchesOf(batch).map(({ branch }) => branch),
  );
  const moves = await movesOf(commits, batch, heads);
  const hindered = moves.find(({ stands }) => stands !== "there" && stands !== "behind");
  if (hindered !== undefined) {
    context.log.info({ branch: hindered.branch, head: hindered.head, stands: hindered.stands }, "a branch cannot be fast-forwarded");
    return;
  }
  const updates = moves
    .filter(({ stands }) => stands === "behind")
    .map(({ branch, head, to }) => ({ ref: `refs/heads/${branch}`, old: head, new: to }));
  try {
    const outcome = await context.mirror.push(updates);
    if (outcome === "ok") pulls.refuse(batch.branch, release, undefined);
    else context.log.info({ batch: batch.number }, "a branch moved at the same moment; nothing was pushed");
  } catch (error) {
    // A rule or a hook of the remote, in its own words: only a person can change that.
    if (!(error instanceof GitError) || error.kind !== "Invalid") throw error;
    pulls.refuse(batch.branch, release, { kind: "Human", message: error.message });
  }
}
