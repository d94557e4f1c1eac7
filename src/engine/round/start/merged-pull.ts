import type { Pull } from "../../../adapters/forge/port.ts";
import type { RepoContext } from "../context.ts";
import type { RepoMemory } from "../memory.ts";

/** A forge may list a commit's PR a little after the merge: that there is none is believed for this long. */
export const NONE_FOR_MS = 60_000;
const MOST_REMEMBERED = 500;

type Known = { pull: Pull | undefined; askedAt: number };

const asked = new WeakMap<RepoMemory, Map<string, Known>>();

/** The merged PR that brought a commit to the base branch; asked for once, since rounds are many and a release may wait long. */
export async function mergedPull(context: RepoContext, memory: RepoMemory, commit: string, baseBranch: string): Promise<Pull | undefined> {
  const kept = asked.get(memory) ?? new Map<string, Known>();
  asked.set(memory, kept);
  const key = `${baseBranch} ${commit}`;
  const now = context.clock.now();
  const known = kept.get(key);
  if (known !== undefined && (known.pull !== undefined || now - known.askedAt < NONE_FOR_MS)) return known.pull;
  const pull = (await context.forge.pullsOfCommit(commit)).find((one) => one.state === "merged" && one.base === baseBranch);
  kept.set(key, { pull, askedAt: now });
  const oldest = kept.keys().next().value;
  if (kept.size > MOST_REMEMBERED && oldest !== undefined) kept.delete(oldest);
  return pull;
}
