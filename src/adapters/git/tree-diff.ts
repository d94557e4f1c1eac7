/**
 * Compares two trees entry by entry. Only those below which something differs are read, and trees never change, so whoever keeps what was read
 * compares the next commit with this one for next to nothing, and without a process. Used by `reader.ts`, and by the embedded GitHub.
 */
import { compareText } from "../../core/base/compare-text.ts";
import { GitError } from "./port.ts";
import { DIRECTORY, readTrees, type TreeEntry } from "./trees.ts";

/** A file, link or submodule that differs; `from` or `to` is absent where it is on one side only. */
interface TreeChange {
  path: string;
  from?: TreeEntry | undefined;
  to?: TreeEntry | undefined;
}

type ReadTree = (id: string) => Promise<ReadonlyMap<string, TreeEntry>>;

const EMPTY: ReadonlyMap<string, TreeEntry> = new Map();
/** Trees that hold one another several times each make a few objects stand for millions of files: nobody who changes a config repo does that. */
const MOST_CHANGES = 500_000;
/** Entries of the folders of one depth, of both sides. */
const MOST_READ = 1_000_000;
/** As long as an operating system takes. */
const LONGEST_PATH = 4096;

interface Folders {
  prefix: string;
  from: string | undefined;
  to: string | undefined;
}

/** By path. undefined: an empty tree. GitError `TooLarge` where too much differs. */
export async function diffTrees(read: ReadTree, from: string | undefined, to: string | undefined): Promise<TreeChange[]> {
  const found: TreeChange[] = [];
  for (let level: Folders[] = [{ prefix: "", from, to }]; level.length > 0; ) {
    const below: Folders[] = [];
    const ids = new Set(level.flatMap((one) => [one.from, one.to]).filter((id) => id !== undefined));
    const trees = await readTrees(read, ids, MOST_READ);
    if (trees === undefined) throw new GitError("TooLarge", `folders of more than ${MOST_READ} files differ`);
    const treeOf = (id: string | undefined) => (id === undefined ? undefined : trees.get(id)) ?? EMPTY;
    for (const { prefix, ...one } of level) {
      if (prefix.length > LONGEST_PATH) throw new GitError("TooLarge", "folders in folders differ, too deep for any computer");
      const [old, now] = [treeOf(one.from), treeOf(one.to)];
      for (const name of new Set([...old.keys(), ...now.keys()])) compare(`${prefix}${name}`, old.get(name), now.get(name), below);
      if (found.length + below.length > MOST_CHANGES) throw new GitError("TooLarge", `more than ${MOST_CHANGES} paths differ`);
    }
    level = below;
  }
  return found.sort((a, b) => compareText(a.path, b.path));

  function compare(path: string, old: TreeEntry | undefined, now: TreeEntry | undefined, below: Folders[]): void {
    if (old?.id === now?.id && old?.mode === now?.mode) return;
    const [folder, next] = [old, now].map((entry) => (entry?.mode === DIRECTORY ? entry.id : undefined));
    const file = { path, from: folder === undefined ? old : undefined, to: next === undefined ? now : undefined };
    if (file.from !== undefined || file.to !== undefined) found.push(file);
    if (folder !== undefined || next !== undefined) below.push({ prefix: `${path}/`, from: folder, to: next });
  }
}
