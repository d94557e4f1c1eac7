/** Where a person's commands go on GitHub, and with which token of theirs. Called by `post-command.ts` and `release`. */
import { Octokit } from "@octokit/rest";
import { answerOf } from "../../../adapters/forge/github/errors.ts";
import { defined } from "../../../core/base/defined.ts";
import { redact } from "../../../core/base/redact.ts";
import { apiUrl } from "../../server/config/env.ts";
import { errorText } from "../args.ts";
import { CommandError } from "../command.ts";
import { openGit } from "../journal/source.ts";

/** A repository on GitHub, spoken to as the person who runs the command. */
export interface GitHubPlace {
  octokit: Octokit;
  owner: string;
  repo: string;
}

interface PlaceOptions {
  repo: string;
  /** `OWNER/NAME`, where the checkout's remote does not say it. */
  repository?: string;
}

type Env = Readonly<Record<string, string | undefined>>;

const PUBLIC = "github.com";

/**
 * Where the checkout came from, and a client with the person's own token. Variables are those of `gh`: GH_REPO, GH_HOST, GH_TOKEN or
 * GITHUB_TOKEN, and for another host GH_ENTERPRISE_TOKEN or GITHUB_ENTERPRISE_TOKEN; GITHUB_API_URL as in GitHub Actions. A token for
 * github.com is never sent to a host that only the checkout's remote names.
 */
export async function openPlace(options: PlaceOptions, env: Env = process.env): Promise<GitHubPlace> {
  const remote = await remoteOf(options.repo);
  const named = options.repository ?? env["GH_REPO"];
  const from = named === undefined ? remote : repositoryIn(named);
  if (from === undefined) {
    const why = named === undefined ? `${options.repo} has no remote on GitHub` : `"${named}" is no repository`;
    throw new CommandError(2, `${why}: give --repository OWNER/NAME`);
  }
  const chosen = hostIn(env["GH_HOST"]);
  const host = (chosen ?? from.host ?? remote?.host ?? PUBLIC).toLowerCase();
  const token = tokenFor(host, chosen !== undefined || env["GITHUB_API_URL"] !== undefined, env);
  const baseUrl = env["GITHUB_API_URL"] ?? apiUrl({ host, protocol: "https" });
  return { octokit: new Octokit({ auth: token, baseUrl, log: SILENT, request: { retries: 0 } }), owner: from.owner, repo: from.repo };
}

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** `GH_HOST` as it is meant: a name, and a port where it has one. */
function hostIn(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (/^[\w.-]+(?::\d{1,5})?$/.test(text)) return text;
  const how = "write it without https:// and without a path, such as ghe.example.com or ghe.example.com:8443";
  throw new CommandError(2, `GH_HOST is no host's name; ${how}`);
}

function tokenFor(host: string, hostIsChosen: boolean, env: Env): string {
  const plain = env["GH_TOKEN"] || env["GITHUB_TOKEN"];
  const enterprise = env["GH_ENTERPRISE_TOKEN"] || env["GITHUB_ENTERPRISE_TOKEN"];
  const token = host === PUBLIC ? plain : (enterprise ?? (hostIsChosen ? plain : undefined));
  if (token !== undefined && token !== "") return token;
  if (host === PUBLIC) throw new CommandError(2, "there is no token: set GH_TOKEN or GITHUB_TOKEN, such as GH_TOKEN=$(gh auth token)");
  const how = `set GH_HOST=${host} and GH_ENTERPRISE_TOKEN, such as $(gh auth token --hostname ${host})`;
  throw new CommandError(2, `there is no token for ${host}: ${how}`);
}

interface Named {
  host?: string;
  owner: string;
  repo: string;
}

/** `owner/name`, `host/owner/name`, or any URL of a repository. undefined: it is none. */
export function repositoryIn(text: string): Named | undefined {
  const plain = text
    .trim()
    .replace(/\.git\/?$/, "")
    .replace(/\/+$/, "");
  const scp = /^(?:[^/@\s]+@)?([^/:\s]+):([^/\s]+)\/([^/\s]+)$/.exec(plain);
  // The port of ssh:// is another one than that of the API; that of https:// is the same.
  const url =
    /^https?:\/\/(?:[^/@\s]*@)?([^/@:\s]+(?::\d+)?)\/([^/\s]+)\/([^/\s]+)$/.exec(plain) ??
    /^[a-z+]+:\/\/(?:[^/@\s]*@)?([^/:\s]+)(?::\d+)?\/([^/\s]+)\/([^/\s]+)$/.exec(plain);
  const short = /^(?:([^/@:\s]+\.[^/@:\s]+(?::\d+)?)\/)?([\w.-]+)\/([\w.-]+)$/.exec(plain);
  const [, host, owner, repo] = url ?? scp ?? short ?? [];
  if (owner === undefined || repo === undefined) return undefined;
  return defined({ host: host && withoutUsualPort(plain, host), owner, repo });
}

/** `https://github.com:443` is github.com. */
function withoutUsualPort(url: string, host: string): string {
  return url.startsWith("https:") ? host.replace(/:443$/, "") : host.replace(/^(.*):80$/, url.startsWith("http:") ? "$1" : "$&");
}

async function remoteOf(repo: string): Promise<Named | undefined> {
  const checkout = openGit(repo);
  const remote = await checkout.remote();
  return remote === undefined ? undefined : repositoryIn(await checkout.git.raw(["remote", "get-url", remote]).catch(() => ""));
}

/** Calls GitHub; a refusal leaves as an error of the command, which says what was being done and never a token. */
export async function asking<T>(doing: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const answer = answerOf(error);
    if (answer === undefined) throw new CommandError(3, `${doing}: GitHub did not answer: ${redact(errorText(error))}`);
    const details = answer.details.length === 0 ? "" : ` (${answer.details.join("; ")})`;
    const hint =
      answer.status === 401 ? ": the token is not taken" : answer.status === 404 ? ": not there, or your token cannot see it" : "";
    throw new CommandError(answer.status === 401 || answer.status >= 500 ? 3 : 1, `${doing}: ${answer.message}${details}${hint}`);
  }
}
