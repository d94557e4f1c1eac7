import { createHash } from "node:crypto";
import { type Dirent, existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { GitError } from "../../../adapters/git/port.ts";
import { mebibytes } from "../../../core/base/count.ts";
import { defined } from "../../../core/base/defined.ts";
import {
  EMPTY_TREE,
  type Folder,
  type FolderFault,
  type FolderFile,
  leadsOut,
  MOST_FILES,
  MOST_FOLDER_BYTES,
  printFolder,
} from "../../../core/base/folder.ts";
import type { RepoFiles } from "../../../core/base/repo-files.ts";
import { whyOutside } from "../../../core/spec/rules/files.ts";
import { CommandError } from "../command.ts";
import type { Progress } from "../progress.ts";

/** The bot reads no larger ones either. */
const LARGEST = 10 * 1024 * 1024;

/** A plain checkout of a config repo, read as the bot would read the commit: plain files inside it only. */
export interface Checkout extends RepoFiles {
  root: string;
}

/** Opens a folder. It need not be a Git repository. `progress` is told each file that is read. */
export function openCheckout(dir: string, progress?: Pick<Progress, "step">, given = `--repo ${dir}`): Checkout {
  if (!existsSync(dir) || !statSync(dir).isDirectory()) throw new CommandError(2, `${given} is not a folder`);
  const root = realpathSync(dir);
  const texts = new Map<string, string | null>();
  let listing: readonly string[] | undefined;
  return {
    root,
    made: new WeakMap(),
    read(path) {
      const known = texts.get(path);
      if (known !== undefined) return known;
      progress?.step(path);
      const text = readPlain(root, path);
      texts.set(path, text);
      return text;
    },
    paths() {
      listing ??= [...filesBelow(root, "")].toSorted();
      return listing;
    },
  };
}

/** The names of plain files, as Git would have them: nothing hidden but GitHub's own folder, and no packages. */
function* filesBelow(root: string, folder: string): Generator<string> {
  for (const entry of entriesOf(root, folder)) {
    const path = `${folder}${entry.name}`;
    if (entry.isFile() && !entry.name.startsWith(".")) yield path;
    const passed = entry.name === "node_modules" || (entry.name.startsWith(".") && path !== ".github");
    if (entry.isDirectory() && !passed) yield* filesBelow(root, `${path}/`);
  }
}

/** A folder may go away while it is looked for; one that may not be read is said, since what is in it may matter. */
function entriesOf(root: string, folder: string): Dirent[] {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw new CommandError(2, `the folder ${folder === "" ? root : folder} cannot be read: ${code ?? String(error)}`);
  }
}

function readPlain(root: string, path: string): string | null {
  const isFolder = path.endsWith("/");
  const outside = whyOutside(isFolder ? path.slice(0, -1) : path);
  if (outside !== undefined) throw new Error(`it ${outside}`);
  const full = join(root, isFolder ? path.slice(0, -1) : path);
  if (lstatSync(full, { throwIfNoEntry: false }) === undefined) return null;
  const real = realpathOf(full);
  if (real === undefined) throw new Error("it is a symbolic link to nothing");
  if (real !== full) {
    const where = real.startsWith(root + sep) ? "the bot follows none" : "it leads out of the repo";
    throw new Error(`it is, or is behind, a symbolic link, and ${where}`);
  }
  if (isFolder) {
    const folder = checkoutFolder(full);
    return folder === null ? null : printFolder(folder);
  }
  const stat = statSync(full);
  if (!stat.isFile()) throw new Error("it is not a file");
  if (stat.size > LARGEST)
    throw new GitError("TooLarge", `it has ${mebibytes(stat.size)} MiB; at most ${LARGEST / 1024 / 1024} are read`, {
      bytes: stat.size,
    });
  return readFileSync(full, "utf8");
}

function realpathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The config repo a path belongs to: the nearest folder above that looks like one, else the path's own folder. */
export function repoAround(path: string): string {
  const start = existsSync(path) && statSync(path).isDirectory() ? resolve(path) : dirname(resolve(path));
  for (let dir = start; ; dir = dirname(dir)) {
    // The folder of the rollouts is no repo, whatever lies in it.
    const marks = basename(dir) === "rollouts" ? [".git"] : [".git", "rollouts", join(".github", "stagecoach.yaml")];
    if (marks.some((name) => existsSync(join(dir, name)))) return dir;
    if (dir === dirname(dir)) return start;
  }
}

// A directory of a checkout as Git would have it once it is committed: `core/base/folder.ts` says what of it is told.

interface Found {
  files: FolderFile[];
  bytes: number;
  fault?: FolderFault;
}

/** null: there is nothing, or no file in it, which is nothing for Git. */
function checkoutFolder(full: string): Folder | null {
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
