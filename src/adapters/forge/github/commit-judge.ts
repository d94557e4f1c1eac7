import type { Permission } from "../../../core/spec/commands.ts";
import { asking } from "./errors.ts";
import type { OctokitLike, RepoOctokit } from "./octokit.ts";

/** Fits `CommitJudge` of src/adapters/git/port.ts. */
interface GitHubJudge {
  foreign(commits: readonly { sha: string }[]): Promise<Map<string, string>>;
  mayAccept(commit: { sha: string }): Promise<boolean>;
}

interface GitHubJudgeOptions {
  octokit: OctokitLike;
  repository: string;
  /** The App's account: `stagecoach[bot]`. */
  app: string;
  permission: (login: string) => Promise<Permission>;
}

interface Shown {
  verified: boolean;
  reason: string;
  author: string | undefined;
  authorIsPerson: boolean;
  committer: string | undefined;
}

/** Signs for whoever acts on its pages and by its API; its name cannot be taken by a key of somebody else. */
const WEB_FLOW = "web-flow";
const MOST_PAGES = 500;

/**
 * Ours is what GitHub calls Verified and signed for our App: its author is the App, and its committer the App or GitHub. A
 * person who signs a commit with the App as its author is its committer. Read 100 a page, from the newest down.
 */
export function gitHubJudge(options: GitHubJudgeOptions): GitHubJudge {
  const [owner = "", repo = ""] = options.repository.split("/");
  const place: RepoOctokit = { octokit: options.octokit, owner, repo };
  const people = new Map<string, Shown>();
  return {
    async foreign(commits) {
      const shown = await read(place, commits);
      const found = new Map<string, string>();
      for (const { sha } of commits) {
        const one = shown.get(sha);
        const why = whyForeign(one, options.app);
        if (why !== undefined) found.set(sha, why);
        if (why !== undefined && one !== undefined) people.set(sha, one);
      }
      return found;
    },
    async mayAccept({ sha }) {
      const one = people.get(sha) ?? (await read(place, [{ sha }])).get(sha);
      if (one?.verified !== true || !one.authorIsPerson || one.author === undefined) return false;
      if (one.committer !== one.author && one.committer !== WEB_FLOW) return false;
      const permission = await options.permission(one.author);
      return permission === "maintain" || permission === "admin";
    },
  };
}

function whyForeign(shown: Shown | undefined, app: string): string | undefined {
  if (shown === undefined) return "GitHub does not show it";
  if (!shown.verified) return `GitHub does not call it Verified (${shown.reason.slice(0, 60)})`;
  if (shown.author !== app) return `it is by ${shown.author ?? "nobody that GitHub knows"}, not by ${app}`;
  if (shown.committer !== app && shown.committer !== WEB_FLOW)
    return `it was signed by ${shown.committer ?? "nobody that GitHub knows"}, not by GitHub`;
  return undefined;
}

async function read({ octokit, owner, repo }: RepoOctokit, commits: readonly { sha: string }[]): Promise<Map<string, Shown>> {
  const wanted = new Set(commits.map(({ sha }) => sha));
  const shown = new Map<string, Shown>();
  const [newest] = commits;
  const size = Math.min(100, wanted.size);
  for (let page = 1; newest !== undefined && wanted.size > 0 && page <= MOST_PAGES; page++) {
    const { data } = await asking("read who signed the journal", () =>
      octokit.rest.repos.listCommits({ owner, repo, sha: newest.sha, per_page: size, page }),
    );
    for (const one of data) {
      if (!wanted.delete(one.sha)) continue;
      const { verification } = one.commit;
      shown.set(one.sha, {
        verified: verification?.verified === true,
        reason: verification?.reason ?? "unsigned",
        author: one.author?.login,
        authorIsPerson: one.author?.type === "User",
        committer: one.committer?.login,
      });
    }
    if (data.length < size) break;
  }
  return shown;
}
