import { launch } from "../../../adapters/git/launch/launcher.ts";
import { errorText } from "../../../core/base/error-text.ts";

interface GitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/** Nothing of the caller's Git configuration may reach the embedded forge: the same repository must behave the same anywhere. */
export function gitEnvironment(extra: Record<string, string> = {}): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !name.startsWith("GIT_")) env[name] = value;
  }
  return { ...env, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C", ...extra };
}

/** Runs git to its end. Rejects only where git cannot be started at all. */
export async function runGit(
  dir: string,
  args: readonly string[],
  input: string | Buffer = "",
  more: { env?: Record<string, string>; stop?: AbortSignal } = {},
): Promise<GitResult> {
  const env = gitEnvironment(more.env);
  const command = { by: "program", program: "git", args, directory: dir, env, input: Buffer.from(input) } as const;
  try {
    const { code, stdout, stderr } = await launch(command, more.stop);
    return { code: code < 0 ? 1 : code, stdout, stderr: stderr.toString() };
  } catch (error) {
    throw new Error(`git could not be started: ${errorText(error)}`, { cause: error });
  }
}

/** As `runGit`, and a non-zero exit is an error with git's own words. */
export async function mustGit(dir: string, args: readonly string[], input?: string | Buffer): Promise<string> {
  const result = await runGit(dir, args, input);
  if (result.code !== 0) throw new Error(`git ${args[0]} ended with ${result.code}: ${result.stderr.trim()}`);
  return result.stdout.toString();
}

/** Throws one line that says what is missing where git is not there or older than 2.38 (`merge-tree --write-tree`). */
export async function needGit(): Promise<void> {
  const need = "The embedded GitHub needs git 2.38 or newer";
  const version = await mustGit(".", ["--version"]).catch(() => {
    throw new Error(`${need}; no git was found on the PATH.`);
  });
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(version) ?? [];
  if (Number(major) < 2 || (Number(major) === 2 && Number(minor) < 38)) throw new Error(`${need}; this is ${version.trim()}.`);
}
