import { tmpdir } from "node:os";
import { simpleGit } from "simple-git";
import { type Credentials, gitEnvironment } from "./git-env.ts";
import { GitFailure } from "./git-errors.ts";
import { launch } from "./launch/launcher.ts";
import { GitError } from "./port.ts";

/** One bare repository on disk, as every git command of ours is given it. */
export interface Repository {
  /** The git directory itself. */
  directory: string;
  allowFile: boolean;
  /** Aborted when the mirror closes: ends every running command. */
  closing: AbortSignal;
  /** Folders of objects that are read, too, relative to `directory`. */
  alternates?: (() => readonly string[]) | undefined;
  /** Where objects are written instead. */
  objects?: string | undefined;
}

/** The environment of a git process on this repository. */
export function environmentOf(
  repository: Repository,
  more: { remote?: string | undefined; credentials?: Credentials | undefined; partial?: boolean | undefined } = {},
): Record<string, string> {
  const { directory, allowFile, alternates, objects } = repository;
  return gitEnvironment(directory, { allowFile, alternates: alternates?.(), objects, ...more });
}

export interface GitResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** Exit codes that are answers; default only 0. Any other rejects with GitFailure. */
  answers?: readonly number[];
  /** Hard limit in ms; default one minute. */
  limitMs?: number;
  /** For commands that talk to the remote. */
  remote?: string;
  credentials?: Credentials | undefined;
  /** See `git-env.ts`. */
  partial?: boolean | undefined;
}

/** What says nothing where all is well: simple-git would wait 50 ms for a word of theirs after they have ended. */
const SILENT: ReadonlySet<string | undefined> = new Set(["init", "config", "fetch", "merge-base"]);

/** Runs one git command to its end: by simple-git, or in a process of its own where that pays. */
export async function runGit(repository: Repository, args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
  const { remote, credentials, partial, limitMs = 60_000, answers = [0] } = options;
  const { directory, closing } = repository;
  const env = environmentOf(repository, { remote, credentials, partial });
  const by = SILENT.has(args[0]) ? "program" : "simple-git";
  const ended = await launch({ by, program: "git", args, directory, env, limitMs }, closing);
  const [stdout, stderr] = [ended.stdout.toString("utf8"), ended.stderr.toString("utf8")];
  if (!answers.includes(ended.code)) throw new GitFailure(ended.code, stdout, stderr);
  return { exitCode: ended.code, stdout, stderr };
}

/**
 * Checks that the machine's git will do: 2.38 or later, for `merge-tree --write-tree`. Rejects with GitError `Unavailable` and one line
 * saying what to install.
 */
export async function checkGit(): Promise<void> {
  const git = simpleGit({ baseDir: tmpdir(), timeout: { block: 10_000 } });
  const version = await git.version().catch(() => undefined);
  if (version === undefined || !version.installed) {
    throw new GitError("Unavailable", "git was not found on PATH; install git 2.38 or later");
  }
  if (version.major < 2 || (version.major === 2 && version.minor < 38)) {
    const text = `${version.major}.${version.minor}.${version.patch}`;
    throw new GitError("Unavailable", `git ${text} is too old: 2.38 or later is needed (merge-tree --write-tree)`);
  }
}
