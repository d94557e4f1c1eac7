/** Git in a person's checkout: its commands, its remote and its objects. Called by the commands on the journal, and by those that steer. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type SimpleGit, simpleGit } from "simple-git";
import { openReader } from "../../../adapters/git/reader.ts";
import { CommandError } from "../command.ts";

/** Git in a checkout (or bare repository), and its remote: `origin`, or the first there is. */
export interface CheckoutGit {
  git: SimpleGit;
  remote(): Promise<string | undefined>;
}

/** simple-git's guard lets through what was chosen here: the token comes as configuration in the environment. */
function guardedBy(env: Readonly<Record<string, string>>) {
  return { allowEnvironment: Object.keys(env).filter((name) => name.startsWith("GIT_")), unsafe: { allowUnsafeConfigEnvCount: true } };
}

/** `env`: all that git gets of the environment; undefined: the person's own. */
export function openGit(repo: string, env?: Readonly<Record<string, string>>): CheckoutGit {
  const directory = resolve(repo);
  if (!existsSync(directory)) throw new CommandError(2, `--repo ${repo}: there is no such directory`);
  const git = env === undefined ? simpleGit({ baseDir: directory }) : simpleGit({ baseDir: directory, ...guardedBy(env) }).env(env);
  return {
    git,
    async remote() {
      const remotes = (await git.raw(["remote"]).catch(() => "")).split("\n").filter(Boolean);
      return remotes.includes("origin") ? "origin" : remotes[0];
    },
  };
}

/** The objects of such a checkout, read with nothing but git there. CommandError 2 where it is none. */
export async function openObjects({ git }: CheckoutGit, repo: string) {
  const found = await git.raw(["rev-parse", "--absolute-git-dir"]).catch(() => undefined);
  if (found === undefined)
    throw new CommandError(
      2,
      repo === "."
        ? "this is no clone of a config repo: go into one, or give --repo DIR or -R OWNER/NAME"
        : `--repo ${repo} is no Git repository`,
    );
  const closing = new AbortController();
  const repository = { directory: found.trim(), allowFile: false, closing: closing.signal };
  const reader = openReader(repository);
  async function close(): Promise<void> {
    await reader.close();
    closing.abort();
  }
  return { repository, reader, close };
}
