import type { CommitInfo } from "../../adapters/git/port.ts";
import { pathMatcher } from "../../core/base/path-glob.ts";
import type { ReleaseSpec } from "../../core/spec/rollout.ts";
import type { Commits } from "./commits.ts";

type CommitSpec = Extract<ReleaseSpec, { kind: "commit" }>;

/** So far back the newest release is looked for at first sight of a rollout; further back nothing is one. */
const MOST_COMMITS = 500;

/** A batch's own merge, of any rollout: by its trailers, or by GitHub's words for the merge of one of our branches. */
export function isBatchMerge({ subject, body }: Pick<CommitInfo, "subject" | "body">): boolean {
  if (/^Stagecoach-Run: \S+\/\d+$/m.test(body)) return true;
  return /^Merge pull request #\d+ from \S+\/stagecoach-run\//.test(`${subject}\n${body}`);
}

/** Whether this commit of the base is a release: what it changes against its first parent is among the paths. */
export async function isReleaseCommit(commits: Commits, commit: CommitInfo, { paths }: CommitSpec): Promise<boolean> {
  if (isBatchMerge(commit)) return false;
  const [parent] = commit.parents;
  // The first commit of a repo has no change that could be told from its content.
  if (parent === undefined) return false;
  return commits.fact(`release ${commit.sha} of ${paths.join("\n")}`, async () => {
    const touched = await commits.mirror.changedPaths(parent, commit.sha);
    return touched.some(pathMatcher(paths));
  });
}

/** The newest release at or before a commit of the base; the commit itself where none is near. */
export async function newestReleaseCommit(commits: Commits, base: string, spec: CommitSpec): Promise<string> {
  const log = await commits.mirror.firstParentLog(undefined, base, MOST_COMMITS);
  for (const commit of log.toReversed()) if (await isReleaseCommit(commits, commit, spec)) return commit.sha;
  return base;
}
