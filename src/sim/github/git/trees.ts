import type { CatFile } from "./cat-file.ts";
import { writeObject } from "./objects.ts";

export interface TreeEntry {
  /** `100644`, `100755`, `120000`, `160000`, `40000`. */
  mode: string;
  name: string;
  sha: string;
}

/** A file put into a tree; null takes it out. */
export type TreeChange = { mode: string; sha: string } | null;

function parseTree(content: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(32, at);
    const nul = content.indexOf(0, space);
    entries.push({
      mode: content.toString("latin1", at, space),
      name: content.toString("utf8", space + 1, nul),
      sha: content.toString("hex", nul + 1, nul + 21),
    });
    at = nul + 21;
  }
  return entries;
}

export async function readTree(cat: CatFile, revision: string): Promise<TreeEntry[] | undefined> {
  const found = await cat.contents(revision);
  return found?.type === "tree" ? parseTree(found.content) : undefined;
}

function printTree(entries: TreeEntry[]): Buffer {
  // Git sorts a folder as if its name ended in a slash.
  const key = (entry: TreeEntry) => Buffer.from(entry.mode === "40000" ? `${entry.name}/` : entry.name);
  const sorted = entries.map((entry) => ({ entry, key: key(entry) })).sort((a, b) => Buffer.compare(a.key, b.key));
  const parts: Buffer[] = [];
  for (const { entry } of sorted) parts.push(Buffer.from(`${entry.mode} ${entry.name}\0`), Buffer.from(entry.sha, "hex"));
  return Buffer.concat(parts);
}

/** The tree that `changes` (by full path) make of `base`; empty folders go. Gives the first path that is to be removed but is not there as `missing`. */
export async function editTree(
  dir: string,
  cat: CatFile,
  base: string | undefined,
  changes: ReadonlyMap<string, TreeChange>,
): Promise<{ tree: string } | { missing: string }> {
  const entries = new Map<string, TreeEntry>();
  for (const entry of (base === undefined ? undefined : await readTree(cat, base)) ?? []) entries.set(entry.name, entry);
  const below = new Map<string, Map<string, TreeChange>>();
  for (const [path, change] of changes) {
    const slash = path.indexOf("/");
    if (slash >= 0) {
      const folder = path.slice(0, slash);
      below.set(folder, (below.get(folder) ?? new Map<string, TreeChange>()).set(path.slice(slash + 1), change));
    } else if (change !== null) {
      entries.set(path, { mode: change.mode.replace(/^0+/, ""), name: path, sha: change.sha });
    } else if (!entries.delete(path)) {
      return { missing: path };
    }
  }
  for (const [folder, inner] of below) {
    const there = entries.get(folder);
    const edited = await editTree(dir, cat, there?.mode === "40000" ? there.sha : undefined, inner);
    if ("missing" in edited) return { missing: `${folder}/${edited.missing}` };
    if (edited.tree === EMPTY_TREE) entries.delete(folder);
    else entries.set(folder, { mode: "40000", name: folder, sha: edited.tree });
  }
  return { tree: await writeObject(dir, "tree", printTree([...entries.values()])) };
}

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
