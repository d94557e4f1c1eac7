/** A directory of a checkout as Git would have it once it is committed: `core/base/folder.ts` says what of it is told. Read by `lint-checkout.ts`. */

import { createHash } from "node:crypto";
import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { defined } from "../../../core/base/defined.ts";
import {
  EMPTY_TREE,
  type Folder,
  type FolderFault,
  type FolderFile,
  leadsOut,
  MOST_FILES,
  MOST_FOLDER_BYTES,
} from "../../../core/base/folder.ts";

interface Found {
  files: FolderFile[];
  bytes: number;
  fault?: FolderFault;
}

/** null: there is nothing, or no file in it, which is nothing for Git. */
export function checkoutFolder(full: string): Folder | null {
  const stat = lstatSync(full, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  if (!stat.isDirectory()) return { id: EMPTY_TREE, files: [], fault: { kind: "File" } };
  const found: Found = { files: [], bytes: 0 };
  const id = treeOf(full, "", found);
  if (id === EMPTY_TREE && found.fault === undefined) return null;
  return defined({ id, files: found.files, fault: found.fault });
}

interface Entry {
  mode: string;
  name: string;
  id: string;
}

function treeOf(full: string, at: string, found: Found): string {
  const entries: Entry[] = [];
  for (const entry of readdirSync(full, { withFileTypes: true })) {
    if (entry.name === ".git") {
      if (at !== "") found.fault ??= { kind: "Submodule", at: at.slice(0, -1) };
      continue;
    }
    // What is too much is not read to its end.
    if (found.fault?.kind === "Many" || found.fault?.kind === "Large") break;
    const made = entryOf(full, `${at}${entry.name}`, entry, found);
    if (made !== undefined) entries.push(made);
  }
  // Git sorts a directory as if its name ended in a slash.
  const key = ({ mode, name }: Entry) => Buffer.from(mode === "40000" ? `${name}/` : name);
  const sorted = entries.toSorted((a, b) => Buffer.compare(key(a), key(b)));
  return hash("tree", Buffer.concat(sorted.flatMap(({ mode, name, id }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")])));
}

function entryOf(folder: string, path: string, entry: Dirent, found: Found): Entry | undefined {
  const full = join(folder, entry.name);
  if (entry.isDirectory()) {
    const id = treeOf(full, `${path}/`, found);
    return id === EMPTY_TREE ? undefined : { mode: "40000", name: entry.name, id };
  }
  if (!entry.isFile() && !entry.isSymbolicLink()) return undefined;
  const stat = lstatSync(full);
  found.bytes += stat.size;
  if (found.files.length >= MOST_FILES) found.fault ??= { kind: "Many", most: MOST_FILES };
  if (found.bytes > MOST_FOLDER_BYTES) found.fault ??= { kind: "Large", most: MOST_FOLDER_BYTES };
  if (found.fault?.kind === "Many" || found.fault?.kind === "Large") return undefined;
  const isLink = entry.isSymbolicLink();
  const body = isLink ? Buffer.from(readlinkSync(full)) : readFileSync(full);
  if (isLink && leadsOut(path, body.toString("utf8"))) found.fault ??= { kind: "Link", at: path };
  const mode = isLink ? "120000" : (stat.mode & 0o100) !== 0 ? "100755" : "100644";
  const id = hash("blob", body);
  found.files.push({ path, mode, id });
  return { mode, name: entry.name, id };
}

function hash(type: "blob" | "tree", body: Buffer): string {
  return createHash("sha1").update(`${type} ${body.length}\0`).update(body).digest("hex");
}
