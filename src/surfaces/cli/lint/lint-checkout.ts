import { type Dirent, existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { GitError } from "../../../adapters/git/port.ts";
import { mebibytes } from "../../../core/base/count.ts";
import { printFolder } from "../../../core/base/folder.ts";
import type { RepoFiles } from "../../../core/base/repo-files.ts";
import { whyOutside } from "../../../core/spec/rules/files.ts";
import { CommandError } from "../command.ts";
import type { Progress } from "../progress.ts";
import { checkoutFolder } from "./checkout-folder.ts";

/** The bot reads no larger ones either. */
const LARGEST = 10 * 1024 * 1024;

/** A plain checkout of a config repo, read as the bot would read the commit: plain files inside it only. */
export interface Checkout extends RepoFiles {
  root: string;
}

/** Opens a folder. It need not be a Git repository. `progress` is told each file that is read. */
export function openCheckout(dir: string, progress?: Pick<Progress, "step">): Checkout {
  if (!existsSync(dir) || !statSync(dir).isDirectory()) throw new CommandError(2, `--repo ${dir} is not a folder`);
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
