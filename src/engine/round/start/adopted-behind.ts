/**
 * A release that was merged together with its rollout's file, or before the first look at it: what is there at first sight is adopted as
 * it is, and no run starts. Where clusters hold something else than the release, that is said as of any release that starts no run, until
 * a run has started or nothing differs any more.
 */
import type { IndexEntry } from "../../../adapters/git/journal/port.ts";
import type { CommitInfo } from "../../../adapters/git/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import { targetsOf } from "../../../core/plan/plan-types.ts";
import { type Problem, problemIn } from "../../../core/reasons/problems/problem.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { releaseFiles } from "../../config-repo/release.ts";
import type { FoundRelease } from "../../config-repo/releases.ts";
import type { MakePlan } from "../../resolve/plan-now.ts";
import { locateIn } from "../../resolve/plan-over.ts";
import type { RepoContext } from "../context.ts";

/** `found`: the release, by the newest commit that changed what it stands in. */
interface Behind {
  found: FoundRelease;
  problem: Problem;
}

/** Looks at a rollout that was adopted and had no run since. `waiting`: it cannot be planned yet. */
type LookBehind = (
  rollout: Rollout,
  entry: IndexEntry,
  base: string,
  baseBranch: string,
) => Promise<{ behind?: Behind | undefined; waiting: boolean }>;

/** A control plane is read by then, or is said to be lost. */
const PATIENCE_MS = 2 * 60_000;
const MOST_KEPT = 1000;
/** As far back as the release's commit is looked for. */
const MOST_COMMITS = 50;

export function openLookBehind({ mirror, clock }: Pick<RepoContext, "mirror" | "clock">, commits: Commits, makePlan: MakePlan): LookBehind {
  /** By rollout, as of a base: a plan is not made in every round. */
  const looked = new BoundedMap<string, { base: string; behind: Behind | undefined }>(MOST_KEPT);
  const born = clock.now();

  async function look(rollout: Rollout, entry: IndexEntry, base: string, baseBranch: string): Promise<Behind | undefined | "unknown"> {
    const { lastRelease: values, attempt } = entry;
    const release = { values, attempt };
    const snapshot = commits.snapshot(base);
    const made = await makePlan(rollout, release, snapshot, baseBranch);
    if (!made.ok) return "unknown";
    const differ = targetsOf(made.plan).filter(({ edits }) => edits.some((edit) => edit.from !== edit.to));
    const clusters = [...new Set(differ.map(({ cluster }) => cluster.slice(cluster.indexOf("/") + 1)))];
    const commit = clusters.length === 0 ? undefined : await newestOf([rollout.file, ...releaseFiles(rollout)], base);
    if (commit === undefined) return undefined;
    const reason = { code: "RELEASE_BEFORE_ADOPTION", values: Object.values(values), clusters, attempt: attempt + 1 } as const;
    const problem = problemIn(rollout.file, reason, ["spec", "release"]);
    return { found: { release, commit }, problem: await snapshot.with((files) => locateIn(rollout, files, problem)) };
  }

  async function newestOf(files: readonly string[], base: string): Promise<CommitInfo | undefined> {
    const log = await mirror.firstParentLog(undefined, base, MOST_COMMITS);
    for (const commit of log.toReversed()) {
      const [parent] = commit.parents;
      if (parent !== undefined && (await mirror.changedPaths(parent, commit.sha)).some((path) => files.includes(path))) return commit;
    }
    return log.at(-1);
  }

  return async (rollout, entry, base, baseBranch) => {
    const kind = rollout.release?.kind;
    // Only what stands in a file is merged.
    if (rollout.mode === "Observe" || kind === "tag" || kind === "commit") return { waiting: false };
    const known = looked.get(rollout.name);
    if (known?.base === base) return { behind: known.behind, waiting: false };
    const behind = await look(rollout, entry, base, baseBranch);
    if (behind === "unknown") return { waiting: clock.now() - born < PATIENCE_MS };
    looked.set(rollout.name, { base, behind });
    return { behind, waiting: false };
  };
}
