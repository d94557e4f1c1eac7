/** How a repository on GitHub is named on the command line, and which token of the person's goes to its host. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { defined } from "../../core/base/defined.ts";
import { CommandError } from "./command.ts";

export type Env = Readonly<Record<string, string | undefined>>;

export const PUBLIC = "github.com";

/** `GH_HOST` as it is meant: a name, and a port where it has one. */
export function hostIn(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (/^[\w.-]+(?::\d{1,5})?$/.test(text)) return text;
  const how = "write it without https:// and without a path, such as ghe.example.com or ghe.example.com:8443";
  throw new CommandError(2, `GH_HOST is no host's name; ${how}`);
}

/**
 * The person's token for the host: GH_TOKEN or GITHUB_TOKEN, for another host than github.com GH_ENTERPRISE_TOKEN or
 * GITHUB_ENTERPRISE_TOKEN, else what `gh` has for it. undefined: there is none. One for github.com goes to another host only
 * where the person named that host.
 */
export async function tokenFor(host: string, { hostIsChosen, env }: { hostIsChosen: boolean; env: Env }): Promise<string | undefined> {
  const plain = env["GH_TOKEN"] || env["GITHUB_TOKEN"];
  const enterprise = env["GH_ENTERPRISE_TOKEN"] || env["GITHUB_ENTERPRISE_TOKEN"];
  const given = host === PUBLIC ? plain : enterprise || (hostIsChosen ? plain : undefined);
  return given || (await ghToken(host, env));
}

/** `gh` keeps its tokens apart by host, and asks nobody. undefined: it is not installed, or not logged in there. */
async function ghToken(host: string, env: Env): Promise<string | undefined> {
  const answer = await promisify(execFile)("gh", ["auth", "token", "--hostname", host], { env: { ...env }, timeout: 5000 }).catch(
    () => undefined,
  );
  return answer?.stdout.trim() || undefined;
}

export interface Named {
  host?: string;
  owner: string;
  repo: string;
}

/** `owner/name`, `host/owner/name`, or any URL of a repository. undefined: it is none. */
export function repositoryIn(text: string): Named | undefined {
  const plain = text
    .trim()
    .replace(/\.git\/?$/, "")
    .replace(/(?<!\/)\/+$/, "");
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
