import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

/** Real repositories in temporary directories, for tests and benchmarks only. */

const ENV = {
  PATH: process.env["PATH"],
  HOME: tmpdir(),
  /** Nothing is forced to the disk. */
  GIT_TEST_FSYNC: "0",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Dev",
  GIT_AUTHOR_EMAIL: "dev@example.com",
  GIT_COMMITTER_NAME: "Dev",
  GIT_COMMITTER_EMAIL: "dev@example.com",
};

/** Runs git as a person would, in `directory`, and gives back what it printed. */
export function git(directory: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd: directory, env: ENV, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

export interface Workspace {
  directory: string;
  /** The bare repository that plays the remote. */
  origin: string;
  /** A checkout with `origin` as its remote. */
  checkout: string;
  /** Writes files, commits and pushes; returns the commit. */
  commitFiles(files: Record<string, string | null>, message?: string): string;
  /** Writes into the checkout, without a commit. */
  writeFile(path: string, text: string): void;
  link(path: string, target: string): void;
  remove(): void;
}

const FORMAT = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n";
/** git keeps house after commits and pushes, by processes that no test waits for. */
const NO_HOUSEKEEPING = "[maintenance]\n\tauto = false\n[gc]\n\tauto = 0\n[receive]\n\tautogc = false\n";

/** What `git init` writes, without a process. */
function init(directory: string, config: string): void {
  for (const folder of ["hooks", "objects/info", "objects/pack", "refs/heads", "refs/tags"])
    mkdirSync(join(directory, folder), { recursive: true });
  writeFileSync(join(directory, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(directory, "config"), `${FORMAT}${NO_HOUSEKEEPING}${config}`);
}

/** Moves the remote's branch to the checkout's, whose objects it has. Gives the commit. */
function push(checkout: string, origin: string): string {
  const own = join(checkout, ".git");
  const branch = readFileSync(join(own, "HEAD"), "utf8").trim().slice("ref: refs/heads/".length);
  const commit = readFileSync(join(own, "refs/heads", branch), "utf8");
  for (const ref of [join(origin, "refs/heads", branch), join(own, "refs/remotes/origin", branch)]) {
    mkdirSync(dirname(ref), { recursive: true });
    writeFileSync(ref, commit);
  }
  return commit.trim();
}

/** All that git wrote in first commits of this process, by what was committed: the same files are written again, without git. */
const firsts = new Map<string, [path: string, content: Buffer][]>();

/** All but the configurations, which name the directory. */
function written(directory: string): [path: string, content: Buffer][] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => relative(directory, join(parentPath, name)));
  const kept = paths.filter((path) => path !== "origin.git/config" && path !== "checkout/.git/config");
  return kept.map((path) => [path, readFileSync(join(directory, path))]);
}

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** A remote with one commit on `main` that holds `files`, and a checkout of it. Both have one store of objects: a push moves a branch, and no more. */
export function workspace(files: Record<string, string> = { "README.md": "hello\n" }): Workspace {
  const directory = mkdtempSync(join(tmpdir(), "stagecoach-git-"));
  const origin = join(directory, "origin.git");
  const checkout = join(directory, "checkout");
  // As GitHub does.
  init(origin, "[core]\n\tbare = true\n[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n");
  const own = join(checkout, ".git");
  init(own, `[remote "origin"]\n\turl = ${origin}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`);
  rmSync(join(own, "objects"), { recursive: true });
  symlinkSync(join(origin, "objects"), join(own, "objects"));
  const writeFile = (path: string, text: string): void => write(join(checkout, path), text);
  const commitFiles: Workspace["commitFiles"] = (changes, message = "change") => {
    for (const [path, text] of Object.entries(changes)) {
      if (text === null) rmSync(join(checkout, path));
      else writeFile(path, text);
    }
    git(checkout, "add", "--all");
    git(checkout, "commit", "--quiet", "--allow-empty", "-m", message);
    return push(checkout, origin);
  };
  const key = JSON.stringify(files);
  const first = firsts.get(key) ?? [];
  for (const [path, content] of first) write(join(directory, path), content);
  if (first.length === 0) {
    commitFiles(files, "first");
    firsts.set(key, written(directory));
  }
  return {
    directory,
    origin,
    checkout,
    commitFiles,
    writeFile,
    link: (path, target) => {
      mkdirSync(dirname(join(checkout, path)), { recursive: true });
      symlinkSync(target, join(checkout, path));
    },
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }),
  };
}
