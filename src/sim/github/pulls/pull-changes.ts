/** What a pull request changes: its commits, its files, and how much they are. */
import { diffFiles } from "../git/diff.ts";
import type { Repo } from "../model/model.ts";
import type { PullIssue } from "../model/world.ts";
import type { PullDetails } from "../shapes/pull.ts";

export async function pullStats(repo: Repo, issue: PullIssue): Promise<Pick<PullDetails, "commits" | "additions" | "deletions" | "files">> {
  const { pull } = issue;
  const known = pull.stats;
  // A base that moves on changes nothing here: both are counted from where the head left it.
  if (known !== undefined && known.base === pull.baseRef && known.head === pull.headSha) return known;
  const [commits, files] = await Promise.all([pullCommits(repo, issue), pullFiles(repo, issue)]);
  const stats = {
    base: pull.baseRef,
    head: pull.headSha,
    commits: commits.length,
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    files: files.length,
  };
  pull.stats = stats;
  return stats;
}

/** Newest first. */
export async function pullCommits(repo: Repo, issue: PullIssue): Promise<readonly string[]> {
  const { baseSha, headSha } = issue.pull;
  const head = await repo.git.commit(headSha);
  return head?.parents.length === 1 && head.parents[0] === baseSha ? [headSha] : repo.git.revList(baseSha, headSha, 250);
}

/** What the head changes against where it left the base. */
export async function pullFiles(repo: Repo, issue: PullIssue, withPatch = false) {
  const { baseSha, headSha } = issue.pull;
  const head = await repo.git.commit(headSha);
  const from =
    head?.parents.length === 1 && head.parents[0] === baseSha ? baseSha : ((await repo.git.mergeBase(baseSha, headSha)) ?? baseSha);
  return diffFiles(repo.git, from, headSha, withPatch);
}
