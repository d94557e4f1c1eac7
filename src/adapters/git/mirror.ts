import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { BoundedMap } from "../../core/base/bounded.ts";
import { refOf } from "../../core/base/ref-name.ts";
import { openBlobs } from "./blobs.ts";
import type { Missing } from "./cat-file.ts";
import { openBuilder } from "./fast-import.ts";
import { openFetchNew } from "./fetch-new.ts";
import { type ForkHeads, openForkHeads } from "./fork-heads.ts";
import { gitError } from "./git-errors.ts";
import { branchRef, fullRef, objectId, remoteUrl } from "./names.ts";
import type { Mirror, MirrorLimits } from "./port.ts";
import { pushRefs } from "./push.ts";
import { openReader } from "./reader.ts";
import { deepen, fetchBranches, forgetPulls, REMOTE_NAME, type Remote, type RemoteOptions, remoteBelow, remoteCommits } from "./remote.ts";
import { type Repository, runGit } from "./run-git.ts";
import { serial } from "./serial.ts";
import { diffTrees } from "./tree-diff.ts";
import type { Trees } from "./trees.ts";

interface MirrorOptions extends RemoteOptions {
  /** Made where it is not there. Belongs to one process at a time. */
  directory: string;
  /** http or https, without credentials in it. */
  url: string;
  /** Lets `url` be a path or `file://`. */
  allowFile?: boolean;
  limits?: MirrorLimits;
}

const MEBIBYTE = 1024 * 1024;
const DEFAULT_LIMITS: MirrorLimits = { repository: 4096 * MEBIBYTE, forkHead: 32 * MEBIBYTE, forkFile: MEBIBYTE };

/** More than there are heads and bases in a while; of what is older it is not known any more whose it is. */
const MOST_STRANGERS = 10_000;

/** A file each, not a ref: what is noted need not have been fetched. */
const NOTES = "stagecoach-notes";
/** Holds the remote that the mirror is configured for. */
const CONFIGURED = "stagecoach-remote";

/** Opens (and where need be makes) the bare mirror. Nothing is fetched yet. */
export async function openMirror(options: MirrorOptions): Promise<Mirror> {
  const url = remoteUrl(options.url, options.allowFile === true);
  const closing = new AbortController();
  const repository: Repository = { directory: resolve(options.directory), allowFile: options.allowFile === true, closing: closing.signal };
  await makeBare(repository, url);
  const remote: Remote = { repository, url, credentials: options.credentials, breakers: options.breakers, log: options.log };
  // git's own ref locks make concurrent fetches and pushes of one mirror fail, not wait.
  const serially = serial();
  // Strangers' heads have locks of their own: however long one takes, no run waits for it.
  const forksSerially = serial();
  const limits = options.limits ?? DEFAULT_LIMITS;
  const forks = openForkHeads(remote, limits);
  const { trees, refCommit, ...reads } = openReads(remote, forks);
  const isShallow = () => existsSync(join(repository.directory, "shallow"));
  const fetchNew = openFetchNew(remote, refCommit);
  const isEmpty = async (refs: readonly string[]) => (await Promise.all(refs.map(refCommit))).every((commit) => commit === undefined);
  const fetch: Mirror["fetch"] = (branches, { shallow = false } = {}) =>
    serially(async () => {
      const refs = branches?.map((name) => (name.startsWith("refs/") ? fullRef(name) : branchRef(name))) ?? ["refs/heads/*"];
      if (!isShallow() && (await fetchNew(refs))) return;
      // What has its history keeps it.
      await fetchBranches(remote, refs, shallow && (isShallow() || (await isEmpty(refs))) ? ["--depth=1"] : []);
    });
  return {
    ...reads,
    fetch,
    isShallow: async () => isShallow(),
    deepen: (branch) => serially(async () => void (isShallow() && (await deepen(remote, branchRef(branch))))),
    fetchFork: (pull) => forksSerially(() => forks.fetch(pull)),
    async keepPulls(open) {
      await forksSerially(() => forks.keep(open));
      await serially(() => forgetPulls(repository, open));
    },
    room: async () => ({ left: limits.repository - (await forks.size()), most: limits.repository }),
    head: async (branch) => await refCommit(branchRef(branch)),
    resolve: async (ref) => await refCommit(fullRef(ref)),
    remoteHead: async (branch) => (await remoteCommits(remote, [branchRef(branch)])).get(branchRef(branch)),
    remoteBelow: (prefixes) => remoteBelow(remote, prefixes),
    remoteCommits: (refs) => remoteCommits(remote, refs),
    async remoteHeads(branches) {
      const names = new Map(branches.map((name) => [fullRef(refOf(name)), name]));
      const refs = await remoteCommits(remote, [...names.keys()]);
      return new Map([...refs].map(([ref, sha]) => [names.get(ref) ?? ref, sha]));
    },
    commit: openBuilder(repository, trees),
    push: (updates) => serially(() => pushRefs(remote, updates)),
    note: (name, commit) => writeNote(noteFile(repository, name), objectId(commit)),
    noted: (name) => readNote(noteFile(repository, name)),
    async close() {
      await reads.close();
      closing.abort();
    },
  };
}

/** Reads with what is missing brought first: of the repository's own all, of a stranger's head only what is the repository's, too. */
function openReads(remote: Remote, forks: ForkHeads) {
  const bring = openBlobs(remote);
  /** Heads from forks, and what merging them made → the base they were merged into. */
  const strangers = new BoundedMap<string, string>(MOST_STRANGERS);
  const reads = openReader({ ...remote.repository, alternates: forks.folders }, async (missing, at) => {
    const base = strangers.get(at);
    if (base === undefined && forks.storeOf(at) === undefined) return await bring(missing.map(({ id }) => id));
    const own = base === undefined ? new Set() : await ownIn(reads.trees, { base, at }, missing);
    const wanted = missing.flatMap(({ id, ours }) => (ours === true || own.has(id) ? [id] : []));
    await bring(wanted, { bounded: true });
  });
  const mergeTree: Mirror["mergeTree"] = async (base, head) => {
    const store = forks.storeOf(head);
    if (store === undefined) return await reads.mergeTree(base, head);
    strangers.set(head, base);
    const merged = await reads.mergeTree(base, head, store);
    if ("tree" in merged) strangers.set(merged.tree, base);
    return merged;
  };
  return { ...reads, mergeTree };
}

/** Of contents that are missing at a stranger's tree, those that the base has at that path, or had before it was moved. */
async function ownIn(trees: Trees, { base, at }: { base: string; at: string }, missing: readonly Missing[]): Promise<ReadonlySet<string>> {
  const root = await trees.root(objectId(base));
  const own = new Set<string>();
  for (const { id, path } of missing) {
    const entry = path === "" ? null : await trees.entry(root, path).catch(() => null);
    if (entry?.id === id) own.add(id);
  }
  if (missing.every(({ id, ours }) => ours === true || own.has(id))) return own;
  for (const { from } of await diffTrees(trees.tree, root, await trees.root(objectId(at)))) if (from !== undefined) own.add(from.id);
  return own;
}

async function makeBare(repository: Repository, url: string): Promise<void> {
  const { directory } = repository;
  mkdirSync(directory, { recursive: true });
  try {
    if (!existsSync(join(directory, "HEAD"))) {
      await runGit(repository, ["init", "--bare", "--quiet", "--template=", "--initial-branch=stagecoach-none"]);
    }
    // Noted once it is whole: a start that finds it so asks git nothing.
    const configured = join(directory, CONFIGURED);
    if (readText(configured) === url) return;
    await runGit(repository, ["config", `remote.${REMOTE_NAME}.url`, url]);
    await runGit(repository, ["config", `remote.${REMOTE_NAME}.fetch`, "+refs/heads/*:refs/heads/*"]);
    writeFileSync(configured, url);
  } catch (error) {
    throw gitError(`make a mirror in ${directory}`, error);
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function noteFile({ directory }: Repository, name: string): string {
  return join(directory, NOTES, encodeURIComponent(name));
}

/** Whole or not at all: a process killed meanwhile leaves the note of before. */
async function writeNote(file: string, commit: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, `${commit}\n`);
  await rename(`${file}.new`, file);
}

async function readNote(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  return text === undefined ? undefined : objectId(text.trim());
}
