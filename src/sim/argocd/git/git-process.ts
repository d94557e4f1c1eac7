import { spawn } from "node:child_process";

export class GitProcessError extends Error {
  override name = "GitProcessError";
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Runs git and resolves to its stdout; rejects with the last line of stderr. A token goes by the environment, never by argv. */
export function runGit(
  args: readonly string[],
  options: { cwd?: string; token?: string; input?: string; signal?: AbortSignal; env?: Record<string, string> } = {},
): Promise<Buffer> {
  const { cwd, token, input, signal, env: more = {} } = options;
  const credentials =
    token === undefined
      ? {}
      : {
          GIT_CONFIG_COUNT: "1",
          GIT_CONFIG_KEY_0: "http.extraHeader",
          GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`,
        };
  const env = { ...process.env, GIT_TERMINAL_PROMPT: "0", GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C", ...credentials, ...more };
  return new Promise((resolve, reject) => {
    const child = spawn("git", args, {
      ...(cwd === undefined ? {} : { cwd }),
      env,
      stdio: ["pipe", "pipe", "pipe"],
      ...(signal ? { signal } : {}),
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.stdin.on("error", () => undefined);
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) return resolve(Buffer.concat(out));
      const last = Buffer.concat(err).toString().trim().split("\n").at(-1) ?? "";
      reject(new GitProcessError(code ?? -1, `git ${args[0]}: ${last}`));
    });
    child.stdin.end(input ?? "");
  });
}
