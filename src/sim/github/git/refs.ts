import { type Dirent, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compareText } from "../../../core/base/compare-text.ts";

/** Every ref of a bare repository as it stands on its disk, in git's order. Reading it starts no process. */
export interface RefsOnDisk {
  /** Full name that HEAD stands for. */
  head: string;
  /** Full name → object id, sorted by name. */
  refs: ReadonlyMap<string, string>;
}

const ID = /^[0-9a-f]{40,64}/;

export function readRefs(dir: string): RefsOnDisk {
  const found = readPacked(dir);
  // A loose ref wins over the same one packed.
  walk(dir, "refs", found);
  const head = /^ref: (\S+)/.exec(readText(join(dir, "HEAD")))?.[1] ?? "";
  const byName = ([a]: [string, string], [b]: [string, string]) => compareText(a, b);
  return { head, refs: new Map([...found].sort(byName)) };
}

/** Id a full ref name points to as it stands on the disk; undefined: there is no such ref. */
export function readRef(dir: string, name: string): string | undefined {
  return ID.exec(readText(join(dir, name)))?.[0] ?? readPacked(dir).get(name);
}

function walk(dir: string, folder: string, found: Map<string, string>): void {
  for (const entry of list(join(dir, folder))) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) walk(dir, name, found);
    else if (!name.endsWith(".lock")) {
      const id = ID.exec(readText(join(dir, name)))?.[0];
      if (id !== undefined) found.set(name, id);
    }
  }
}

function readPacked(dir: string): Map<string, string> {
  const lines = readText(join(dir, "packed-refs")).split("\n");
  return new Map(
    lines.map((line) => line.split(" ")).flatMap(([id = "", name = ""]) => (ID.test(id) ? [[name, id] as [string, string]] : [])),
  );
}

/** A ref may be taken away between two looks: what is gone is empty. */
function list(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
