import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { GitFailure } from "./git-errors.ts";
import { launch } from "./launch/launcher.ts";
import { environmentOf, type Repository } from "./run-git.ts";

/*
 * The git commands that are spoken to over stdin. simple-git can neither hold a conversation with one nor be given the
 * bytes of stdin per call, so these are started here, in the same environment.
 */

const LIMIT_MS = 60_000;

/** Starts a command that is spoken to as long as it lives (`cat-file --batch-command`). */
export function spawnGit(repository: Repository, args: readonly string[]): ChildProcessWithoutNullStreams {
  const env = environmentOf(repository);
  return spawn("git", [...args], { cwd: repository.directory, env, stdio: ["pipe", "pipe", "pipe"], signal: repository.closing });
}

/** Gives `input` to a command's stdin and waits for its end. Rejects with GitFailure where that is not 0. */
export async function pipeGit(repository: Repository, args: readonly string[], input: readonly (string | Buffer)[]): Promise<string> {
  const { directory, closing } = repository;
  const bytes = Buffer.concat(input.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  const env = environmentOf(repository);
  const ended = await launch({ by: "program", program: "git", args, directory, env, input: bytes, limitMs: LIMIT_MS }, closing);
  if (ended.code === 0) return ended.stdout.toString("utf8");
  throw new GitFailure(ended.code, ended.stdout.toString("utf8"), ended.stderr.toString("utf8"));
}
