import type { IndexEntry } from "../git/journal-port.ts";
import type { CommitInfo } from "../git/port.ts";
import type { Release } from "../rollout/plan-types.ts";
import type { Rollout } from "../rollout/rollout.ts";
import type { RepoContext } from "./context.ts";
import type { RepoMemory } from "./memory.ts";
import { isRolloutFile, REPO_CONFIG, readProject } from "./project.ts";
import { readRelease, releaseFiles } from "./release.ts";

/** A release that a commit of the base brought in. */
export interface FoundRelease {
  release: Release;
  commit: CommitInfo;
}

/** A base that moved by more commits than this since the last look is looked at by its two ends only. */
const MOST_COMMITS = 500;

/**
 * SPEC §9.7: the commits of the base after the entry's cursor are looked at in order; each that changed the release is
 * one. Level-triggered: nothing depends on having been told of the merge.
 */
export async function findReleases(
  context: RepoContext,
  memory: RepoMemory,
  rollout: Rollout,
  entry: IndexEntry,
  base: string,
): Promise<FoundRelease[]> {
  if (entry.cursor === base) return [];
  const files = new Set([rollout.file, REPO_CONFIG, ...releaseFiles(rollout)]);
  const touched = await context.mirror.changedPaths(entry.cursor, base);
  if (!touched.some((path) => files.has(path) || isRolloutFile(path))) return [];
  const found: FoundRelease[] = [];
  let last: Release = { values: entry.lastRelease, attempt: entry.attempt };
  for (const commit of await context.mirror.firstParentLog(entry.cursor, base, MOST_COMMITS)) {
    const release = await releaseAt(memory, rollout.name, commit.sha);
    if (release === undefined || sameRelease(release, last)) continue;
    found.push({ release, commit });
    last = release;
  }
  return found;
}

/** The release a rollout asks for at a commit; undefined where it is not declared there or has an error. */
export async function releaseAt(memory: RepoMemory, rollout: string, commit: string): Promise<Release | undefined> {
  const snapshot = memory.snapshot(commit);
  const declared = (await readProject(snapshot)).rollouts.find((r) => r.name === rollout);
  if (declared === undefined) return undefined;
  const read = await snapshot.with((files) => readRelease(declared, (path) => files.read(path)));
  return read.ok ? read.release : undefined;
}

export function sameRelease(a: Release, b: Release): boolean {
  const names = Object.keys(a.values);
  return (
    a.attempt === b.attempt && names.length === Object.keys(b.values).length && names.every((name) => a.values[name] === b.values[name])
  );
}
