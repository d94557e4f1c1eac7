import { isRefName } from "../../../core/base/ref-name.ts";
import type { RepoContext } from "../context.ts";
import type { RepoMemory } from "../memory.ts";

/** Names that one call of git takes: command lines have a limit. */
const MOST_NAMES = 1000;

/** Commits that branches of the remote are at now, fetched. A branch that is not there is left out. */
export async function branchHeads(context: Pick<RepoContext, "mirror">, names: Iterable<string>): Promise<Map<string, string>> {
  const { mirror } = context;
  const asked = [...new Set(names)];
  const heads = new Map<string, string>();
  for (let at = 0; at < asked.length; at += MOST_NAMES) {
    const found = await mirror.remoteHeads(asked.slice(at, at + MOST_NAMES));
    const unknown: string[] = [];
    for (const [name, commit] of found) {
      heads.set(name, commit);
      if ((await mirror.commitInfo(commit)) === undefined) unknown.push(name);
    }
    if (unknown.length > 0) await mirror.fetch(unknown);
  }
  return heads;
}

/** Why a name cannot be a branch's; undefined where it can. */
export function whyNoBranch(name: string): string | undefined {
  return isRefName(`refs/heads/${name}`) ? undefined : `"${name.slice(0, 200)}" is no ref name git accepts`;
}

/** What a process remembers of moved branches; like the rest of its memory it may be lost at any moment. */
interface BranchMemory {
  /** The reading of the remote that these heads belong to. */
  reading: number;
  /** undefined: looked, and it is not there. */
  heads: Map<string, string | undefined>;
  /** Asked for at the look before this one: most likely wanted again, so that one call serves a whole round. */
  likely: ReadonlySet<string>;
  used: Set<string>;
  /** Batches whose move was put forward by this process, by the name of their branch. */
  proposed: Set<string>;
}

const memories = new WeakMap<RepoMemory, BranchMemory>();

function branchMemory(memory: RepoMemory): BranchMemory {
  const { reading } = memory.remote.last;
  const known = memories.get(memory);
  if (known?.reading === reading) return known;
  const fresh: BranchMemory = {
    reading,
    heads: new Map(),
    likely: known?.used ?? new Set(),
    used: new Set(),
    proposed: known?.proposed ?? new Set(),
  };
  memories.set(memory, fresh);
  return fresh;
}

/** The same as `branchHeads`, asked for only where the remote was heard to have moved since. undefined: it is not there. */
export async function knownHeads(
  context: RepoContext,
  memory: RepoMemory,
  names: Iterable<string>,
): Promise<ReadonlyMap<string, string | undefined>> {
  const { heads, likely, used } = branchMemory(memory);
  const wanted = [...names];
  for (const name of wanted) used.add(name);
  if (wanted.some((name) => !heads.has(name))) {
    const missing = [...new Set([...wanted, ...likely])].filter((name) => !heads.has(name));
    const found = await branchHeads(context, missing);
    for (const name of missing) heads.set(name, found.get(name));
  }
  return heads;
}

/** A batch without a PR is put forward by remembering that its pins were read: losing it only has them read again. */
export function putForward(memory: RepoMemory, branch: string): void {
  branchMemory(memory).proposed.add(branch);
}

export function isPutForward(memory: RepoMemory, branch: string): boolean {
  return branchMemory(memory).proposed.has(branch);
}
