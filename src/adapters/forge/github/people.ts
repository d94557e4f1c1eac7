/**
 * Says who is behind a commit, a PR or a release, who signed the journal, and who is in a team. What GitHub does not show is undefined, and
 * never a no.
 */
import type { RestEndpointMethodTypes } from "@octokit/rest";
import type { CommitFault } from "../../../core/reasons/journal.ts";
import type { Permission } from "../../../core/spec/commands.ts";
import type { CommitJudge } from "../../git/port.ts";
import type { Forge } from "../port.ts";
import { asking, askingOrNone } from "./errors.ts";
import type { OctokitLike, RepoOctokit } from "./octokit.ts";

/** GitHub itself commits and signs with it for whoever acts on its pages or by its API: nobody's account, and no key can take its name. */
const WEB_FLOW = "web-flow";
/** Pushes of a branch that are looked through for the one that brought a commit. */
const MOST_PUSHES = 100;

type Holds = Parameters<NonNullable<Forge["peopleOf"]>>[2];

/** See Forge.peopleOf. A commit that GitHub does not have has no people. */
export async function peopleOf(place: RepoOctokit, commit: string, branch?: string, holds?: Holds) {
  const { octokit, owner, repo } = place;
  const found = await orNone(async () => (await octokit.rest.repos.getCommit({ owner, repo, ref: commit, per_page: 1 })).data);
  const linked = linkedOf([found?.author?.login, found?.committer?.login]);
  return { linked, pusher: branch === undefined ? undefined : await pusherOf(place, commit, branch, holds) };
}

/** Not every host can tell: an Enterprise Server that is older has no such list. */
async function pusherOf({ octokit, owner, repo }: RepoOctokit, commit: string, branch: string, holds: Holds) {
  const ref = `refs/heads/${branch}`;
  const pushes = await orNone(async () => (await octokit.rest.repos.listActivities({ owner, repo, ref, per_page: MOST_PUSHES })).data);
  return (await bringing(pushes ?? [], commit, holds))?.actor?.login;
}

/**
 * Of pushes, the last one first, the one that brought a commit: the first after which the branch held it, since others may have been
 * pushed on top of it at once. undefined: it is further back than these, or none of them did.
 */
async function bringing<P extends { after: string }>(pushes: readonly P[], commit: string, holds?: Holds): Promise<P | undefined> {
  let found: P | undefined;
  for (const push of pushes) {
    if (push.after === commit) return push;
    // What a push brought that was taken away again by force is not known here.
    const held = await holds?.(push.after);
    if (held === false) return found;
    if (held === true) found = push;
  }
  return pushes.length < MOST_PUSHES ? found : undefined;
}

/** See Forge.pullPeople. GitHub lists at most 250 commits of a PR. */
export async function pullPeople({ octokit, owner, repo }: RepoOctokit, number: number): Promise<string[]> {
  const commits = await asking(() => octokit.paginate(octokit.rest.pulls.listCommits, { owner, repo, pull_number: number, per_page: 100 }));
  return linkedOf(commits.flatMap(({ author, committer }) => [author?.login, committer?.login]));
}

function linkedOf(logins: readonly (string | undefined)[]): string[] {
  return [...new Set(logins.filter((login) => login !== undefined && login !== WEB_FLOW))] as string[];
}

/** See Forge.releaseAuthor. */
export async function releaseAuthor({ octokit, owner, repo }: RepoOctokit, tag: string): Promise<string | undefined> {
  const found = await orNone(async () => (await octokit.rest.repos.getReleaseByTag({ owner, repo, tag })).data);
  return found?.author?.login;
}

/** 422: no commit of that name. 403: the list of pushes is not for everybody on every host. */
function orNone<T>(ask: () => Promise<T>): Promise<T | undefined> {
  return askingOrNone(ask, [403, 404, 410, 422, 451]);
}

/**
 * Whether an account is in a team now. Teams are named by slug, with or without `org/` before it. A token that may not see
 * members is answered 404 just as for somebody who is none: only where the team itself can be seen is that a no.
 */
export async function inTeam(place: RepoOctokit, team: string, login: string): Promise<boolean | undefined> {
  const { octokit, owner } = place;
  const slug = team.split("/").at(-1) ?? team;
  const org = team.includes("/") ? (team.split("/")[0] ?? owner) : owner;
  const unseen = [403, 404];
  const member = await askingOrNone(() => octokit.rest.teams.getMembershipForUserInOrg({ org, team_slug: slug, username: login }), unseen);
  if (member !== undefined) return member.data.state === "active";
  const seen = await askingOrNone(() => octokit.rest.teams.getByName({ org, team_slug: slug }), unseen);
  return seen === undefined ? undefined : false;
}

interface GitHubJudgeOptions {
  octokit: OctokitLike;
  repository: string;
  /** The App's account: `stagecoach[bot]`. */
  app: string;
  permission: (login: string) => Promise<Permission>;
}

type Shown = RestEndpointMethodTypes["repos"]["listCommits"]["response"]["data"][number];

/** Of commits, a hundred each. */
const MOST_PAGES = 500;

/**
 * Ours is what GitHub calls Verified and signed for our App: its author is the App, and its committer the App or GitHub. A
 * person who signs a commit with the App as its author is its committer. Read 100 a page, from the newest down.
 */
export function gitHubJudge(options: GitHubJudgeOptions): CommitJudge {
  const [owner = "", repo = ""] = options.repository.split("/");
  const place: RepoOctokit = { octokit: options.octokit, owner, repo };
  const people = new Map<string, Shown>();
  return {
    async foreign(commits) {
      const shown = await read(place, commits);
      const found = new Map<string, CommitFault>();
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
      const author = one?.author?.type === "User" ? one.author.login : undefined;
      if (one?.commit.verification?.verified !== true || author === undefined) return false;
      if (one.committer?.login !== author && one.committer?.login !== WEB_FLOW) return false;
      const permission = await options.permission(author);
      return permission === "maintain" || permission === "admin";
    },
  };
}

function whyForeign(shown: Shown | undefined, app: string): CommitFault | undefined {
  if (shown === undefined) return { code: "COMMIT_HIDDEN" };
  const { verification } = shown.commit;
  const [author, committer] = [shown.author?.login, shown.committer?.login];
  if (verification?.verified !== true) return { code: "COMMIT_UNVERIFIED", said: (verification?.reason ?? "unsigned").slice(0, 60) };
  if (author !== app) return { code: "COMMIT_BY_OTHER", by: author, app };
  return committer === app || committer === WEB_FLOW ? undefined : { code: "COMMIT_SIGNED_BY", by: committer };
}

async function read({ octokit, owner, repo }: RepoOctokit, commits: readonly { sha: string }[]): Promise<Map<string, Shown>> {
  const wanted = new Set(commits.map(({ sha }) => sha));
  const shown = new Map<string, Shown>();
  const [newest] = commits;
  const size = Math.min(100, wanted.size);
  for (let page = 1; newest !== undefined && wanted.size > 0 && page <= MOST_PAGES; page++) {
    const { data } = await asking(() => octokit.rest.repos.listCommits({ owner, repo, sha: newest.sha, per_page: size, page }));
    for (const one of data) if (wanted.delete(one.sha)) shown.set(one.sha, one);
    if (data.length < size) break;
  }
  return shown;
}
