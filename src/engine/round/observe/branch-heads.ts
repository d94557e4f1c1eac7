import { isRefName } from "../../../core/base/ref-name.ts";
import type { RemoteHeads } from "../../config-repo/remote-heads.ts";
import type { RepoContext } from "../context.ts";

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

/** Heads of branches that batches move, asked for only where the remote was heard to have moved since. */
export interface BranchHeads {
  /** undefined: it is not there. */
  of(names: Iterable<string>): Promise<ReadonlyMap<string, string | undefined>>;
}

export function openBranchHeads(context: Pick<RepoContext, "mirror">, remote: RemoteHeads): BranchHeads {
  let known: Known = { reading: -1, heads: new Map(), likely: new Set(), used: new Set() };
  return {
    of(names) {
      const { reading } = remote.last;
      if (known.reading !== reading) known = { reading, heads: new Map(), likely: known.used, used: new Set() };
      return look(context, known, names);
    },
  };
}

interface Known {
  /** The reading of the remote that these heads belong to. */
  reading: number;
  /** undefined: looked, and it is not there. */
  heads: Map<string, string | undefined>;
  /** Asked for at the look before this one: most likely wanted again, so that one call serves a whole round. */
  likely: ReadonlySet<string>;
  used: Set<string>;
}

async function look(
  context: Pick<RepoContext, "mirror">,
  { heads, likely, used }: Known,
  names: Iterable<string>,
): Promise<Known["heads"]> {
  const wanted = [...names];
  for (const name of wanted) used.add(name);
  if (wanted.some((name) => !heads.has(name))) {
    const missing = [...new Set([...wanted, ...likely])].filter((name) => !heads.has(name));
    const found = await branchHeads(context, missing);
    for (const name of missing) heads.set(name, found.get(name));
  }
  return heads;
}
