/**
 * Reads a repository on disk: files, history, merges tried out. Nothing here writes, or asks a remote. Opened by `mirror.ts` and by the CLI
 * on a checkout.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { printFolder } from "../../core/base/folder.ts";
import { type BringMissing, type CatFile, type Missing, openCatFile } from "./cat-file.ts";
import { readFolder } from "./folder.ts";
import { gitError } from "./git-errors.ts";
import { mergeTree } from "./merge-tree.ts";
import { objectId, repositoryPath } from "./names.ts";
import { type CommitInfo, GitError, type Mirror } from "./port.ts";
import { type Repository, runGit } from "./run-git.ts";
import { parseCommit } from "./signing/commit-object.ts";
import { diffTrees } from "./tree-diff.ts";
import { DIRECTORY, openTrees, SUBMODULE, SYMLINK, type TreeEntry, type Trees } from "./trees.ts";

const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;
/** A repository has one first commit, or a few where histories were joined. */
const MOST_ROOTS = 50;

/** The reading half of a mirror: works on any repository, a plain checkout's `.git` too, and never writes. */
export interface GitReader
  extends Pick<
    Mirror,
    | "readFiles"
    | "bring"
    | "listFiles"
    | "isAncestor"
    | "firstParentLog"
    | "commitInfo"
    | "changedPaths"
    | "commitObject"
    | "tree"
    | "rootOf"
    | "rootsOf"
    | "modes"
    | "close"
  > {
  readonly trees: Trees;
  /** Commit a checked full ref name points to, tags resolved; undefined: no such ref. */
  refCommit(ref: string): Promise<string | undefined>;
  /** As the mirror's; what it makes is written to the folder of objects that is named. */
  mergeTree(base: string, head: string, objects?: string): ReturnType<Mirror["mergeTree"]>;
}

/** Reads what is in the repository already. Without `bring` the remote is never asked. */
export function openReader(repository: Repository, bring: BringMissing = async () => undefined): GitReader {
  const objects = openCatFile(repository);
  const trees = openTrees(objects);
  const inside = { objects, trees, bring };
  return {
    trees,
    refCommit: (ref) => refCommit(objects, ref),
    commitInfo: (sha) => commitInfo(objects, sha),
    async commitObject(sha) {
      const read = await objects.contents(objectId(sha));
      return read?.info.type === "commit" ? read.body : undefined;
    },
    tree: (id) => trees.tree(objectId(id)),
    async rootOf(commit) {
      // Where the history is cut off, what lies there looks like a first commit.
      if (existsSync(join(repository.directory, "shallow"))) return undefined;
      const args = ["rev-list", "--first-parent", "--max-parents=0", "--end-of-options", objectId(commit), "--"];
      const { stdout } = await local(repository, `find the first commit below ${commit}`, args);
      return objectId(stdout.trim().split("\n").at(-1) ?? "");
    },
    async rootsOf(commit) {
      if (existsSync(join(repository.directory, "shallow"))) return undefined;
      const args = ["rev-list", "--max-parents=0", `--max-count=${MOST_ROOTS}`, "--end-of-options", objectId(commit), "--"];
      const { stdout } = await local(repository, `find the first commits below ${commit}`, args);
      return stdout.trim().split("\n").map(objectId);
    },
    modes: (commit, paths) => modes(trees, commit, paths),
    readFiles: (commit, paths, { maxBytes = DEFAULT_MAX_BYTES } = {}) => readFiles(inside, commit, paths, maxBytes),
    bring: (commit, paths) => bringFiles(inside, commit, paths),
    async firstParentLog(from, to, limit) {
      const shas = await firstParents(repository, from, to, limit);
      const infos = await Promise.all(shas.slice(0, limit).map((sha) => commitInfo(objects, sha)));
      return infos.filter((info) => info !== undefined);
    },
    async listFiles(commit, prefix = "", kind = "file") {
      const below = prefix.replace(/(?<!\/)\/+$/, "");
      return await trees.files(await trees.root(objectId(commit)), below === "" ? "" : repositoryPath(below), kind);
    },
    async isAncestor(ancestor, descendant) {
      return (await isNear(objects, objectId(ancestor), objectId(descendant))) || (await isAncestor(repository, ancestor, descendant));
    },
    async changedPaths(from, to) {
      const [before, after] = await Promise.all([from, to].map((commit) => trees.root(objectId(commit))));
      return (await diffTrees(trees.tree, before, after)).map(({ path }) => path);
    },
    async mergeTree(base, head, folder) {
      const onto = objectId(base);
      const top = await objects.contents(objectId(head));
      const commit = top?.info.type === "commit" ? parseCommit(head, top.body) : undefined;
      // Right on top of the base: merged it is as it stands, and no process has to try.
      if (commit?.parents.length === 1 && commit.parents[0] === onto) return { tree: commit.tree };
      const into = folder === undefined ? repository : { ...repository, objects: folder };
      return await mergeTree({ repository: into, objects, trees, bring: (missing) => bring(missing, head) }, onto, objectId(head));
    },
    close: async () => objects.close(),
  };
}

async function refCommit(objects: CatFile, ref: string): Promise<string | undefined> {
  const read = await objects.contents(ref);
  if (read?.info.type !== "tag") return read?.info.id;
  const target = /^object ([0-9a-f]+)/.exec(read.body.toString("latin1", 0, 80))?.[1];
  return target === undefined ? undefined : await refCommit(objects, target);
}

async function commitInfo(objects: CatFile, sha: string): Promise<CommitInfo | undefined> {
  const read = await objects.contents(objectId(sha));
  if (read?.info.type !== "commit") return undefined;
  const { tree: _, ...info } = parseCommit(sha, read.body);
  return info;
}

async function modes(trees: Trees, commit: string, paths: readonly string[]): Promise<Map<string, string>> {
  const root = await trees.root(objectId(commit));
  const found = new Map<string, string>();
  for (const path of paths) {
    const entry = await trees.entry(root, repositoryPath(path));
    if (entry !== null) found.set(path, entry.mode);
  }
  return found;
}

interface Wanted {
  root: string;
  maxBytes: number;
}

interface Inside {
  objects: CatFile;
  trees: Trees;
  bring: BringMissing;
}

async function readFiles({ objects, trees, bring }: Inside, commit: string, paths: readonly string[], maxBytes: number) {
  const root = await trees.root(objectId(commit));
  const read = () => readAll(objects, trees, { root, maxBytes }, paths);
  const first = await read();
  if (first.missing.length > 0) await bring(first.missing, commit);
  const { texts, missing, failed } = first.missing.length > 0 ? await read() : first;
  if (failed !== undefined) throw failed.reason;
  const left = missing.find(({ path }) => paths.includes(path));
  if (left !== undefined) throw new GitError("TooLarge", `${left.path}: its content ${left.id} is not in the mirror, as it is too large`);
  return texts;
}

async function bringFiles({ objects, trees, bring }: Inside, commit: string, paths: readonly string[]): Promise<void> {
  const root = await trees.root(objectId(commit));
  const entries = await Promise.all(paths.map((path) => trees.entry(root, repositoryPath(path)).catch(() => null)));
  const missing = (await missingOf(objects, entries)).map(({ id, at }) => ({ id, path: paths[at] ?? "" }));
  if (missing.length > 0) await bring(missing, commit);
}

/** `failed`: one that must not be read. The others have been looked for all the same, so that what is missing comes in one go. */
async function readAll(objects: CatFile, trees: Trees, wanted: Wanted, paths: readonly string[]) {
  const missing: Missing[] = [];
  const read = await Promise.allSettled(paths.map((path) => readOne(objects, trees, { ...wanted, path }, missing)));
  const failed = read.find((one) => one.status === "rejected");
  const textOf = (at: number) => (read[at]?.status === "fulfilled" ? read[at].value : null);
  return { texts: new Map(paths.map((path, at) => [path, textOf(at)])), missing, failed };
}

async function readOne(
  objects: CatFile,
  trees: Trees,
  { root, path, maxBytes }: Wanted & { path: string },
  missing: Missing[],
): Promise<string | null> {
  if (path.endsWith("/")) {
    const found = await readFolder(objects, trees, root, repositoryPath(path.slice(0, -1)));
    for (const file of found?.missing ?? []) missing.push({ id: file.id, path: `${path}${file.path}` });
    return found === null ? null : printFolder(found.folder);
  }
  const entry = await trees.entry(root, repositoryPath(path));
  if (entry === null || entry.mode === DIRECTORY) return null;
  if (entry.mode === SYMLINK) throw new GitError("Symlink", `${path} is a symbolic link; name the file it points to`);
  if (entry.mode === SUBMODULE) throw new GitError("Invalid", `${path} is a submodule, whose files are in another repository`);
  const read = await objects.contents(entry.id, maxBytes);
  if (read === undefined) {
    missing.push({ id: entry.id, path });
    return null;
  }
  const { size } = read.info;
  if (size > maxBytes)
    throw new GitError("TooLarge", `${path} has ${Math.ceil(size / 1024)} KiB; at most ${Math.floor(maxBytes / 1024)} are read`, {
      bytes: size,
    });
  return read.body.toString("utf8");
}

/** Of files, those whose content is not here. */
async function missingOf(objects: CatFile, entries: readonly (TreeEntry | null)[]): Promise<{ id: string; at: number }[]> {
  const found = await Promise.all(
    entries.map(async (entry, at) => {
      if (entry === null || !entry.mode.startsWith("100") || (await objects.info(entry.id)) !== undefined) return [];
      return [{ id: entry.id, at }];
    }),
  );
  return found.flat();
}

/** Oldest first. */
async function firstParents(repository: Repository, from: string | undefined, to: string, limit: number | undefined): Promise<string[]> {
  const args = ["rev-list", "--first-parent"];
  if (from === undefined && limit !== undefined) args.push(`--max-count=${Math.max(0, Math.floor(limit))}`);
  args.push("--end-of-options", objectId(to));
  if (from !== undefined) args.push(`^${objectId(from)}`);
  const { stdout } = await local(repository, `read the log up to ${to}`, [...args, "--"]);
  return stdout.split("\n").filter(Boolean).reverse();
}

async function local(repository: Repository, doing: string, args: readonly string[], answers: readonly number[] = [0]) {
  try {
    return await runGit(repository, args, { answers });
  } catch (error) {
    throw gitError(doing, error);
  }
}

async function isAncestor(repository: Repository, ancestor: string, descendant: string): Promise<boolean | undefined> {
  const args = ["merge-base", "--is-ancestor", objectId(ancestor), objectId(descendant)];
  const { exitCode } = await local(repository, `compare ${ancestor} with ${descendant}`, args, [0, 1, 128]);
  return exitCode === 128 ? undefined : exitCode === 0;
}

/** Generations of first parents that are looked at without a process: most who ask, ask of a commit just below. */
const NEAR = 8;

/** Whether the one is the other or one of its parents, or of those of its first parents a few generations down. */
async function isNear(objects: CatFile, ancestor: string, descendant: string): Promise<boolean> {
  let at: string | undefined = descendant;
  for (let generation = 0; generation < NEAR && at !== undefined; generation++) {
    const info: CommitInfo | undefined = await commitInfo(objects, at);
    if (info === undefined) return false;
    if (at === ancestor || info.parents.includes(ancestor)) return true;
    at = info.parents[0];
  }
  return false;
}
