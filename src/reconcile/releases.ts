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

/** Of a base that moved by more commits than this since the last look, the oldest so many are looked at, and the newest. */
const MOST_COMMITS = 500;

/** What was found up to a base, for the question it answers. */
interface Looked {
  question: string;
  base: string;
  found: readonly FoundRelease[];
}

/** By rollout. The cursor moves only when a run starts: what a release that waits was found by is not looked for again. */
const looks = new WeakMap<RepoMemory, Map<string, Looked>>();

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
  const kept = looks.get(memory) ?? new Map<string, Looked>();
  looks.set(memory, kept);
  const question = JSON.stringify([entry.cursor, entry.lastRelease, entry.attempt]);
  const before = await lastLook(context, kept.get(rollout.name), question, base);
  if (before?.base === base) return [...before.found];
  const files = new Set([rollout.file, REPO_CONFIG, ...releaseFiles(rollout)]);
  const touched = await context.mirror.changedPaths(entry.cursor, base);
  if (!touched.some((path) => files.has(path) || isRolloutFile(path))) return [];
  const found = [...(before?.found ?? [])];
  let last: Release = found.at(-1)?.release ?? { values: entry.lastRelease, attempt: entry.attempt };
  for (const commit of await commitsUpTo(context, before?.base ?? entry.cursor, base)) {
    const release = await releaseAt(memory, rollout.name, commit.sha);
    if (release === undefined || sameRelease(release, last)) continue;
    found.push({ release, commit });
    last = release;
  }
  kept.set(rollout.name, { question, base, found });
  return [...found];
}

/** Oldest first, and the base itself in any case. */
async function commitsUpTo(context: RepoContext, from: string, base: string): Promise<CommitInfo[]> {
  const commits = await context.mirror.firstParentLog(from, base, MOST_COMMITS);
  if (commits.at(-1)?.sha === base) return commits;
  const newest = await context.mirror.commitInfo(base);
  return newest === undefined ? commits : [...commits, newest];
}

/** Usable only where the base moved on from it: a base set back no longer holds all that was found. */
async function lastLook(context: RepoContext, known: Looked | undefined, question: string, base: string): Promise<Looked | undefined> {
  if (known === undefined || known.question !== question) return undefined;
  return known.base === base || (await context.mirror.isAncestor(known.base, base)) === true ? known : undefined;
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
