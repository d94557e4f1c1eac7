import type { CommitInfo } from "../../adapters/git/port.ts";
import type { RepoContext } from "../round/context.ts";
import type { RepoMemory } from "../round/memory.ts";

/** What changed each file last, between two commits of the base. */
interface Scanned {
  /** As far as was looked. */
  to: string;
  byFile: Map<string, CommitInfo>;
}

const MOST_COMMITS = 1000;
const MOST_REMEMBERED = 50;

const scans = new WeakMap<RepoMemory, Map<string, Scanned>>();

/**
 * The latest first-parent commit after `from` up to `base` that changed a file; undefined: none did. Each commit is compared
 * with its predecessor once, for all files and rounds; a base set back is looked at anew.
 */
export async function lastTouchAfter(
  context: RepoContext,
  memory: RepoMemory,
  from: string,
  base: string,
  file: string,
): Promise<CommitInfo | undefined> {
  const kept = scans.get(memory) ?? new Map<string, Scanned>();
  scans.set(memory, kept);
  const known = kept.get(from);
  if (known?.to === base) return known.byFile.get(file);
  const goesOn = known !== undefined && (await context.mirror.isAncestor(known.to, base)) === true;
  const scanned = await scan(context, goesOn ? known : { to: from, byFile: new Map() }, base);
  kept.delete(from);
  kept.set(from, scanned);
  const oldest = kept.keys().next().value;
  if (kept.size > MOST_REMEMBERED && oldest !== undefined) kept.delete(oldest);
  return scanned.byFile.get(file);
}

async function scan(context: RepoContext, { to, byFile }: Scanned, base: string): Promise<Scanned> {
  const touched = new Map(byFile);
  let previous = to;
  for (const commit of await context.mirror.firstParentLog(to, base, MOST_COMMITS)) {
    for (const path of await context.mirror.changedPaths(previous, commit.sha)) touched.set(path, commit);
    previous = commit.sha;
  }
  return { to: previous, byFile: touched };
}
