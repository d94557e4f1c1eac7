import type { JournalState } from "../git/journal-port.ts";
import type { Problem } from "../rollout/parse.ts";
import type { RepoContext } from "./context.ts";
import type { RepoMemory } from "./memory.ts";
import { mergedPull } from "./merged-pull.ts";
import type { Project } from "./project.ts";

/** A PR whose merge brought in what no run can start from. */
export interface RefusedRelease {
  pull: number;
  problems: readonly Problem[];
}

/** As far back as the commit that brought an error is looked for. */
const MOST_COMMITS = 200;

/**
 * Rollouts that have an error on the base: they give no rollout, so nothing else would speak of them. Each problem is told
 * on the PR of the newest commit that touched its file. Found once for a base.
 */
export async function refusedReleases(
  context: RepoContext,
  memory: RepoMemory,
  state: JournalState,
  project: Project,
  base: string,
  baseBranch: string,
): Promise<readonly RefusedRelease[]> {
  if (memory.refused.base === base) return memory.refused.found;
  const errors = project.problems.filter((problem) => problem.severity === "error");
  const byCommit = new Map<string, Problem[]>();
  for (const [file, problems] of Map.groupBy(errors, (problem) => problem.file)) {
    const commit = await lastTouch(context, cursors(state), base, file);
    byCommit.set(commit, [...(byCommit.get(commit) ?? []), ...problems]);
  }
  const found: RefusedRelease[] = [];
  for (const [commit, problems] of byCommit) {
    const pull = await mergedPull(context, memory, commit, baseBranch);
    if (pull === undefined)
      context.log.warn({ commit, problems: problems.map((p) => p.message) }, "pushed without a pull request to say it on");
    else found.push({ pull: pull.number, problems });
  }
  memory.refused = { base, found };
  return found;
}

function cursors(state: JournalState): string[] {
  return [...new Set([...state.index.values()].map((entry) => entry.cursor))];
}

/** The newest commit of the base that changed the file since the journal's oldest cursor; else the base's head. */
async function lastTouch(context: RepoContext, since: readonly string[], base: string, file: string): Promise<string> {
  let log: readonly { sha: string }[] = [];
  for (const cursor of since) {
    const commits = await context.mirror.firstParentLog(cursor, base, MOST_COMMITS);
    if (commits.length > log.length) log = commits;
  }
  for (const { sha } of log.toReversed()) {
    const [parent] = (await context.mirror.commitInfo(sha))?.parents ?? [];
    if (parent !== undefined && (await context.mirror.changedPaths(parent, sha)).includes(file)) return sha;
  }
  return base;
}
