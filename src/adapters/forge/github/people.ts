/**
 * Says who is behind a commit, a PR or a release, who moved the journal's branch, and who is in a team. What GitHub does not show is undefined, and
 * never a no.
 */
import type { Permission } from "../../../core/spec/commands.ts";
import type { Forge, ForgeError } from "../port.ts";
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

/** See Forge.commitOf. Of a tag and a branch of one name the tag. */
export async function commitOf({ octokit }: RepoOctokit, repository: string, revision: string): Promise<string | null | "hidden"> {
  const [owner = "", repo = ""] = repository.split("/");
  const names = revision.startsWith("refs/") ? [revision.slice("refs/".length)] : [`tags/${revision}`, `heads/${revision}`];
  for (const ref of names) {
    try {
      return (await asking(() => octokit.rest.repos.getCommit({ owner, repo, ref, per_page: 1 }))).data.sha;
    } catch (error) {
      const { status, kind } = error as ForgeError;
      if (kind !== "RateLimited" && [403, 404, 451].includes(status)) return "hidden";
      // There is no commit of that name.
      if (status !== 422 && status !== 409) throw error;
    }
  }
  return null;
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

interface AcceptorOptions {
  octokit: OctokitLike;
  repository: string;
  /** The journal's. */
  branch: string;
  permission: (login: string) => Promise<Permission>;
}

/**
 * Whether a commit was brought to the journal's branch by somebody who may accept it. Who a commit says it is by proves nothing: GitHub
 * itself writes and signs in the name of a PR's author whenever somebody merges that PR. Who moved the branch GitHub knows.
 */
export function acceptors({ octokit, repository, branch, permission }: AcceptorOptions): (commit: { sha: string }) => Promise<boolean> {
  const [owner = "", repo = ""] = repository.split("/");
  return async ({ sha }) => {
    const pusher = await pusherOf({ octokit, owner, repo }, sha, branch, undefined);
    const may = pusher === undefined ? "none" : await permission(pusher);
    return may === "maintain" || may === "admin";
  };
}
