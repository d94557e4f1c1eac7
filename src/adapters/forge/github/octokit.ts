import type { Octokit } from "@octokit/rest";
import { ASKER_HEADER } from "../../../core/base/asker.ts";
import { BoundedMap } from "../../../core/base/bounded.ts";

/** What the adapter uses of an Octokit: @octokit/rest's own, or the one Probot hands out for an installation. */
export type OctokitLike = Pick<Octokit, "rest" | "request" | "auth" | "hook" | "graphql"> & { paginate: Octokit["paginate"] };

export interface RepoOctokit {
  octokit: OctokitLike;
  owner: string;
  repo: string;
}

export type Permissions = Readonly<Record<string, string>>;

/** What is asked of an Octokit's `auth`: for a call, for a repository with less than the usual permissions, or for neither. */
export interface TokenAsked {
  type: "installation";
  call?: object | undefined;
  /** `owner/name`. */
  repository?: string | undefined;
  wanted?: Permissions | undefined;
  refresh?: boolean | undefined;
}

/** For which repository a call is whose address does not say it: its token opens that one, and its faults count as that one's. */
export function askedFor({ owner, repo }: Pick<RepoOctokit, "owner" | "repo">): { [ASKER_HEADER]: string } {
  return { [ASKER_HEADER]: `${owner}/${repo}` };
}

/** Given with every call whose repetition could do a thing twice: plugin-retry repeats a POST after a 5xx, and 405 and 409 too. */
export const NEVER_RETRY = { request: { retries: 0 as const } };

const MOST_KEPT = 2000;

type OctokitResponse = Awaited<ReturnType<Octokit["request"]>>;

/** Pagination rewrites the data of a list in place: each caller gets its own. */
function copy(response: OctokitResponse): OctokitResponse {
  return { ...response, data: structuredClone(response.data) };
}

/**
 * Makes every GET conditional: an unchanged answer costs GitHub's 304, which is free of the rate limit, and is served from
 * memory. Kept per Octokit, so per installation.
 */
export function conditionalReads(octokit: OctokitLike): void {
  const kept = new BoundedMap<string, { etag: string; response: OctokitResponse }>(MOST_KEPT);
  octokit.hook.wrap("request", async (request, options) => {
    if (options.method !== "GET") return request(options);
    const {
      url,
      baseUrl,
      headers,
      request: _request,
      mediaType: _mediaType,
      method: _method,
      ...parameters
    } = options as Record<string, unknown> & typeof options;
    const key = `${String(baseUrl)} ${String(url)} ${JSON.stringify(parameters)} ${String(headers["accept"])}`;
    const known = kept.get(key);
    // Set in place: hooks further in (authentication) are bound to this very object and see no other.
    if (known !== undefined) headers["if-none-match"] = known.etag;
    try {
      const response = await request(options);
      const etag = response.headers["etag"];
      kept.delete(key);
      if (typeof etag === "string" && !isFullEnd(response, parameters["per_page"])) kept.set(key, { etag, response: copy(response) });
      return response;
    } catch (error) {
      if (known !== undefined && (error as { status?: unknown }).status === 304) return copy(known.response);
      throw error;
    }
  });
}

/**
 * The last page of a list, with no room left: what comes next goes on a page of its own, and this one stays the same but for its link
 * to it, which its ETag says nothing of. From memory it would be the list's end for ever.
 */
function isFullEnd({ data, headers }: OctokitResponse, perPage: unknown): boolean {
  return Array.isArray(data) && data.length >= Number(perPage ?? 30) && !/\brel="next"/.test(String(headers["link"] ?? ""));
}

/**
 * A token may be taken back before its time: the first 401 asks for a new one and tries again, once. What was refused for
 * its token was not done, so trying again does nothing twice.
 */
export function renewedTokens(octokit: OctokitLike): void {
  octokit.hook.wrap("request", async (request, options) => {
    try {
      return await request(options);
    } catch (error) {
      // The App's own routes are authorised by a fresh signature each time.
      if ((error as { status?: unknown }).status !== 401 || String(options.url).startsWith("/app")) throw error;
      await octokit.auth({ type: "installation", refresh: true, call: options } satisfies TokenAsked);
      return await request(options);
    }
  });
}

/** GitHub's links to further pages name a repository by its number: which one that is, the page before has told. */
export function namedPages(octokit: OctokitLike): void {
  const names = new BoundedMap<string, string>(MOST_KEPT);
  octokit.hook.wrap("request", async (request, options) => {
    const number = NUMBERED.exec(String(options.url))?.[1];
    const known = number === undefined ? undefined : names.get(number);
    if (known !== undefined) options.headers[ASKER_HEADER] ??= known;
    const response = await request(options);
    const linked = NUMBERED.exec(String(response.headers.link ?? ""))?.[1];
    const name = repositoryIn(options);
    if (linked !== undefined && name !== undefined) names.set(linked, name);
    return response;
  });
}

const NUMBERED = /\/repositories\/(\d+)\//;

/** The one that a call's address is of, before or after its parameters were put in. */
export function repositoryIn({ url, owner, repo }: { url: string; owner?: unknown; repo?: unknown }): string | undefined {
  if (url.includes("/{repo}") && typeof owner === "string" && typeof repo === "string") return `${owner}/${repo}`;
  return /\/repos\/([^/{}]+\/[^/{}?]+)/.exec(url)?.[1];
}
