import type { JournalState } from "../../../adapters/git/journal/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { iso, type Time } from "../../../core/base/time.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import { sayProblem } from "../../../core/report/reasons/problems/problems.ts";
import type { Project } from "../../config-repo/project.ts";
import type { RepoContext } from "../context.ts";
import { type MergedPull, NONE_FOR_MS } from "./merged-pull.ts";

/** A PR whose merge brought in what no run can start from. */
export interface RefusedRelease {
  pull: number;
  commit: string;
  problems: readonly Problem[];
}

/** The same of a commit that no PR is known to have brought. */
interface Unplaced {
  commit: string;
  problems: readonly Problem[];
}

/** Of one base: what is said where, and what no PR is known for yet. */
interface Refused {
  base: string | undefined;
  found: readonly RefusedRelease[];
  missing: readonly Unplaced[];
  /** When PRs of the missing ones are asked for again, and until when; undefined: no more. Epoch milliseconds. */
  recheck: { at: number; until: number } | undefined;
}

/** As far back as the commit that brought an error is looked for. */
const MOST_COMMITS = 200;
/** A forge may list a commit's PR a little late: asked for again once a minute, for this long. */
const RECHECK_MS = 10 * NONE_FOR_MS;

/**
 * Rollouts that have an error on the base: they give no rollout, so nothing else would speak of them. Each problem is told
 * on the PR of the newest commit that touched its file. Found once for a base, where each commit's PR was.
 */
export interface RefusedReleases {
  find(state: JournalState, project: Project, base: string, baseBranch: string): Promise<readonly RefusedRelease[]>;
  /** Since when a PR's release was refused, as far as this process knows. */
  since(pull: number): Time | undefined;
  /** What was found that no PR is known for: only the page and the log can say it. */
  readonly unplaced: readonly Unplaced[];
  /** When PRs that were missing are asked for again, in epoch milliseconds. */
  readonly recheckAt: number | undefined;
}

type Context = Pick<RepoContext, "mirror" | "clock" | "log">;

export function openRefusedReleases({ mirror, clock, log }: Context, mergedPull: MergedPull): RefusedReleases {
  const since = new BoundedMap<number, Time>(MOST_COMMITS);
  let refused: Refused = { base: undefined, found: [], missing: [], recheck: undefined };

  /** Asks for the PRs of those that have none yet. */
  async function place({ base, found: before, missing: open }: Refused, baseBranch: string, until: number): Promise<Refused> {
    const now = clock.now();
    const found = [...before];
    const missing: Unplaced[] = [];
    for (const one of open) {
      const pull = await mergedPull(one.commit, baseBranch);
      if (pull === undefined) missing.push(one);
      else {
        found.push({ pull: pull.number, commit: one.commit, problems: one.problems });
        since.set(pull.number, since.get(pull.number) ?? iso(now));
      }
    }
    if (missing.length > 0 && now < until) return { base, found, missing, recheck: { at: now + NONE_FOR_MS, until } };
    for (const { commit, problems } of missing)
      log.warn({ commit, problems: problems.map((one) => sayProblem(one).message) }, "pushed without a pull request to say it on");
    return { base, found, missing, recheck: undefined };
  }

  return {
    async find(state, project, base, baseBranch) {
      const now = clock.now();
      const { recheck } = refused;
      if (refused.base !== base) {
        const missing = await unplaced({ mirror }, state, project, base);
        refused = await place({ base, found: [], missing, recheck: undefined }, baseBranch, now + RECHECK_MS);
      } else if (recheck !== undefined && now >= recheck.at) refused = await place(refused, baseBranch, recheck.until);
      return refused.found;
    },
    since: (pull) => since.get(pull),
    get unplaced() {
      return refused.missing;
    },
    get recheckAt() {
      return refused.recheck?.at;
    },
  };
}

/** Errors by the commit that is to blame for them. */
async function unplaced(read: Pick<Context, "mirror">, state: JournalState, project: Project, base: string): Promise<Unplaced[]> {
  const errors = project.problems.filter((problem) => problem.severity === "error");
  const cursors = new Set([...state.index.values()].map((entry) => entry.cursor));
  const byCommit = new Map<string, Problem[]>();
  for (const [file, problems] of Map.groupBy(errors, (problem) => problem.file)) {
    const commit = await lastTouch(read, cursors, base, file);
    byCommit.set(commit, [...(byCommit.get(commit) ?? []), ...problems]);
  }
  return [...byCommit].map(([commit, problems]) => ({ commit, problems }));
}

/** The newest commit of the base that changed the file since the journal's oldest cursor; else the base's head. */
async function lastTouch({ mirror }: Pick<Context, "mirror">, since: Iterable<string>, base: string, file: string): Promise<string> {
  let newest: readonly { sha: string }[] = [];
  for (const cursor of since) {
    const commits = await mirror.firstParentLog(cursor, base, MOST_COMMITS);
    if (commits.length > newest.length) newest = commits;
  }
  for (const { sha } of newest.toReversed()) {
    const [parent] = (await mirror.commitInfo(sha))?.parents ?? [];
    if (parent !== undefined && (await mirror.changedPaths(parent, sha)).includes(file)) return sha;
  }
  return base;
}
