/** Reads a directory of a commit for whoever copies it: `core/base/folder.ts` says what of it is told. Used by `reader.ts`. */
import { defined } from "../../core/base/defined.ts";
import {
  EMPTY_TREE,
  type Folder,
  type FolderFault,
  type FolderFile,
  leadsOut,
  MOST_FILES,
  MOST_FOLDER_BYTES,
} from "../../core/base/folder.ts";
import type { CatFile } from "./cat-file.ts";
import { DIRECTORY, SUBMODULE, SYMLINK, type Trees } from "./trees.ts";

/** As long as a path may be. */
const MOST_LINK_BYTES = 4096;
/** Folders that hold no file are none in Git; these hold folders that hold folders. */
const MOST_FOLDERS = 4 * MOST_FILES;

/**
 * null: there is nothing at that path. `missing`: files whose content is not here, so that whether it can be copied is not known yet. Throws GitError
 * `Symlink` where the way there is one.
 */
export async function readFolder(
  objects: CatFile,
  trees: Trees,
  root: string,
  path: string,
): Promise<{ folder: Folder; missing: readonly FolderFile[] } | null> {
  const entry = await trees.entry(root, path);
  if (entry === null) return null;
  const nothing = (fault: FolderFault) => ({ folder: { id: EMPTY_TREE, files: [], fault }, missing: [] });
  if (entry.mode === SUBMODULE) return nothing({ kind: "Submodule", at: "" });
  if (entry.mode !== DIRECTORY) return nothing({ kind: "File" });
  const { files, many } = await filesBelow(trees, entry.id);
  if (many) return { folder: { id: entry.id, files, fault: { kind: "Many", most: MOST_FILES } }, missing: [] };
  const sizes = await Promise.all(files.map(async ({ mode, id }) => (mode === SUBMODULE ? 0 : (await objects.info(id))?.size)));
  const fault = await faultOf(objects, files, sizes);
  return { folder: defined({ id: entry.id, files, fault }), missing: files.filter((_, at) => sizes[at] === undefined) };
}

async function filesBelow(trees: Trees, top: string): Promise<{ files: FolderFile[]; many: boolean }> {
  const files: FolderFile[] = [];
  const folders = [{ id: top, at: "" }];
  for (let seen = 0; seen < folders.length; seen++) {
    const { id, at } = folders[seen] ?? { id: top, at: "" };
    for (const [name, entry] of await trees.tree(id)) {
      if (files.length >= MOST_FILES || folders.length > MOST_FOLDERS) return { files, many: true };
      if (entry.mode === DIRECTORY) folders.push({ id: entry.id, at: `${at}${name}/` });
      else files.push({ path: `${at}${name}`, mode: entry.mode, id: entry.id });
    }
  }
  return { files, many: false };
}

async function faultOf(
  objects: CatFile,
  files: readonly FolderFile[],
  sizes: readonly (number | undefined)[],
): Promise<FolderFault | undefined> {
  const bytes = sizes.reduce<number>((sum, size = Infinity) => sum + size, 0);
  if (bytes > MOST_FOLDER_BYTES) return { kind: "Large", most: MOST_FOLDER_BYTES };
  for (const { path, mode, id } of files) {
    if (mode === SUBMODULE) return { kind: "Submodule", at: path };
    if (mode !== SYMLINK) continue;
    const link = await objects.contents(id, MOST_LINK_BYTES);
    if (link === undefined || link.info.size > MOST_LINK_BYTES || leadsOut(path, link.body.toString("utf8")))
      return { kind: "Link", at: path };
  }
  return undefined;
}
