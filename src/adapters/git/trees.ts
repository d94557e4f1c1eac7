import type { CatFile } from "./cat-file.ts";
import { GitError } from "./port.ts";

export interface TreeEntry {
  mode: string;
  id: string;
}

type Tree = ReadonlyMap<string, TreeEntry>;

export const SYMLINK = "120000";
export const SUBMODULE = "160000";
export const DIRECTORY = "40000";

/** More entries than any directory a person made, read in 150 ms; a tree object over this is refused, not read. */
const MAX_TREE_BYTES = 4 * 1024 * 1024;
const MAX_CACHED_ENTRIES = 300_000;

export interface Trees {
  /** The root tree of a commit, a tag or a tree itself. GitError `NotFound` for an unknown id. */
  root(id: string): Promise<string>;
  tree(id: string): Promise<Tree>;
  /** Entry at a checked path; null where there is none. A symlink on the way there is GitError `Symlink`. */
  entry(root: string, path: string): Promise<TreeEntry | null>;
  /** Paths of all regular files, or symbolic links, at and below a checked path, in git's order; `""` is the root. Follows no link. */
  files(root: string, path: string, kind: "file" | "link"): Promise<string[]>;
}

/** Entries below a folder: more than any repository that is known. Folders that hold one another again and again have more. */
const MOST_BELOW = 1_000_000;
/** Of folders in folders, as a path has at most. */
const DEEPEST = 2_000;

/** Walks trees by hand: `COMMIT:path` would follow nothing and tell no mode, and a symlink must never pass for a file. Trees never change, so they are kept. */
export function openTrees(objects: CatFile): Trees {
  const cached = new Map<string, Tree>();
  let entries = 0;

  async function tree(id: string): Promise<Tree> {
    const known = cached.get(id);
    if (known !== undefined) {
      cached.delete(id);
      cached.set(id, known);
      return known;
    }
    const read = await objects.contents(id, MAX_TREE_BYTES);
    if (read === undefined) throw new GitError("NotFound", `no object ${id} in the mirror`);
    if (read.info.size > MAX_TREE_BYTES) throw new GitError("TooLarge", `tree ${id} has ${read.info.size} bytes`);
    if (read.info.type !== "tree") throw new GitError("Invalid", `${id} is no tree`);
    const parsed = parseTree(read.body, id.length / 2);
    // Somebody else may have read it meanwhile.
    if (!cached.has(id)) entries += parsed.size + 1;
    cached.set(id, parsed);
    for (const [oldest, { size }] of cached) {
      if (entries <= MAX_CACHED_ENTRIES || oldest === id) break;
      cached.delete(oldest);
      entries -= size + 1;
    }
    return parsed;
  }

  return {
    root: (id) => rootOf(objects, id),
    tree,
    entry: (root, path) => entryOf(tree, root, path),
    files: (root, path, kind) => filesOf(tree, root, path, kind),
  };
}

async function entryOf(tree: Trees["tree"], rootTree: string, path: string): Promise<TreeEntry | null> {
  const parts = path.split("/");
  const name = parts.pop() ?? "";
  let at = rootTree;
  for (const [depth, part] of parts.entries()) {
    const found = (await tree(at)).get(part);
    if (found?.mode === SYMLINK) {
      throw new GitError("Symlink", `${path}: ${parts.slice(0, depth + 1).join("/")} is a symbolic link; name the real directory`);
    }
    if (found?.mode !== DIRECTORY) return null;
    at = found.id;
  }
  return (await tree(at)).get(name) ?? null;
}

async function filesOf(tree: Trees["tree"], root: string, path: string, kind: "file" | "link"): Promise<string[]> {
  const mode = kind === "file" ? "100" : SYMLINK;
  if (path === "") return pathsBelow(root, "", mode, await foldersBelow(tree, root));
  const at = await entryOf(tree, root, path).catch((error: unknown) => {
    if (error instanceof GitError && error.kind === "Symlink") return null;
    throw error;
  });
  if (at?.mode === DIRECTORY) return pathsBelow(at.id, `${path}/`, mode, await foldersBelow(tree, at.id));
  return at?.mode.startsWith(mode) === true ? [path] : [];
}

/** Each folder at and below one, by its id: read once, however often it stands there. */
async function foldersBelow(tree: Trees["tree"], top: string): Promise<Map<string, Tree>> {
  const found = new Map<string, Tree>();
  let wave = [top];
  let left = MOST_BELOW;
  for (let depth = 0; wave.length > 0; depth++) {
    if (depth > DEEPEST) throw tooMuchBelow(top);
    const read = await readTrees(tree, wave, left);
    if (read === undefined) throw tooMuchBelow(top);
    for (const [id, one] of read) {
      found.set(id, one);
      left -= one.size + 1;
    }
    const next = [...read].flatMap(([, one]) => [...one.values()].flatMap(({ mode, id }) => (mode === DIRECTORY ? [id] : [])));
    wave = [...new Set(next)].filter((id) => !found.has(id));
  }
  return found;
}

/** So many are read at once: of large ones no more than memory has room for. */
const AT_ONCE = 16;

/** Reads these trees, by id. undefined: together they have more than `most` entries, which are not all held. */
export async function readTrees(tree: Trees["tree"], ids: Iterable<string>, most: number): Promise<Map<string, Tree> | undefined> {
  const read = new Map<string, Tree>();
  const wanted = [...ids];
  let left = most;
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const some = await Promise.all(wanted.slice(at, at + AT_ONCE).map(async (id) => [id, await tree(id)] as const));
    for (const [id, one] of some) {
      read.set(id, one);
      left -= one.size + 1;
    }
    if (left < 0) return undefined;
  }
  return read;
}

function tooMuchBelow(id: string): GitError {
  return new GitError("TooLarge", `tree ${id} has more below it than a repository has`);
}

/** Counted before they are written out: a few folders that hold one another may stand for more paths than there is memory. */
function pathsBelow(top: string, prefix: string, mode: string, folders: ReadonlyMap<string, Tree>): string[] {
  const counts = new Map<string, number>();
  const count = (id: string): number => {
    const known = counts.get(id);
    if (known !== undefined) return known;
    let sum = 0;
    for (const one of folders.get(id)?.values() ?? []) sum += one.mode === DIRECTORY ? 1 + count(one.id) : 1;
    counts.set(id, sum);
    return sum;
  };
  if (count(top) > MOST_BELOW) throw tooMuchBelow(top);
  const paths: string[] = [];
  const walk = (id: string, at: string): void => {
    for (const [name, one] of folders.get(id) ?? []) {
      if (one.mode === DIRECTORY) walk(one.id, `${at}${name}/`);
      else if (one.mode.startsWith(mode)) paths.push(`${at}${name}`);
    }
  };
  walk(top, prefix);
  return paths;
}

async function rootOf(objects: CatFile, id: string): Promise<string> {
  const read = await objects.contents(id);
  if (read === undefined) throw new GitError("NotFound", `no commit ${id} in the mirror; fetch first`);
  if (read.info.type === "tree") return id;
  const found = /^(?:tree|object) ([0-9a-f]+)/.exec(read.body.toString("latin1", 0, 80));
  if (read.info.type === "blob" || found?.[1] === undefined) throw new GitError("Invalid", `${id} is a ${read.info.type}, no commit`);
  return read.info.type === "tag" ? await rootOf(objects, found[1]) : found[1];
}

/** `MODE NAME\0ID…`, the id in raw bytes. */
function parseTree(body: Buffer, idBytes: number): Tree {
  const tree = new Map<string, TreeEntry>();
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(32, at);
    const end = body.indexOf(0, space);
    const id = body.toString("hex", end + 1, end + 1 + idBytes);
    // Old tools wrote `040000`.
    const mode = body.toString("latin1", body[at] === 0x30 ? at + 1 : at, space);
    tree.set(body.toString("utf8", space + 1, end), { mode, id });
    at = end + 1 + idBytes;
  }
  return tree;
}
