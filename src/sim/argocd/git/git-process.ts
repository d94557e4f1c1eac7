import { launch } from "../../../adapters/git/launch/launcher.ts";

export class GitProcessError extends Error {
  override name = "GitProcessError";
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Runs git and resolves to its stdout; rejects with the last line of stderr. A token goes by the environment, never by argv. */
export async function runGit(
  args: readonly string[],
  options: {
    cwd?: string;
    token?: string | undefined;
    input?: string | undefined;
    signal?: AbortSignal | undefined;
    env?: Record<string, string>;
  },
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
  const env = { ...inherited(), GIT_TERMINAL_PROMPT: "0", GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C", ...credentials, ...more };
  const directory = cwd ?? process.cwd();
  const bytes = Buffer.from(input ?? "");
  const { code, stdout, stderr } = await launch({ by: "program", program: "git", args, directory, env, input: bytes }, signal);
  if (code === 0) return stdout;
  const last = stderr.toString().trim().split("\n").at(-1) ?? "";
  throw new GitProcessError(code, `git ${args[0]}: ${last}`);
}

function inherited(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
