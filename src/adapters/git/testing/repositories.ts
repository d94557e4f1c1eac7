import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

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

/** A remote with one commit on `main` that holds `files`, and a checkout of it. */
export function workspace(files: Record<string, string> = { "README.md": "hello\n" }): Workspace {
  const directory = mkdtempSync(join(tmpdir(), "stagecoach-git-"));
  const origin = join(directory, "origin.git");
  const checkout = join(directory, "checkout");
  git(directory, "init", "--bare", "--quiet", "--initial-branch=main", origin);
  // As GitHub does.
  git(origin, "config", "uploadpack.allowFilter", "true");
  git(origin, "config", "uploadpack.allowAnySHA1InWant", "true");
  git(directory, "init", "--quiet", "--initial-branch=main", checkout);
  git(checkout, "remote", "add", "origin", origin);
  const writeFile = (path: string, text: string): void => {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), text);
  };
  const commitFiles: Workspace["commitFiles"] = (changes, message = "change") => {
    for (const [path, text] of Object.entries(changes)) {
      if (text === null) rmSync(join(checkout, path));
      else writeFile(path, text);
    }
    git(checkout, "add", "--all");
    git(checkout, "commit", "--quiet", "--allow-empty", "-m", message);
    git(checkout, "push", "--quiet", "origin", "HEAD");
    return git(checkout, "rev-parse", "HEAD");
  };
  commitFiles(files, "first");
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
