/**
 * A directory of the repo as one text: its tree in Git and every file below it. It is read where files are read, by its name with a slash at
 * the end, so that whatever stands for a repo's files stands for its directories, too. Printed by `adapters/git/folder.ts` and by the CLI.
 */
import { isRecord } from "./is-record.ts";
import type { RepoFiles } from "./repo-files.ts";

/** The tree without entries: what a directory is that is not there. */
export const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

export const MOST_FILES = 1000;
export const MOST_FOLDER_BYTES = 32 * 1024 * 1024;

/** Why a directory cannot be copied, or over. `Link`: one that leads out of it. `at`: below it. */
export type FolderFault = { kind: "File" } | { kind: "Link" | "Submodule"; at: string } | { kind: "Many" | "Large"; most: number };

/** A file or a link, by its path below the directory; `id` is its content's. */
export interface FolderFile {
  path: string;
  mode: string;
  id: string;
}

export interface Folder {
  /** Its tree. Files' modes are in it, so that two directories of one id are the same to the last byte. */
  id: string;
  /** By path; the first of them where there are too many. */
  files: readonly FolderFile[];
  fault?: FolderFault | undefined;
}

/** What differs between two directories, by paths below them. */
export interface FolderChanges {
  added: string[];
  changed: string[];
  removed: string[];
}

export function printFolder(folder: Folder): string {
  return JSON.stringify(folder);
}

/** null: it is not there. Throws where it must not be read, such as behind a symbolic link. */
export function folderIn(files: Pick<RepoFiles, "read">, path: string): Folder | null {
  const text = files.read(`${path}/`);
  if (text === null) return null;
  const parsed: unknown = JSON.parse(text);
  if (!isRecord(parsed) || typeof parsed["id"] !== "string" || !Array.isArray(parsed["files"])) throw new Error("it is not a directory");
  return parsed as unknown as Folder;
}

export function changesBetween(before: Folder | null, after: Folder | null): FolderChanges {
  const [was, is] = [before, after].map((one) => new Map((one?.files ?? []).map(({ path, mode, id }) => [path, `${mode} ${id}`])));
  const changes: FolderChanges = { added: [], changed: [], removed: [] };
  for (const [path, what] of is ?? []) {
    const old = was?.get(path);
    if (old !== what) (old === undefined ? changes.added : changes.changed).push(path);
  }
  for (const path of was?.keys() ?? []) if (is?.has(path) !== true) changes.removed.push(path);
  return changes;
}

/** Whether a link in a directory may lead out of it: copied, it would mean something else, or nothing at all. Where a name is a link itself, its `..` is not known. */
export function leadsOut(path: string, link: string): boolean {
  if (link.startsWith("/") || link.includes("\\") || link.includes("\0")) return true;
  const steps = path.split("/").slice(0, -1);
  let isNamed = false;
  for (const step of link.split("/")) {
    if (step === "..") {
      if (isNamed || steps.pop() === undefined) return true;
    } else if (step !== "" && step !== ".") isNamed = true;
  }
  return false;
}

/** Without the slash that people end a directory's name with. */
export function plainFolder(folder: string): string {
  return folder.length > 1 && folder.endsWith("/") ? folder.slice(0, -1) : folder;
}

/** How two directories share files; undefined: they do not. */
export function overlapOf(from: string, to: string): "Same" | "ToInside" | "FromInside" | undefined {
  if (from === to) return "Same";
  if (to.startsWith(`${from}/`)) return "ToInside";
  return from.startsWith(`${to}/`) ? "FromInside" : undefined;
}
