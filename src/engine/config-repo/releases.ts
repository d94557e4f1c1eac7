import type { IndexEntry } from "../../adapters/git/journal/journal-port.ts";
import type { CommitInfo } from "../../adapters/git/port.ts";
import { pathMatcher } from "../../core/base/path-glob.ts";
import type { Release } from "../../core/plan/plan-types.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { RepoContext } from "../round/context.ts";
import type { RepoMemory } from "../round/memory.ts";
import { isRolloutFile, readProject } from "./project.ts";
import { type FoundVersion, readRelease, releaseFiles, VERSION } from "./release.ts";
import { isReleaseCommit, newestReleaseCommit } from "./releases-commits.ts";
import { isNewer, newestTag, type TagSpec, tagsOf } from "./releases-tags.ts";

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
 * docs/spec.md §9.7: the commits of the base after the entry's cursor are looked at in order; each that changed the release is
 * one, and so is one that is itself the release. Of tags only the newest is. Level-triggered: nothing depends on having
 * been told of the merge.
 */
export async function findReleases(
  context: RepoContext,
  memory: RepoMemory,
  rollout: Rollout,
  entry: IndexEntry,
  base: string,
): Promise<FoundRelease[]> {
  if (rollout.release?.kind === "tag") return findTag(context, memory, rollout.release, entry);
  if (entry.cursor === base) return [];
  const kept = looks.get(memory) ?? new Map<string, Looked>();
  looks.set(memory, kept);
  const question = JSON.stringify([entry.cursor, entry.lastRelease, entry.attempt]);
  const before = await lastLook(context, kept.get(rollout.name), question, base);
  if (before?.base === base) return [...before.found];
  if (!(await mayHoldReleases(context, rollout, entry.cursor, base))) return [];
  const found = [...(before?.found ?? [])];
  let last: Release = found.at(-1)?.release ?? { values: entry.lastRelease, attempt: entry.attempt };
  for (const commit of await commitsUpTo(context, before?.base ?? entry.cursor, base)) {
    const release = await releaseOfCommit(context, memory, rollout.name, commit, last);
    if (release === undefined || sameRelease(release, last)) continue;
    found.push({ release, commit });
    last = release;
  }
  kept.set(rollout.name, { question, base, found });
  return [...found];
}

/** Whether anything between the two could be a release: one question of Git, whatever the number of commits. */
async function mayHoldReleases(context: RepoContext, rollout: Rollout, cursor: string, base: string): Promise<boolean> {
  const files = new Set([rollout.file, SETTINGS_FILE, ...releaseFiles(rollout)]);
  const isPath = rollout.release?.kind === "commit" ? pathMatcher(rollout.release.paths) : () => false;
  const touched = await context.mirror.changedPaths(cursor, base);
  return touched.some((path) => files.has(path) || isRolloutFile(path) || isPath(path));
}

/** What a commit of the base asks for. Of a release by `commit` that is itself, or what was asked for before. */
async function releaseOfCommit(
  context: RepoContext,
  memory: RepoMemory,
  name: string,
  commit: CommitInfo,
  last: Release,
): Promise<Release | undefined> {
  const declared = await declaredAt(memory, name, commit.sha);
  const spec = declared?.release;
  if (declared === undefined || spec === undefined || spec.kind === "tag") return undefined;
  if (spec.kind !== "commit") return readAt(memory, declared, commit.sha);
  if (await isReleaseCommit(context, memory, commit, spec)) return { values: { [VERSION]: commit.sha }, attempt: spec.attempt };
  return { ...last, attempt: spec.attempt };
}

async function findTag(context: RepoContext, memory: RepoMemory, spec: TagSpec, entry: IndexEntry): Promise<FoundRelease[]> {
  const last = entry.lastRelease[VERSION];
  const tag = newestTag(await tagsOf(context, memory), spec);
  if (tag === undefined) return [];
  const again = spec.attempt !== entry.attempt && last === tag.name;
  if (!again && !isNewer(tag, last, spec)) return [];
  const commit = await commitOfTag(context, tag);
  return commit === undefined ? [] : [{ release: { values: { [VERSION]: tag.name }, attempt: spec.attempt }, commit }];
}

/** A tag may be on a commit that no branch we fetched has. */
async function commitOfTag({ mirror }: RepoContext, { name, commit }: { name: string; commit: string }): Promise<CommitInfo | undefined> {
  const known = await mirror.commitInfo(commit);
  if (known !== undefined) return known;
  await mirror.fetch([`refs/tags/${name}`]);
  return mirror.commitInfo(commit);
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

/** The release a rollout asks for at a commit of the base; undefined where it is not declared there, has an error, or none is there yet. */
export async function releaseAt(context: RepoContext, memory: RepoMemory, rollout: string, commit: string): Promise<Release | undefined> {
  const declared = await declaredAt(memory, rollout, commit);
  return declared === undefined ? undefined : readAt(memory, declared, commit, await foundVersion(context, memory, declared, commit));
}

/** Of a release that stands in no file: what it is as of a commit of the base. */
export async function foundVersion(context: RepoContext, memory: RepoMemory, rollout: Rollout, base: string): Promise<FoundVersion> {
  const spec = rollout.release;
  if (spec?.kind === "commit") return { version: await newestReleaseCommit(context, memory, base, spec) };
  if (spec?.kind === "tag") return { version: newestTag(await tagsOf(context, memory), spec)?.name };
  return { version: undefined };
}

async function declaredAt(memory: RepoMemory, rollout: string, commit: string): Promise<Rollout | undefined> {
  return (await readProject(memory.commits.snapshot(commit))).rollouts.find((r) => r.name === rollout);
}

async function readAt(memory: RepoMemory, declared: Rollout, commit: string, found?: FoundVersion): Promise<Release | undefined> {
  const read = await memory.commits.snapshot(commit).with((files) => readRelease(declared, (path) => files.read(path), found));
  return read.ok ? read.release : undefined;
}

export function sameRelease(a: Release, b: Release): boolean {
  const names = Object.keys(a.values);
  return (
    a.attempt === b.attempt && names.length === Object.keys(b.values).length && names.every((name) => a.values[name] === b.values[name])
  );
}
