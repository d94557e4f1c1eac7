import type { JournalState } from "../../../adapters/git/journal/port.ts";
import { sayProblem } from "../../../core/report/reasons/problems.ts";
import type { Problem } from "../../../core/spec/parse/parse.ts";
import type { Project } from "../../config-repo/project.ts";
import type { RepoContext } from "../context.ts";
import type { RepoMemory } from "../memory.ts";
import { NONE_FOR_MS } from "./merged-pull.ts";

/** A PR whose merge brought in what no run can start from. */
export interface RefusedRelease {
  pull: number;
  problems: readonly Problem[];
}

interface Unplaced {
  commit: string;
  problems: readonly Problem[];
}

/** Of one base: what is said where, and what no PR is known for yet. */
export interface RefusedReleases {
  base: string | undefined;
  found: readonly RefusedRelease[];
  missing: readonly Unplaced[];
  /** PRs of the missing ones are asked for again at `again`, and for the last time at `until`; absent: no more. Epoch milliseconds. */
  lookout?: { again: number; until: number };
}

/** As far back as the commit that brought an error is looked for. */
const MOST_COMMITS = 200;
/** A forge may list a commit's PR a little late: asked for again once a minute, for this long. */
const LOOK_OUT_MS = 10 * NONE_FOR_MS;

/**
 * Rollouts that have an error on the base: they give no rollout, so nothing else would speak of them. Each problem is told
 * on the PR of the newest commit that touched its file. Found once for a base, where each commit's PR was.
 */
export async function refusedReleases(
  context: RepoContext,
  memory: RepoMemory,
  state: JournalState,
  project: Project,
  base: string,
  baseBranch: string,
): Promise<readonly RefusedRelease[]> {
  const now = context.clock.now();
  const { refused } = memory;
  if (refused.base !== base) {
    const missing = await unplaced(context, state, project, base);
    memory.refused = await place(context, memory, { base, found: [], missing }, baseBranch, now + LOOK_OUT_MS);
  } else if (refused.lookout !== undefined && now >= refused.lookout.again) {
    memory.refused = await place(context, memory, refused, baseBranch, refused.lookout.until);
  }
  return memory.refused.found;
}

/** Errors by the commit that is to blame for them. */
async function unplaced(context: RepoContext, state: JournalState, project: Project, base: string): Promise<Unplaced[]> {
  const errors = project.problems.filter((problem) => problem.severity === "error");
  const byCommit = new Map<string, Problem[]>();
  for (const [file, problems] of Map.groupBy(errors, (problem) => problem.file)) {
    const commit = await lastTouch(context, cursors(state), base, file);
    byCommit.set(commit, [...(byCommit.get(commit) ?? []), ...problems]);
  }
  return [...byCommit].map(([commit, problems]) => ({ commit, problems }));
}

/** Asks for the PRs of those that have none yet. */
async function place(
  context: RepoContext,
  memory: RepoMemory,
  { base, found: before, missing: open }: RefusedReleases,
  baseBranch: string,
  until: number,
): Promise<RefusedReleases> {
  const now = context.clock.now();
  const found = [...before];
  const missing: Unplaced[] = [];
  for (const one of open) {
    const pull = await memory.mergedPull(one.commit, baseBranch);
    if (pull === undefined) missing.push(one);
    else found.push({ pull: pull.number, problems: one.problems });
  }
  if (missing.length > 0 && now < until) return { base, found, missing, lookout: { again: now + NONE_FOR_MS, until } };
  for (const { commit, problems } of missing)
    context.log.warn({ commit, problems: problems.map((p) => sayProblem(p).message) }, "pushed without a pull request to say it on");
  return { base, found, missing };
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
