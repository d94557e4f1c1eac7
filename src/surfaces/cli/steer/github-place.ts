/** Where a person's commands go on GitHub, and with which token of theirs. Called by `post-command.ts` and `release`. */
import { Octokit } from "@octokit/rest";
import { answerOf, limitedUntil } from "../../../adapters/forge/github/errors.ts";
import { errorText, redact } from "../../../core/base/error-text.ts";
import { apiUrl } from "../../server/config/env.ts";
import { CommandError } from "../command.ts";
import { type Env, hostIn, type Named, PUBLIC, repositoryIn, tokenFor } from "../github-names.ts";
import { openGit } from "../journal/checkout.ts";
import { folderName } from "../journal/fetch.ts";
import { utc } from "../print.ts";

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
    const why = named === undefined ? `${folderName(options.repo)} has no remote on GitHub` : `"${named}" is no repository`;
    throw new CommandError(2, `${why}: give --repository OWNER/NAME`);
  }
  const chosen = hostIn(env["GH_HOST"]);
  const host = (chosen ?? from.host ?? remote?.host ?? PUBLIC).toLowerCase();
  const token = await tokenFor(host, { hostIsChosen: chosen !== undefined || env["GITHUB_API_URL"] !== undefined, env });
  if (token === undefined) throw new CommandError(2, noToken(host));
  const baseUrl = env["GITHUB_API_URL"] ?? apiUrl({ host, protocol: protocolOf(named, host) });
  return { octokit: new Octokit({ auth: token, baseUrl, log: SILENT, request: { retries: 0 } }), owner: from.owner, repo: from.repo };
}

/** A token goes without encryption to this machine alone, such as to the embedded GitHub of the demo. */
function protocolOf(named: string | undefined, host: string): "http" | "https" {
  return named?.startsWith("http://") === true && /^(?:localhost|127\.0\.0\.1)(?::\d+)?$/.test(host) ? "http" : "https";
}

function noToken(host: string): string {
  if (host === PUBLIC) return "there is no token: gh auth login, or set GH_TOKEN or GITHUB_TOKEN";
  return `there is no token for ${host}: gh auth login --hostname ${host}, or set GH_HOST=${host} and GH_ENTERPRISE_TOKEN`;
}

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

async function remoteOf(repo: string): Promise<Named | undefined> {
  const checkout = openGit(repo);
  const remote = await checkout.remote();
  return remote === undefined ? undefined : repositoryIn(await checkout.git.raw(["remote", "get-url", remote]).catch(() => ""));
}

const HINTS: Readonly<Record<number, string>> = {
  401: ": the token is not taken; it is wrong, or has expired",
  403: ": your token may not do that; it needs Pull requests: write and Issues: write (a classic one: repo)",
  404: ": not there, or your token cannot see it",
};

/** Calls GitHub; a refusal leaves as an error of the command, which says what was being done and never a token. */
export async function asking<T>(doing: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const answer = answerOf(error);
    if (answer === undefined) throw new CommandError(3, `${doing}: GitHub did not answer: ${redact(errorText(error))}`);
    const details = answer.details.length === 0 ? "" : ` (${answer.details.join("; ")})`;
    const limited = limitedUntil(answer, Date.now());
    if (limited !== undefined) {
      const until = utc(new Date(limited.until).toISOString());
      throw new CommandError(
        3,
        `${doing}: GitHub takes no more requests with your token until ${until}: try again then (${answer.message})`,
      );
    }
    const hint = HINTS[answer.status] ?? "";
    throw new CommandError(answer.status === 401 || answer.status >= 500 ? 3 : 1, `${doing}: ${answer.message}${details}${hint}`);
  }
}
