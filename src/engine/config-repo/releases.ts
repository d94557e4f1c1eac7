import type { IndexEntry } from "../../adapters/git/journal/port.ts";
import type { CommitInfo } from "../../adapters/git/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import { pathMatcher } from "../../core/base/path-glob.ts";
import type { Release } from "../../core/plan/plan-types.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { ReleaseSpec, Rollout } from "../../core/spec/rollout.ts";
import type { Commits } from "./commits.ts";
import { isRolloutFile, readProject } from "./project.ts";
import { type FoundVersion, readRelease, releaseFiles, VERSION } from "./release.ts";
import { isNewer, newestTag, type TagSpec, type TagsOf } from "./releases-tags.ts";

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

/** Finds one repo's releases. */
export interface Releases {
  /** Finds what the base asks for that the entry does not know, in order. */
  find(rollout: Rollout, entry: IndexEntry, base: string): Promise<FoundRelease[]>;
  /** The release a rollout asks for at a commit of the base; undefined where it is not declared there, has an error, or none is there yet. */
  at(rollout: string, commit: string): Promise<Release | undefined>;
  /** Of a release that stands in no file: what it is as of a commit of the base. */
  version(rollout: Rollout, base: string): Promise<FoundVersion>;
}

const MOST_KEPT = 1000;

export function openReleases(commits: Commits, tagsOf: TagsOf): Releases {
  /** By rollout. The cursor moves only when a run starts: what a release that waits was found by is not looked for again. */
  const looks = new BoundedMap<string, Looked>(MOST_KEPT);

  /** Usable only where the base moved on from it: a base set back no longer holds all that was found. */
  async function lastLook(rollout: string, question: string, base: string): Promise<Looked | undefined> {
    const known = looks.get(rollout);
    if (known === undefined || known.question !== question) return undefined;
    return known.base === base || (await commits.mirror.isAncestor(known.base, base)) === true ? known : undefined;
  }

  async function findTag(spec: TagSpec, entry: IndexEntry): Promise<FoundRelease[]> {
    const last = entry.lastRelease[VERSION];
    const tag = newestTag(await tagsOf(), spec);
    if (tag === undefined) return [];
    const again = spec.attempt !== entry.attempt && last === tag.name;
    if (!again && !isNewer(tag, last, spec)) return [];
    const commit = await commitOfTag(commits, tag);
    return commit === undefined ? [] : [{ release: { values: { [VERSION]: tag.name }, attempt: spec.attempt }, commit }];
  }

  async function version(rollout: Rollout, base: string): Promise<FoundVersion> {
    const spec = rollout.release;
    if (spec?.kind === "commit") return { version: await newestReleaseCommit(commits, base, spec) };
    if (spec?.kind === "tag") return { version: newestTag(await tagsOf(), spec)?.name };
    return { version: undefined };
  }

  return {
    /**
     * docs/spec.md §9.7: the commits of the base after the entry's cursor are looked at in order; each that changed the release is
     * one, and so is one that is itself the release. Of tags only the newest is. Level-triggered: nothing depends on having
     * been told of the merge.
     */
    async find(rollout, entry, base) {
      if (rollout.release?.kind === "tag") return findTag(rollout.release, entry);
      if (entry.cursor === base) return [];
      const question = JSON.stringify([entry.cursor, entry.lastRelease, entry.attempt]);
      const before = await lastLook(rollout.name, question, base);
      if (before?.base === base) return [...before.found];
      if (!(await mayHoldReleases(commits, rollout, entry.cursor, base))) return [];
      const found = [...(before?.found ?? [])];
      let last: Release = found.at(-1)?.release ?? { values: entry.lastRelease, attempt: entry.attempt };
      for (const commit of await commitsUpTo(commits, before?.base ?? entry.cursor, base)) {
        const release = await releaseOfCommit(commits, rollout.name, commit, last);
        if (release === undefined || sameRelease(release, last)) continue;
        found.push({ release, commit });
        last = release;
      }
      looks.set(rollout.name, { question, base, found });
      return [...found];
    },
    async at(rollout, commit) {
      const declared = await declaredAt(commits, rollout, commit);
      return declared && readAt(commits, declared, commit, await version(declared, commit));
    },
    version,
  };
}

/** Whether anything between the two could be a release: one question of Git, whatever the number of commits. */
async function mayHoldReleases({ mirror }: Commits, rollout: Rollout, cursor: string, base: string): Promise<boolean> {
  const files = new Set([rollout.file, SETTINGS_FILE, ...releaseFiles(rollout)]);
  const isPath = rollout.release?.kind === "commit" ? pathMatcher(rollout.release.paths) : () => false;
  const touched = await mirror.changedPaths(cursor, base);
  return touched.some((path) => files.has(path) || isRolloutFile(path) || isPath(path));
}

/** What a commit of the base asks for. Of a release by `commit` that is itself, or what was asked for before. */
async function releaseOfCommit(commits: Commits, name: string, commit: CommitInfo, last: Release): Promise<Release | undefined> {
  const declared = await declaredAt(commits, name, commit.sha);
  const spec = declared?.release;
  if (declared === undefined || spec === undefined || spec.kind === "tag") return undefined;
  if (spec.kind !== "commit") return readAt(commits, declared, commit.sha);
  if (await isReleaseCommit(commits, commit, spec)) return { values: { [VERSION]: commit.sha }, attempt: spec.attempt };
  return { ...last, attempt: spec.attempt };
}

/** A tag may be on a commit that no branch we fetched has. */
async function commitOfTag({ mirror }: Commits, { name, commit }: { name: string; commit: string }): Promise<CommitInfo | undefined> {
  const known = await mirror.commitInfo(commit);
  if (known !== undefined) return known;
  await mirror.fetch([`refs/tags/${name}`]);
  return mirror.commitInfo(commit);
}

/** Oldest first, and the base itself in any case. */
async function commitsUpTo({ mirror }: Commits, from: string, base: string): Promise<CommitInfo[]> {
  const commits = await mirror.firstParentLog(from, base, MOST_COMMITS);
  if (commits.at(-1)?.sha === base) return commits;
  const newest = await mirror.commitInfo(base);
  return newest === undefined ? commits : [...commits, newest];
}

async function declaredAt(commits: Commits, rollout: string, commit: string): Promise<Rollout | undefined> {
  return (await readProject(commits.snapshot(commit))).rollouts.find((r) => r.name === rollout);
}

async function readAt(commits: Commits, declared: Rollout, commit: string, found?: FoundVersion): Promise<Release | undefined> {
  const read = await commits.snapshot(commit).with((files) => readRelease(declared, (path) => files.read(path), found));
  return read.ok ? read.release : undefined;
}

export function sameRelease(a: Release, b: Release): boolean {
  const names = Object.keys(a.values);
  return (
    a.attempt === b.attempt && names.length === Object.keys(b.values).length && names.every((name) => a.values[name] === b.values[name])
  );
}

type CommitSpec = Extract<ReleaseSpec, { kind: "commit" }>;

/** A batch's own merge, of any rollout: by its trailers, or by GitHub's words for the merge of one of our branches. */
export function isBatchMerge({ subject, body }: Pick<CommitInfo, "subject" | "body">): boolean {
  if (/^Stagecoach-Run: \S+\/\d+$/m.test(body)) return true;
  return /^Merge pull request #\d+ from \S+\/stagecoach-run\//.test(`${subject}\n${body}`);
}

/** Whether this commit of the base is a release: what it changes against its first parent is among the paths. */
async function isReleaseCommit(commits: Commits, commit: CommitInfo, { paths }: CommitSpec): Promise<boolean> {
  if (isBatchMerge(commit)) return false;
  const [parent] = commit.parents;
  // The first commit of a repo has no change that could be told from its content.
  if (parent === undefined) return false;
  return commits.fact(`release ${commit.sha} of ${paths.join("\n")}`, async () => {
    const touched = await commits.mirror.changedPaths(parent, commit.sha);
    return touched.some(pathMatcher(paths));
  });
}

/** The newest release at or before a commit of the base; the commit itself where none is near. */
async function newestReleaseCommit(commits: Commits, base: string, spec: CommitSpec): Promise<string> {
  const log = await commits.mirror.firstParentLog(undefined, base, MOST_COMMITS);
  for (const commit of log.toReversed()) if (await isReleaseCommit(commits, commit, spec)) return commit.sha;
  return base;
}
