/**
 * Compares two trees entry by entry. Only those below which something differs are read, and trees never change, so whoever keeps what was read
 * compares the next commit with this one for next to nothing, and without a process. Used by `reader.ts`, and by the embedded GitHub.
 */
import { compareText } from "../../core/base/compare-text.ts";
import { DIRECTORY, type TreeEntry } from "./trees.ts";

/** A file, link or submodule that differs; `from` or `to` is absent where it is on one side only. */
interface TreeChange {
  path: string;
  from?: TreeEntry | undefined;
  to?: TreeEntry | undefined;
}

type ReadTree = (id: string) => Promise<ReadonlyMap<string, TreeEntry>>;

const EMPTY: ReadonlyMap<string, TreeEntry> = new Map();

/** By path. undefined: an empty tree. */
export async function diffTrees(read: ReadTree, from: string | undefined, to: string | undefined): Promise<TreeChange[]> {
  const found: TreeChange[] = [];

  async function compare(before: string | undefined, after: string | undefined, prefix: string): Promise<void> {
    if (before === after) return;
    const [old, now] = await Promise.all([before, after].map((id) => (id === undefined ? EMPTY : read(id))));
    const names = new Set([...(old ?? EMPTY).keys(), ...(now ?? EMPTY).keys()]);
    await Promise.all([...names].map((name) => compareEntry(old?.get(name), now?.get(name), `${prefix}${name}`)));
  }

  async function compareEntry(old: TreeEntry | undefined, now: TreeEntry | undefined, path: string): Promise<void> {
    if (old?.id === now?.id && old?.mode === now?.mode) return;
    const [folder, next] = [old, now].map((entry) => (entry?.mode === DIRECTORY ? entry.id : undefined));
    const file = { path, from: folder === undefined ? old : undefined, to: next === undefined ? now : undefined };
    if (file.from !== undefined || file.to !== undefined) found.push(file);
    if (folder !== undefined || next !== undefined) await compare(folder, next, `${path}/`);
  }

  await compare(from, to, "");
  return found.sort((a, b) => compareText(a.path, b.path));
}
