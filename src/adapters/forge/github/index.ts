/**
 * Opens a repository on GitHub as a Forge. What limits an installation is shared by all its repositories here.
 */
import { defined } from "../../../core/base/defined.ts";
import { createListeners, type Listeners } from "../../../core/base/listeners.ts";
import type { Permission } from "../../../core/spec/commands.ts";
import { type Forge, ForgeError, type Pressure } from "../port.ts";
import { checksOf, checkWriter } from "./checks.ts";
import { comments, react, stickyComments } from "./comments.ts";
import { deploymentWriter } from "./deployments.ts";
import { answerOf, asking, forgeError } from "./errors.ts";
import { labeller } from "./labels.ts";
import { merger } from "./merge.ts";
import { type MergeClient, openMergeClient, standInLine } from "./merge-client.ts";
import { conditionalReads, type OctokitLike, type RepoOctokit, renewedTokens } from "./octokit.ts";
import { inTeam, peopleOf, pullPeople, releaseAuthor } from "./people.ts";
import { openPressure } from "./pressure.ts";
import { changedFiles, createPull, openPulls, pullsOfCommit, reviews } from "./pulls.ts";
import { dequeuePull, enqueuePull, mergeQueue } from "./queue.ts";
import { branchRulesReader } from "./rules.ts";
import { pullNow, pullOfBranch, type Shared, sharedOf } from "./shared.ts";
import { stickyIssues } from "./sticky-issue.ts";
import { openWritePacer } from "./write-pacer.ts";

interface GitHubForgeOptions {
  /** Authenticated for the repository: an installation's, or one with a token. */
  octokit: OctokitLike;
  /** `owner/name`. */
  repository: string;
  /** Told when the installation comes near a limit of GitHub's, or away from it. */
  onPressure?: (pressure: Pressure) => void;
}

interface Watched {
  pressure: () => Pressure;
  listeners: Listeners<Pressure>;
  mergeClient(): Promise<MergeClient>;
}

/** An Octokit is an installation's: its limits are those of all its repositories. */
const watched = new WeakMap<object, Watched>();

function watch(octokit: OctokitLike): Watched {
  const known = watched.get(octokit);
  if (known !== undefined) return known;
  const listeners = createListeners<Pressure>();
  const gauge = openPressure({ onPressure: listeners.tell });
  const pacer = openWritePacer();
  const prepare = (one: OctokitLike) => {
    gauge.watch(one);
    // Hooks added later are asked first: what is answered from memory must not speak for GitHub's limits.
    conditionalReads(one);
    renewedTokens(one);
    standInLine(one, pacer);
  };
  prepare(octokit);
  let second: Promise<MergeClient> | undefined;
  const mergeClient = () => (second ??= openMergeClient(octokit, pacer, prepare));
  const made = { pressure: gauge.pressure, listeners, mergeClient };
  watched.set(octokit, made);
  return made;
}

/** One repository on github.com, GitHub Enterprise Server or the embedded GitHub. */
export function openGitHubForge({ octokit, repository, onPressure }: GitHubForgeOptions): Forge {
  const shared = sharedOf(octokit, repository);
  const { place } = shared;
  const { pressure, listeners, mergeClient } = watch(octokit);
  if (onPressure !== undefined) listeners.add(onPressure);
  const identity = identityOf(octokit);
  const issues = stickyIssues(place, identity);
  return {
    repository,
    identity,
    appId: async () => (await whichApp(octokit))?.id,
    pressure,
    rate: () => pressure().primary,
    ...repositoryOf(place),
    ...pullsOf(shared, mergeClient),
    comments: async (number, since) => comments(place, number, (await identity()).login, since),
    stickyComment: stickyComments(place, identity),
    react: (comment, reaction) => react(place, comment, reaction),
    permission: (login) => permission(place, login),
    inTeam: (team, login) => inTeam(place, team, login),
    putCheck: checkWriter(shared, identity),
    checksOf: (head) => checksOf(place, head),
    putDeployment: deploymentWriter(place, identity),
    stickyIssue: issues.put,
    closeStickyIssue: issues.close,
  };
}

/** Asked once; where that failed, again. */
function identityOf(octokit: OctokitLike): Forge["identity"] {
  let us: Promise<{ login: string; id: number }> | undefined;
  return () => {
    us ??= whoAmI(octokit).catch((error) => {
      us = undefined;
      throw error;
    });
    return us;
  };
}

type OfRepository =
  | "repo"
  | "gitCredentials"
  | "deleteBranch"
  | "pullsOfCommit"
  | "peopleOf"
  | "pullPeople"
  | "releaseAuthor"
  | "branchRules"
  | "mergeQueue";

/** The repository, its branches and its commits. */
function repositoryOf(place: RepoOctokit): Pick<Forge, OfRepository> {
  const { octokit, owner, repo } = place;
  return {
    async repo() {
      const { data } = await asking(`read ${owner}/${repo}`, () => octokit.rest.repos.get({ owner, repo }));
      return { defaultBranch: data.default_branch, cloneUrl: data.clone_url, archived: data.archived };
    },
    async gitCredentials({ renew = false } = {}) {
      const auth = (await asking("get a token for Git", () =>
        octokit.auth(defined({ type: "installation", refresh: renew ? true : undefined })),
      )) as { token?: string };
      if (auth.token === undefined) throw new ForgeError("Unauthorized", 401, "there is no token for Git");
      return { username: "x-access-token", password: auth.token };
    },
    async deleteBranch(branch) {
      try {
        await octokit.rest.git.deleteRef({ owner, repo, ref: `heads/${branch}` });
      } catch (error) {
        const answer = answerOf(error);
        if (answer?.status === 404 || (answer?.status === 422 && /does not exist/i.test(answer.message))) return;
        throw forgeError(`delete branch ${branch}`, error);
      }
    },
    pullsOfCommit: (sha) => pullsOfCommit(place, sha),
    peopleOf: (commit, branch, holds) => peopleOf(place, commit, branch, holds),
    pullPeople: (number) => pullPeople(place, number),
    releaseAuthor: (tag) => releaseAuthor(place, tag),
    branchRules: branchRulesReader(place),
    mergeQueue: (branch) => mergeQueue(place, branch),
  };
}

type OfPulls =
  | "findPull"
  | "pull"
  | "createPull"
  | "updatePull"
  | "closePull"
  | "mergePull"
  | "openPulls"
  | "changedFiles"
  | "isBlank"
  | "reviews"
  | "enqueuePull"
  | "dequeuePull"
  | "labelPull";

function pullsOf(shared: Shared, mergeClient: () => Promise<MergeClient>): Pick<Forge, OfPulls> {
  const { place, ids } = shared;
  const { octokit, owner, repo } = place;
  return {
    findPull: (branch) => pullOfBranch(shared, branch),
    pull: (number) => pullNow(shared, number),
    createPull: (input) => createPull(place, input),
    async updatePull(number, change) {
      await asking(`edit pull request ${number}`, () => octokit.rest.pulls.update({ owner, repo, pull_number: number, ...change }));
    },
    async closePull(number) {
      await asking(`close pull request ${number}`, () => octokit.rest.pulls.update({ owner, repo, pull_number: number, state: "closed" }));
    },
    mergePull: merger(place, mergeClient),
    openPulls: () => openPulls(place),
    changedFiles: (number) => changedFiles(place, number),
    isBlank: (number) => shared.blankPulls.delete(number),
    reviews: (number) => reviews(place, number),
    enqueuePull: (number, head) => enqueuePull(place, ids, mergeClient, number, head),
    dequeuePull: (number) => dequeuePull(place, number),
    labelPull: labeller(shared),
  };
}

/** An App acts as `SLUG[bot]`; a token as its owner. */
async function whoAmI(octokit: OctokitLike): Promise<{ login: string; id: number }> {
  const slug = (await whichApp(octokit))?.slug;
  if (slug === undefined) {
    const { data } = await asking("ask who we are", () => octokit.rest.users.getAuthenticated());
    return { login: data.login, id: data.id };
  }
  const login = `${slug}[bot]`;
  const { data } = await asking(`look up ${login}`, () => octokit.rest.users.getByUsername({ username: login }));
  return { login, id: data.id };
}

/** undefined: a token of somebody, or of a job. */
async function whichApp(octokit: OctokitLike): Promise<{ id: number; slug: string | undefined } | undefined> {
  try {
    const { data } = await octokit.rest.apps.getAuthenticated();
    return data === null ? undefined : { id: data.id, slug: data.slug };
  } catch (error) {
    const status = answerOf(error)?.status;
    if (status === 401 || status === 403 || status === 404) return undefined;
    throw forgeError("ask which App we are", error);
  }
}

const ROLES: readonly Permission[] = ["none", "read", "triage", "write", "maintain", "admin"];

/**
 * The current permission, by role name where it is one of the known six: `permission` alone calls maintain write. A custom
 * role counts as the permission it is built on.
 */
async function permission({ octokit, owner, repo }: RepoOctokit, login: string): Promise<Permission> {
  try {
    const { data } = await octokit.rest.repos.getCollaboratorPermissionLevel({ owner, repo, username: login });
    const named = ROLES.find((role) => role === data.role_name);
    return named ?? ROLES.find((role) => role === data.permission) ?? "none";
  } catch (error) {
    if (answerOf(error)?.status === 404) return "none";
    throw forgeError(`ask what ${login} may do`, error);
  }
}
