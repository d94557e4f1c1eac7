import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { gitEnvironment } from "./git-env.ts";
import { GitFailure } from "./git-errors.ts";
import type { Repository } from "./run-git.ts";

/**
 * The git commands that are spoken to over stdin (`cat-file --batch-command`, `fast-import`, `update-ref --stdin`).
 * simple-git runs a command to its end and can neither hold a conversation with one nor be given the bytes of stdin per
 * call, so these are spawned here, in the same environment.
 */
export function spawnGit(repository: Repository, args: readonly string[]): ChildProcessWithoutNullStreams {
  const env = gitEnvironment(repository.directory, { allowFile: repository.allowFile });
  return spawn("git", [...args], { cwd: repository.directory, env, stdio: ["pipe", "pipe", "pipe"], signal: repository.closing });
}

/** Gives `input` to a command's stdin and waits for its end. Rejects with GitFailure where that is not 0. */
export async function pipeGit(
  repository: Repository,
  args: readonly string[],
  input: readonly (string | Buffer)[],
  limitMs = 60_000,
): Promise<string> {
  const child = spawnGit(repository, args);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  // A command that ended early closes its stdin; its exit code tells why.
  child.stdin.on("error", () => undefined);
  const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? -1));
  });
  child.stdin.end(Buffer.concat(input.map((part) => (typeof part === "string" ? Buffer.from(part) : part))));
  try {
    const code = await ended;
    if (code === 0) return Buffer.concat(stdout).toString("utf8");
    throw new GitFailure(code, Buffer.concat(stdout).toString("utf8"), Buffer.concat(stderr).toString("utf8"));
  } finally {
    clearTimeout(timer);
  }
}
