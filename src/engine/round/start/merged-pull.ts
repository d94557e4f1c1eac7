import type { Pull } from "../../../adapters/forge/port.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { RepoContext } from "../context.ts";

/** A forge may list a commit's PR a little after the merge: that there is none is believed for this long. */
export const NONE_FOR_MS = 60_000;
const MOST_REMEMBERED = 500;

type Known = { pull: Pull | undefined; askedAt: number };

/** Finds the merged PR that brought a commit to the base branch. */
export type MergedPull = (commit: string, baseBranch: string) => Promise<Pull | undefined>;

/** Each is asked for once, since rounds are many and a release may wait long. */
export function openMergedPulls({ forge, clock }: Pick<RepoContext, "forge" | "clock">): MergedPull {
  const kept = new BoundedMap<string, Known>(MOST_REMEMBERED);
  return async (commit, baseBranch) => {
    const key = `${baseBranch} ${commit}`;
    const now = clock.now();
    const known = kept.get(key);
    if (known !== undefined && (known.pull !== undefined || now - known.askedAt < NONE_FOR_MS)) return known.pull;
    const pull = (await forge.pullsOfCommit(commit)).find((one) => one.state === "merged" && one.base === baseBranch);
    kept.set(key, { pull, askedAt: now });
    return pull;
  };
}
