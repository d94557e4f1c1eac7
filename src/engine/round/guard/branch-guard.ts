import type { ControlPlane } from "../../../adapters/argocd/port.ts";
import { drySourceOf } from "../../../core/argocd/decode/source.ts";
import type { ApplicationView, SourceView } from "../../../core/argocd/views.ts";
import { namesRef } from "../../../core/base/ref-name.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Guard } from "../../../core/run/state/world.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { sameRepo } from "../../config-repo/repo-url.ts";
import { planesFor } from "../../resolve/fleet.ts";
import { type BranchMove, branchesOf, movesOf } from "../act/branch-moves.ts";
import type { RepoContext } from "../context.ts";
import type { BranchHeads } from "../observe/branch-heads.ts";
import type { GuardProblem } from "./edits.ts";
import type { GuardedAt } from "./generate-renders.ts";
import type { GuardBatch } from "./guard.ts";

/**
 * docs/spec.md §9.4 and §9.5 for a batch that moves branches. The ApplicationSet must be Git's and render without those branches, so
 * that moving them adds and removes no Application; only the batch's Applications may follow them; and each move must be a
 * fast-forward.
 */
export type GuardMove = (run: Run, batch: Batch, at: Omit<GuardedAt, "head">) => Promise<Guard>;

export function openMoveGuard(
  { mirror, planes, repoURL }: Pick<RepoContext, "mirror" | "planes" | "repoURL">,
  commits: Commits,
  headsOf: BranchHeads,
  guardBatch: GuardBatch,
): GuardMove {
  async function notForward(moves: readonly BranchMove[]): Promise<GuardProblem | undefined> {
    for (const { branch, to: commit, head = "", stands } of moves) {
      if (stands === "gone") return { why: engineReason("BRANCH_GONE", { branch }), retry: false };
      if (stands === "unknown") return { why: engineReason("BRANCH_UNFETCHED", { branch, head }), retry: true };
      if (stands === "past") return { why: engineReason("BRANCH_PAST", { branch, head, commit }), retry: false };
      if (stands !== "apart") continue;
      const last = await mirror.commitInfo(head);
      const by = last && { author: last.author, subject: last.subject };
      return { why: engineReason("BRANCH_APART", { branch, head, commit, tip: by }), retry: false };
    }
    return undefined;
  }

  return async (run, batch, { base, baseBranch }) => {
    const rendered = await guardBatch(run, batch, { base, baseBranch, head: base });
    if (!rendered.ok) return rendered;
    const branches = branchesOf(batch).map(({ branch }) => branch);
    const moves = await movesOf(commits, batch, await headsOf(branches));
    const problem = strangers(planesFor(planes, run.spec.source.controlPlanes), repoURL, batch, branches) ?? (await notForward(moves));
    return problem === undefined ? rendered : { ok: false, base, at: rendered.at, ...problem };
  };
}

/** Applications outside the batch that would follow its branches, and those of the batch that do not. */
function strangers(planes: readonly ControlPlane[], repoURL: string, batch: Batch, branches: readonly string[]): GuardProblem | undefined {
  const mine = new Map(batch.targets.map((target) => [target.key, target]));
  for (const plane of planes) {
    for (const application of plane.applications()) {
      const { name } = application;
      const followed = sourcesOf(application)
        .filter((source) => source.chart === undefined && sameRepo(source.repoURL, repoURL))
        .map((source) => source.targetRevision);
      const isFollowed = (branch: string) => followed.some((revision) => namesRef(revision, branch));
      const target = mine.get(`${plane.name}/${application.namespace}/${name}`);
      const follows = branches.find(isFollowed);
      if (follows !== undefined && target === undefined)
        return { why: engineReason("GUARD_CHANGES", { application: name, follows }), retry: false };
      const own = target?.edits.find((edit) => edit.kind === "branch" && !isFollowed(edit.path));
      if (own !== undefined) return { why: engineReason("BRANCH_NOT_FOLLOWED", { application: name, branch: own.path }), retry: true };
    }
  }
  return undefined;
}

/** What is synced, and of a hydrated Application what that is made from, too. */
function sourcesOf({ spec }: ApplicationView): SourceView[] {
  const dry = drySourceOf(spec.sourceHydrator);
  return dry === undefined ? spec.sources : [...spec.sources, dry];
}
