/** Writes a comment as the owner of a token, with nothing of ours; one that stands there already, by its mark, is not written again. */
import { Octokit } from "@octokit/rest";
import { asking } from "./errors.ts";
import { NEVER_RETRY } from "./octokit.ts";

export interface CommentAsked {
  token: string;
  /** Of the token's owner. */
  login: string;
  repository: string;
  /** A pull request, or an issue that stands for one. */
  pull: number;
  /** What tells this comment from every other of its author's; the last line of its text. */
  mark: string;
}

export interface WrittenComment {
  id: number;
  url: string;
  body: string;
}

/** Throws ForgeError. */
export interface CommentAs {
  /** `since`: no older ones are looked at, ISO. */
  find(asked: CommentAsked, since: string): Promise<WrittenComment | undefined>;
  write(asked: CommentAsked, text: string): Promise<WrittenComment>;
}

const MOST_PAGES = 5;
const ASKED_MS = 10_000;
const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export function openCommentAs(baseUrl = "https://api.github.com", send: typeof fetch = fetch): CommentAs {
  // Redirected is a repository by another name, and nobody else may get the token. Who hangs holds nobody else up.
  const once: typeof fetch = (input, init) => send(input, { ...init, redirect: "manual", signal: AbortSignal.timeout(ASKED_MS) });
  const at = ({ token, repository, pull }: CommentAsked) => {
    const [owner = "", repo = ""] = repository.split("/");
    return {
      octokit: new Octokit({ auth: token, baseUrl, log: SILENT, request: { fetch: once } }),
      place: { owner, repo, issue_number: pull },
    };
  };
  return {
    async find(asked, since) {
      const { octokit, place } = at(asked);
      for (let page = 1; page <= MOST_PAGES; page++) {
        const { data } = await asking(() => octokit.rest.issues.listComments({ ...place, since, per_page: 100, page }));
        const found = data.find(({ user, body }) => user?.login === asked.login && body?.trimEnd().endsWith(asked.mark) === true);
        if (found !== undefined) return { id: found.id, url: found.html_url, body: found.body ?? "" };
        if (data.length < 100) return undefined;
      }
      return undefined;
    },
    async write(asked, text) {
      const { octokit, place } = at(asked);
      const body = `${text}\n\n${asked.mark}`;
      const { data } = await asking(() => octokit.rest.issues.createComment({ ...place, body, ...NEVER_RETRY }));
      return { id: data.id, url: data.html_url, body };
    },
  };
}
