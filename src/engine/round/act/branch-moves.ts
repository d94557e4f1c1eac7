import { GitError } from "../../../adapters/git/port.ts";
import { refOf } from "../../../core/base/ref-name.ts";
import type { Edit } from "../../../core/plan/plan-types.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Commits } from "../../config-repo/commits.ts";
import type { BatchPulls } from "../batch-pulls.ts";
import type { RepoContext } from "../context.ts";
import { branchHeads } from "../observe/branch-heads.ts";

/** One environment branch or tag of a batch, and where it stands to the release commit. */
export interface BranchMove {
  branch: string;
  /** The release commit. */
  to: string;
  /** undefined: the branch is not there. */
  head: string | undefined;
  /**
   * behind: a fast-forward brings it there, or it is where it may be moved from by force. past: it contains the release commit and more. apart: it has commits that the
   * release does not. unknown: the mirror does not have its head yet.
   */
  stands: "there" | "behind" | "past" | "apart" | "gone" | "unknown";
}

/** The batches of such a run have no PR: they move branches. */
export function movesBranches(run: Pick<Run, "spec">): boolean {
  return run.spec.delivery.strategy === "Commit";
}

interface Targets {
  targets: readonly { edits: readonly Edit[] }[];
}

interface Followed {
  branch: string;
  to: string;
  /** It may be moved from here alone, in whatever direction. */
  onlyFrom?: string | undefined;
}

/** Branches and tags that targets follow, each once. */
export function branchesOf(batch: Targets): Followed[] {
  const branches = new Map<string, Followed>();
  for (const { edits } of batch.targets)
    for (const { kind, path: branch, from, to, forced } of edits)
      if (kind === "branch") branches.set(branch, { branch, to, onlyFrom: forced === true ? (from ?? undefined) : undefined });
  return [...branches.values()];
}

export async function movesOf(commits: Commits, batch: Targets, heads: ReadonlyMap<string, string | undefined>): Promise<BranchMove[]> {
  const moves: BranchMove[] = [];
  for (const followed of branchesOf(batch)) {
    const { branch, to } = followed;
    const head = heads.get(branch);
    moves.push({ branch, to, head, stands: await standing(commits, head, followed) });
  }
  return moves;
}

async function standing(commits: Commits, head: string | undefined, { to, onlyFrom }: Followed): Promise<BranchMove["stands"]> {
  if (head === undefined) return "gone";
  if (head === to) return "there";
  if (onlyFrom !== undefined && (await commits.contains(to, onlyFrom)) !== true) {
    if (head === onlyFrom) return "behind";
    // On top of where it was: ours has not moved it.
    if ((await commits.contains(head, onlyFrom)) !== false) return "apart";
  }
  const behind = await commits.contains(to, head);
  if (behind === undefined) return "unknown";
  if (behind) return "behind";
  return (await commits.contains(head, to)) === true ? "past" : "apart";
}

/**
 * Moves every branch and tag of the batch to the release commit, in one push that is refused as a whole unless each is still
 * where it was when it was judged. Nothing is returned: where the branches are is looked at in the next round.
 */
export type MoveBranches = (batch: Batch, release: string) => Promise<void>;

export function openBranchMover({ mirror, log }: Pick<RepoContext, "mirror" | "log">, commits: Commits, pulls: BatchPulls): MoveBranches {
  return async (batch, release) => {
    const branches = branchesOf(batch).map(({ branch }) => branch);
    const moves = await movesOf(commits, batch, await branchHeads(mirror, branches));
    const hindered = moves.find(({ stands }) => stands !== "there" && stands !== "behind");
    if (hindered !== undefined) {
      log.info({ branch: hindered.branch, head: hindered.head, stands: hindered.stands }, "a branch cannot be fast-forwarded");
      return;
    }
    const updates = moves
      .filter(({ stands }) => stands === "behind")
      .map(({ branch, head, to }) => ({ ref: refOf(branch), old: head, new: to }));
    try {
      const outcome = await mirror.push(updates);
      if (outcome === "ok") pulls.refuse(batch.branch, release, undefined);
      else log.info({ batch: batch.number }, "a branch moved at the same moment; nothing was pushed");
    } catch (error) {
      // A rule or a hook of the remote, in its own words: only a person can change that.
      if (!(error instanceof GitError) || error.kind !== "Invalid") throw error;
      pulls.refuse(batch.branch, release, { kind: "Human", message: error.message });
    }
  };
}
