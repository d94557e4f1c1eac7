import { drySourceOf } from "../../../core/argocd/decode/source.ts";
import type { ApplicationView, SourceView } from "../../../core/argocd/views.ts";
import type { Batch, Run } from "../../../core/run/state/run.ts";
import type { Guard } from "../../../core/run/state/world.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { sameRepo } from "../../config-repo/repo-url.ts";
import { planesFor } from "../../resolve/fleet.ts";
import { type BranchMove, branchesOf, movesOf } from "../act/branch-moves.ts";
import type { RepoContext } from "../context.ts";
import type { BranchHeads } from "../observe/branch-heads.ts";
import type { GuardBatch, GuardedAt } from "./guard.ts";

/**
 * docs/spec.md §9.4 and §9.5 for a batch that moves branches. The ApplicationSet must be Git's and render without those branches, so
 * that moving them adds and removes no Application; only the batch's Applications may follow them; and each move must be a
 * fast-forward.
 */
export async function guardMove(
  { context, commits, heads, guardBatch }: MoveParts,
  run: Run,
  batch: Batch,
  { base, baseBranch }: Omit<GuardedAt, "head">,
): Promise<Guard> {
  const rendered = await guardBatch(run, batch, { base, baseBranch, head: base });
  if (!rendered.ok) return rendered;
  const branches = branchesOf(batch).map(({ branch }) => branch);
  const moves = await movesOf(commits, batch, await heads.of(branches));
  const problem = strangers(context, run, batch, new Set(branches)) ?? (await notForward(context, moves));
  return problem === undefined ? rendered : { ok: false, base, at: rendered.at, ...problem };
}

interface MoveParts {
  context: RepoContext;
  commits: Commits;
  heads: BranchHeads;
  guardBatch: GuardBatch;
}

interface Problem {
  why: string;
  retry: boolean;
}

/** Applications outside the batch that would follow its branches, and those of the batch that do not. */
function strangers(context: RepoContext, run: Run, batch: Batch, branches: ReadonlySet<string>): Problem | undefined {
  const mine = new Map(batch.targets.map((target) => [target.key, target]));
  for (const plane of planesFor(context, run.spec.source.controlPlanes)) {
    for (const application of plane.applications()) {
      const followed = sourcesOf(application)
        .map((source) => branchOf(context, source))
        .filter((name) => name !== undefined);
      const target = mine.get(`${plane.name}/${application.namespace}/${application.name}`);
      const shared = followed.find((name) => branches.has(name));
      if (shared !== undefined && target === undefined)
        return { why: `it would change ${application.name}, which follows ${shared} and is not part of this batch`, retry: false };
      const own = target?.edits.find((edit) => edit.kind === "branch" && !followed.includes(edit.path));
      if (own !== undefined)
        return { why: `${application.name} does not follow ${own.path}: moving the branch would not reach it`, retry: true };
    }
  }
  return undefined;
}

/** What is synced, and of a hydrated Application what that is made from, too. */
function sourcesOf({ spec }: ApplicationView): SourceView[] {
  const dry = drySourceOf(spec.sourceHydrator);
  return dry === undefined ? spec.sources : [...spec.sources, dry];
}

function branchOf(context: RepoContext, source: SourceView): string | undefined {
  if (source.chart !== undefined || !sameRepo(source.repoURL, context.repoURL)) return undefined;
  return source.targetRevision?.replace(/^refs\/heads\//, "");
}

async function notForward(context: RepoContext, moves: readonly BranchMove[]): Promise<Problem | undefined> {
  for (const { branch, to, head = "", stands } of moves) {
    const release = to.slice(0, 10);
    if (stands === "gone") return { why: `branch ${branch} is not there any more`, retry: false };
    if (stands === "unknown") return { why: `the head of ${branch}, ${head.slice(0, 10)}, is still to be fetched`, retry: true };
    if (stands === "past")
      return { why: `${branch} is at ${head.slice(0, 10)}, past ${release}: a branch is only ever moved forward`, retry: false };
    if (stands !== "apart") continue;
    const last = await context.mirror.commitInfo(head);
    const by = last === undefined ? "" : ` by ${last.author} (${last.subject})`;
    return {
      why: `${branch} cannot be fast-forwarded to ${release}: it is at ${head.slice(0, 10)}${by}, which the release does not contain`,
      retry: false,
    };
  }
  return undefined;
}
