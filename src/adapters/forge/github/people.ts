/**
 * Says who is behind a commit, a PR or a release, and who is in a team. What GitHub does not show is undefined, and never a no.
 */
import { ForgeError } from "../port.ts";
import { answerOf, asking, forgeError } from "./errors.ts";
import type { RepoOctokit } from "./octokit.ts";

/** What GitHub itself commits with for somebody who merges on its pages: nobody's account. */
const WEB_FLOW = "web-flow";
/** Pushes of a branch that are looked through for the one that brought a commit. */
const MOST_PUSHES = 100;

/** Whether a commit has the one asked about in its history; undefined: it is not known here. */
type Holds = (head: string) => Promise<boolean | undefined>;

/** See Forge.peopleOf. A commit that GitHub does not have has no people. */
export async function peopleOf(
  place: RepoOctokit,
  commit: string,
  branch?: string,
  holds?: Holds,
): Promise<{ linked: string[]; pusher?: string }> {
  const { octokit, owner, repo } = place;
  const doing = `ask who made ${commit.slice(0, 12)}`;
  const found = await orNone(doing, async () => (await octokit.rest.repos.getCommit({ owner, repo, ref: commit, per_page: 1 })).data);
  const linked = linkedOf([found?.author?.login, found?.committer?.login]);
  const pusher = branch === undefined ? undefined : await pusherOf(place, commit, branch, holds);
  return pusher === undefined ? { linked } : { linked, pusher };
}

/** Not every host can tell: an Enterprise Server that is older has no such list. */
async function pusherOf(
  { octokit, owner, repo }: RepoOctokit,
  commit: string,
  branch: string,
  holds: Holds | undefined,
): Promise<string | undefined> {
  const ref = `refs/heads/${branch}`;
  const doing = `ask who pushed ${commit.slice(0, 12)}`;
  const pushes = await orNone(
    doing,
    async () => (await octokit.rest.repos.listActivities({ owner, repo, ref, per_page: MOST_PUSHES })).data,
  );
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
  const commits = await asking(`ask who made the commits of #${number}`, () =>
    octokit.paginate(octokit.rest.pulls.listCommits, { owner, repo, pull_number: number, per_page: 100 }),
  );
  return linkedOf(commits.flatMap(({ author, committer }) => [author?.login, committer?.login]));
}

function linkedOf(logins: readonly (string | undefined)[]): string[] {
  return [...new Set(logins.filter((login) => login !== undefined && login !== WEB_FLOW))] as string[];
}

/** See Forge.releaseAuthor. */
export async function releaseAuthor({ octokit, owner, repo }: RepoOctokit, tag: string): Promise<string | undefined> {
  const found = await orNone(`ask who released ${tag}`, async () => (await octokit.rest.repos.getReleaseByTag({ owner, repo, tag })).data);
  return found?.author?.login;
}

async function orNone<T>(doing: string, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await asking(doing, ask);
  } catch (error) {
    // 422: no commit of that name. 403: the list of pushes is not for everybody on every host.
    if (error instanceof ForgeError && (error.kind === "NotFound" || error.status === 422 || error.kind === "Forbidden")) return undefined;
    throw error;
  }
}

/**
 * Whether an account is in a team now. Teams are named by slug, with or without `org/` before it. A token that may not see
 * members is answered 404 just as for somebody who is none: only where the team itself can be seen is that a no.
 */
export async function inTeam(place: RepoOctokit, team: string, login: string): Promise<boolean | undefined> {
  const { octokit, owner } = place;
  const slug = team.split("/").at(-1) ?? team;
  const org = team.includes("/") ? (team.split("/")[0] ?? owner) : owner;
  try {
    const { data } = await octokit.rest.teams.getMembershipForUserInOrg({ org, team_slug: slug, username: login });
    return data.state === "active";
  } catch (error) {
    if (!unseen(error)) throw forgeError(`ask whether ${login} is in team ${slug}`, error);
  }
  try {
    await octokit.rest.teams.getByName({ org, team_slug: slug });
    return false;
  } catch (error) {
    if (unseen(error)) return undefined;
    throw forgeError(`look for team ${slug}`, error);
  }
}

function unseen(error: unknown): boolean {
  const answer = answerOf(error);
  if (answer === undefined) return false;
  const limited = forgeError("look", error).kind === "RateLimited";
  return answer.status === 404 || (answer.status === 403 && !limited);
}
