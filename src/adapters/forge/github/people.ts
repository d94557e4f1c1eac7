/**
 * Says who is behind a commit, a PR or a release, who moved the journal's branch, and who is in a team. What GitHub does not show is undefined, and
 * never a no.
 */
import type { RestEndpointMethodTypes } from "@octokit/rest";
import { defined } from "../../../core/base/defined.ts";
import type { Permission } from "../../../core/spec/commands.ts";
import type { CommitPeople, PullPeople } from "../people.ts";
import type { Forge, ForgeError, PullPushed } from "../port.ts";
import { asking, askingOrNone } from "./errors.ts";
import { askedFor, type OctokitLike, type RepoOctokit } from "./octokit.ts";

/** GitHub itself commits and signs with it for whoever acts on its pages or by its API: nobody's account, and no key can take its name. */
const WEB_FLOW = "web-flow";
/** Pushes of a branch that are looked through for the one that brought a commit. */
const MOST_PUSHES = 100;

type Shown = RestEndpointMethodTypes["repos"]["listCommits"]["response"]["data"][number];
type Holds = Parameters<NonNullable<Forge["peopleOf"]>>[2];

/** See Forge.peopleOf. A commit that GitHub does not have has no people. */
export async function peopleOf(place: RepoOctokit, commit: string, branch?: string, holds?: Holds): Promise<CommitPeople> {
  const { octokit, owner, repo } = place;
  const found = await orNone(async () => (await octokit.rest.repos.getCommit({ owner, repo, ref: commit, per_page: 1 })).data);
  const pusher = branch === undefined ? undefined : await pusherOf(place, commit, branch, holds);
  const isKnown = found !== undefined && isLinked(found, branch === undefined || pusher !== undefined);
  return defined({ linked: linkedOf([found?.author?.login, found?.committer?.login]), pusher, unlinked: isKnown ? [] : [commit] });
}

/** What is typed into a commit is nobody's word: where GitHub does not say who pushed it, it has to be signed to be anybody's. */
function isLinked({ author, committer, commit }: Pick<Shown, "author" | "committer" | "commit">, pushersKnown: boolean): boolean {
  if (author?.login === undefined || committer?.login === undefined) return false;
  return pushersKnown || commit?.verification?.verified === true;
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

/** GitHub lists no more commits of a PR. */
const MOST_COMMITS = 250;

/** See Forge.pullPeople. */
export async function pullPeople(place: RepoOctokit, pull: PullPushed): Promise<PullPeople> {
  const { octokit, owner, repo } = place;
  const asked = { owner, repo, pull_number: pull.number, per_page: 100 };
  const commits = await asking(() => octokit.paginate(octokit.rest.pulls.listCommits, asked));
  const pushers = await pushersOf(place, pull, new Set(commits.map(({ sha }) => sha)));
  const unlinked = commits.filter((one) => !isLinked(one, pushers !== undefined)).map(({ sha }) => sha);
  // What is beyond them nobody can tell.
  if (commits.length >= MOST_COMMITS) unlinked.push(pull.head);
  const linked = linkedOf(commits.flatMap(({ author, committer }) => [author?.login, committer?.login]));
  return defined({ linked, unlinked: [...new Set(unlinked)], pushers });
}

/**
 * Who pushed what a PR holds: each push since it was opened, and each before it that it still holds. undefined: this host does not tell, as
 * for a fork that is gone or private, or the pushes that it lists do not reach back far enough.
 */
async function pushersOf(place: RepoOctokit, pull: PullPushed, commits: ReadonlySet<string>): Promise<string[] | undefined> {
  const [owner = "", repo = ""] = pull.headRepository?.split("/") ?? [];
  const asked = { owner, repo, ref: `refs/heads/${pull.branch}`, per_page: MOST_PUSHES, headers: askedFor(place) };
  const pushes = owner === "" ? undefined : await orNone(async () => (await place.octokit.rest.repos.listActivities(asked)).data);
  if (pushes === undefined || !pushes.some(({ after }) => after === pull.head)) return undefined;
  const opened = Date.parse(pull.createdAt);
  const merged = Date.parse(pull.mergedAt ?? "9999-12-31T23:59:59Z");
  const isOfPull = ({ after, timestamp, activity_type: type }: (typeof pushes)[number]) =>
    type !== "branch_deletion" && Date.parse(timestamp) <= merged && (Date.parse(timestamp) >= opened || commits.has(after));
  const last = pushes.at(-1);
  if (pushes.length === MOST_PUSHES && last !== undefined && isOfPull(last)) return undefined;
  const actors = pushes.filter(isOfPull).map(({ actor }) => actor?.login);
  // An account that was deleted pushed: who it was nobody knows.
  return actors.includes(undefined) ? undefined : linkedOf(actors);
}

function linkedOf(logins: readonly (string | undefined)[]): string[] {
  return [...new Set(logins.filter((login) => login !== undefined && login !== WEB_FLOW))] as string[];
}

/** See Forge.commitOf. Of a tag and a branch of one name the tag. */
export async function commitOf(place: RepoOctokit, repository: string, revision: string): Promise<string | null | "hidden"> {
  const [owner = "", repo = ""] = repository.split("/");
  const names = revision.startsWith("refs/") ? [revision.slice("refs/".length)] : [`tags/${revision}`, `heads/${revision}`];
  for (const ref of names) {
    try {
      const asked = { owner, repo, ref, per_page: 1, headers: askedFor(place) };
      return (await asking(() => place.octokit.rest.repos.getCommit(asked))).data.sha;
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
  const asked = { org, team_slug: slug, headers: askedFor(place) };
  const member = await askingOrNone(() => octokit.rest.teams.getMembershipForUserInOrg({ ...asked, username: login }), unseen);
  if (member !== undefined) return member.data.state === "active";
  const seen = await askingOrNone(() => octokit.rest.teams.getByName(asked), unseen);
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
