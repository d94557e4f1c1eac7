import { simpleGit } from "simple-git";
import { type Credentials, gitEnvironment } from "./git-env.ts";
import { GitFailure } from "./git-errors.ts";

/** One bare repository on disk, as every git command of ours is given it. */
export interface Repository {
  /** The git directory itself. */
  directory: string;
  allowFile: boolean;
  /** Aborted when the mirror closes: ends every running command. */
  closing: AbortSignal;
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
}

/**
 * Runs one git command to its end through simple-git. Each gets an instance of its own, since the limit and the
 * credentials belong to one command. The `unsafe` switches are on for the fixed variables of `git-env.ts` (no hooks, no
 * helper, the header) and for `init --template=`; no value from outside ever reaches a configuration key.
 */
export async function runGit(repository: Repository, args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
  const { remote, credentials, limitMs = 60_000, answers = [0] } = options;
  const { directory, allowFile } = repository;
  const env = gitEnvironment(directory, { allowFile, ...(remote === undefined ? {} : { remote }), credentials });
  let result: GitResult = { exitCode: 0, stdout: "", stderr: "" };
  // simple-git makes its own error of whatever it is given and keeps only the text: ours is kept here.
  let failure: GitFailure | undefined;
  const git = simpleGit({
    baseDir: directory,
    abort: AbortSignal.any([repository.closing, AbortSignal.timeout(limitMs)]),
    allowEnvironment: Object.keys(env).filter((name) => name.startsWith("GIT_")),
    unsafe: {
      allowUnsafeConfigEnvCount: true,
      allowUnsafeHooksPath: true,
      allowUnsafeCredentialHelper: true,
      allowUnsafeTemplateDir: true,
    },
    errors: (error, ended) => {
      const stdout = Buffer.concat(ended.stdOut).toString("utf8");
      const stderr = Buffer.concat(ended.stdErr).toString("utf8");
      result = { exitCode: ended.exitCode, stdout, stderr };
      if (answers.includes(ended.exitCode)) return undefined;
      if (ended.exitCode === 0) return error;
      failure = new GitFailure(ended.exitCode, stdout, stderr);
      return failure;
    },
  }).env(env);
  try {
    const stdout = await git.raw([...args]);
    return { ...result, stdout };
  } catch (error) {
    throw failure ?? error;
  }
}
