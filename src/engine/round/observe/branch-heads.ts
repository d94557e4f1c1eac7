import type { Mirror } from "../../../adapters/git/port.ts";
import { isRefName, refOf } from "../../../core/base/ref-name.ts";
import type { RemoteHeads } from "../../config-repo/remote-heads.ts";

/** Names that one call of git takes: command lines have a limit. */
const MOST_NAMES = 1000;

/** Commits that branches of the remote are at now, fetched. A branch that is not there is left out. */
export async function branchHeads(mirror: Mirror, names: Iterable<string>): Promise<Map<string, string>> {
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

/** Says whether git accepts a name as a branch's, or a tag's. */
export function isBranchName(name: string): boolean {
  return isRefName(refOf(name));
}

/**
 * Finds heads of branches that batches move, asked for only where the remote was heard to have moved since. undefined: it is not there.
 */
export type BranchHeads = (names: Iterable<string>) => Promise<ReadonlyMap<string, string | undefined>>;

export function openBranchHeads(mirror: Mirror, remote: RemoteHeads): BranchHeads {
  /** The reading of the remote that these heads belong to. */
  let known = -1;
  let heads = new Map<string, string | undefined>();
  let used = new Set<string>();
  /** Asked for at the look before this one: most likely wanted again, so that one call serves a whole round. */
  let likely = used;
  return async (names) => {
    if (known !== remote.last.reading) {
      [known, heads, likely, used] = [remote.last.reading, new Map(), used, new Set()];
    }
    const wanted = [...names];
    for (const name of wanted) used.add(name);
    if (wanted.some((name) => !heads.has(name))) {
      const missing = [...new Set([...wanted, ...likely])].filter((name) => !heads.has(name));
      const found = await branchHeads(mirror, missing);
      for (const name of missing) heads.set(name, found.get(name));
    }
    return heads;
  };
}
