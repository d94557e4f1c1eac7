/** A bare repository in the person's cache, for the journal of a repository on GitHub that is not checked out. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { errorText } from "../../../core/base/error-text.ts";
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
  await makeCopy(directory, url, ownOf(env));
  const token = await tokenFor(host, { hostIsChosen: chosen === host, env });
  const own = { ...ownOf(env), GIT_TERMINAL_PROMPT: "0", ...(token !== undefined && header(url, token)) };
  return { directory, env: own, hasToken: token !== undefined };
}

/** Makes the copy aside and moves it into place: commands that begin at once share it, and git waits for no lock on its configuration. */
async function makeCopy(directory: string, url: string, env: Record<string, string>): Promise<void> {
  const git = async (...args: string[]) => (await promisify(execFile)("git", args, { env })).stdout.trim();
  const known = async () => await git("config", "--file", join(directory, "config"), "--get", "remote.origin.url").catch(() => undefined);
  if ((await known()) === url) return;
  try {
    mkdirSync(dirname(directory), { recursive: true, mode: 0o700 });
    const aside = mkdtempSync(`${directory}.`);
    try {
      await git("init", "--quiet", "--bare", aside);
      await git("-C", aside, "config", "remote.origin.url", url);
      await moveTo(aside);
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
  } catch (error) {
    throw new CommandError(3, `no copy of ${url} can be made at ${directory}: ${errorText(error)}`);
  }

  /** What another command made meanwhile stays; what is there and unfinished is nobody's. */
  async function moveTo(aside: string): Promise<void> {
    try {
      renameSync(aside, directory);
    } catch {
      if ((await known()) === url) return;
      rmSync(directory, { recursive: true, force: true });
      renameSync(aside, directory);
    }
  }
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
