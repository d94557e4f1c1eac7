import { spawn } from "node:child_process";
import { simpleGit } from "simple-git";

/** A command that is run to its end. Everything in it can be sent to another process. */
export interface Command {
  /** `simple-git` runs git by that library; `program` any program, with bytes for its stdin. */
  by: "simple-git" | "program";
  program: string;
  args: readonly string[];
  directory: string;
  env: Readonly<Record<string, string>>;
  input?: Buffer;
  /** Hard limit in ms. */
  limitMs?: number;
}

export interface Ended {
  /** -1: it was ended by a signal. */
  code: number;
  stdout: Buffer;
  stderr: Buffer;
}

/** More than anything that is asked for; what somebody made to be endless ends here. */
const MOST_BYTES = 256 * 1024 ** 2;

/** Runs a command to its end in this process. Rejects where it could not be started, was stopped, or says more than `most` bytes. */
export async function runCommand(command: Command, stop: AbortSignal, most = MOST_BYTES): Promise<Ended> {
  const tooMuch = new AbortController();
  const limits = command.limitMs === undefined ? [] : [AbortSignal.timeout(command.limitMs)];
  const signal = AbortSignal.any([stop, tooMuch.signal, ...limits]);
  let bytes = 0;
  const count = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > most) tooMuch.abort();
  };
  const run = command.by === "simple-git" ? bySimpleGit : byItself;
  const [ended] = await Promise.allSettled([run(command, signal, count)]);
  // Also where all of it had come before the command was stopped, and it ended well.
  if (bytes > most) throw new Error(`${command.program} said more than ${most} bytes`);
  if (ended.status === "rejected") throw ended.reason;
  return ended.value;
}

/**
 * Each command gets an instance of its own, since limit and credentials belong to one command. The `unsafe` switches are
 * on for the fixed variables of `git-env.ts` (no hooks, no helper, the header) and for `init --template=`; no value from
 * outside ever reaches a configuration key.
 */
async function bySimpleGit({ directory, args, env }: Command, abort: AbortSignal, count: (piece: Buffer) => void): Promise<Ended> {
  let ended: Ended | undefined;
  const git = simpleGit({
    baseDir: directory,
    abort,
    allowEnvironment: Object.keys(env).filter((name) => name.startsWith("GIT_")),
    unsafe: {
      allowUnsafeConfigEnvCount: true,
      allowUnsafeHooksPath: true,
      allowUnsafeCredentialHelper: true,
      allowUnsafeTemplateDir: true,
    },
    errors: (error, { exitCode, stdOut, stdErr }) => {
      // What an exit code means is for the caller to say; an error without one is simple-git's own.
      if (error !== undefined && exitCode === 0) return error;
      ended = { code: exitCode, stdout: Buffer.concat(stdOut), stderr: Buffer.concat(stdErr) };
      return undefined;
    },
  }).env({ ...env });
  git.outputHandler((_, stdout, stderr) => {
    stdout.on("data", count);
    stderr.on("data", count);
  });
  const stdout = await git.raw([...args]);
  return ended ?? { code: 0, stdout: Buffer.from(stdout), stderr: Buffer.alloc(0) };
}

function byItself({ program, args, directory, env, input }: Command, signal: AbortSignal, count: (piece: Buffer) => void): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], { cwd: directory, env, stdio: ["pipe", "pipe", "pipe"], signal });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", count);
    child.stderr.on("data", count);
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    // A program that ended early closes its stdin; its exit code tells why.
    child.stdin.on("error", () => undefined);
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? -1, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) }));
    child.stdin.end(input);
  });
}
