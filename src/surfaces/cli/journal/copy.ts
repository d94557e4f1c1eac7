/** A bare repository in the person's cache, for the journal of a repository on GitHub that is not checked out. */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { CommandError } from "../command.ts";
import { type Env, hostIn, PUBLIC, repositoryIn, tokenFor } from "../github-names.ts";

interface Copy {
  directory: string;
  /** For git: the person's token, where there is one, is here and never in its arguments, which everybody on the machine can read. */
  env: Record<string, string>;
  hasToken: boolean;
}

/** Opens the copy, with nothing fetched yet. `named`: `OWNER/NAME`, `HOST/OWNER/NAME` or a URL. CommandError 2 where it is none of them. */
export async function openCopy(named: string, env: Env = process.env): Promise<Copy> {
  const found = repositoryIn(named);
  if (found === undefined || !isPlain(found.owner) || !isPlain(found.repo))
    throw new CommandError(2, `--repository "${named}" is no repository: write OWNER/NAME`);
  const chosen = hostIn(env["GH_HOST"]);
  const host = (found.host ?? chosen ?? PUBLIC).toLowerCase();
  // Nothing of what else stands in a URL is kept, such as a password.
  const url = `${named.startsWith("http://") ? "http" : "https"}://${host}/${found.owner}/${found.repo}.git`;
  const isSafe = url.startsWith("https:") || /^(?:localhost|127\.0\.0\.1)(?::|$)/.test(host);
  if (!isSafe) throw new CommandError(2, `--repository ${url}: no token is sent without encryption; write https://`);
  const cache = env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const directory = join(cache, "stagecoach", "journals", host.replace(":", "+"), found.owner, `${found.repo}.git`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const git = async (...args: string[]) => await promisify(execFile)("git", ["-C", directory, ...args], { env: ownOf(env) });
  await git("init", "--quiet", "--bare");
  await git("config", "remote.origin.url", url);
  const token = await tokenFor(host, { hostIsChosen: chosen === host, env });
  const own = { ...ownOf(env), GIT_TERMINAL_PROMPT: "0", ...(token !== undefined && header(url, token)) };
  return { directory, env: own, hasToken: token !== undefined };
}

/** A name that is no way out of the cache's folder. */
function isPlain(name: string): boolean {
  return /^[\w.-]+$/.test(name) && !/^\.+$/.test(name);
}

/** What git needs of the person's environment to reach a host as it usually does. */
function ownOf(env: Env): Record<string, string> {
  const names = /^(PATH|HOME|USER|LANG|XDG_CONFIG_HOME|SSL_CERT_\w+|GIT_SSL_\w+|\w+_proxy)$/i;
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => names.test(entry[0]) && entry[1] !== undefined),
  );
}

function header(url: string, token: string): Record<string, string> {
  const basic = Buffer.from(`x-access-token:${token}`).toString("base64");
  return {
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${new URL(url).origin}/.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
  };
}
