/**
 * Works out the id of the tree that a change of the journal gives, without making it: GitHub makes the commit, and the seal, which names the
 * tree, has to be in its message. What was worked out is kept, for the mirror does not have what GitHub made a moment ago.
 */
import { createHash } from "node:crypto";
import { BoundedMap } from "../../../core/base/bounded.ts";
import type { Mirror } from "../port.ts";

type Tree = Awaited<ReturnType<Mirror["tree"]>>;
type Changes = ReadonlyMap<string, string | null>;

const DIRECTORY = "40000";
const PLAIN = "100644";
const MOST_KEPT = 2000;

/** Gives the root tree after a change to that of before; undefined: there was none. `keepModes`: files that are there keep theirs. */
export type NextTree = (before: string | undefined, changes: Changes, keepModes: boolean) => Promise<string>;

export function openNextTree(mirror: Pick<Mirror, "tree">): NextTree {
  const made = new BoundedMap<string, Tree>(MOST_KEPT);

  function keep(tree: Tree): string {
    const id = treeId(tree);
    made.set(id, tree);
    return id;
  }

  async function next(before: string | undefined, changes: Changes, keepModes: boolean): Promise<{ id: string; size: number }> {
    const tree = new Map(before === undefined ? [] : (made.get(before) ?? (await mirror.tree(before))));
    const below = new Map<string, Map<string, string | null>>();
    for (const [path, text] of changes) {
      const slash = path.indexOf("/");
      const name = slash < 0 ? path : path.slice(0, slash);
      if (slash >= 0) below.set(name, (below.get(name) ?? new Map()).set(path.slice(slash + 1), text));
      else if (text === null) tree.delete(name);
      else tree.set(name, { mode: (keepModes ? tree.get(name)?.mode : undefined) ?? PLAIN, id: blobId(text) });
    }
    for (const [name, inside] of below) {
      const there = tree.get(name);
      const { id, size } = await next(there?.mode === DIRECTORY ? there.id : undefined, inside, keepModes);
      // Git keeps no empty directory.
      if (size > 0) tree.set(name, { mode: DIRECTORY, id });
      else if (there?.mode === DIRECTORY) tree.delete(name);
    }
    return { id: keep(tree), size: tree.size };
  }

  return async (before, changes, keepModes) => (await next(before, changes, keepModes)).id;
}

function blobId(text: string): string {
  return objectId("blob", Buffer.from(text));
}

function treeId(tree: Tree): string {
  // Git sorts a directory as if its name ended in a slash.
  const key = (name: string, mode: string) => Buffer.from(mode === DIRECTORY ? `${name}/` : name);
  const rows = [...tree].sort(([a, { mode: x }], [b, { mode: y }]) => Buffer.compare(key(a, x), key(b, y)));
  const body = Buffer.concat(rows.flatMap(([name, { mode, id }]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]));
  return objectId("tree", body);
}

/** The hosts we write to know SHA-1 only. */
function objectId(type: string, body: Buffer): string {
  return createHash("sha1").update(`${type} ${body.length}\0`).update(body).digest("hex");
}
