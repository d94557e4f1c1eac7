/**
 * Opens a repository on GitHub as a Forge. What limits an installation is shared by all its repositories here.
 */
import { defined } from "../../../core/base/defined.ts";
import { parseBranch } from "../../../core/run/state/branch-name.ts";
import type { Permission } from "../../../core/spec/commands.ts";
import type { Trace } from "../../git/journal/port.ts";
import { type Comment, type Forge, ForgeError, type RateSeen } from "../port.ts";
import { checksOf, checkWriter } from "./checks.ts";
import { deploymentWriter } from "./deployments.ts";
import { answerOf, asking, askingOrNone, forgeError } from "./errors.ts";
import { refusedError, sendGraphQL } from "./graphql/send.ts";
import { TEXTS_NOW, type TextNow, type TextsNowResult } from "./graphql/texts.ts";
import { labelledBy, labeller } from "./labels.ts";
import { dequeuePull, enqueuePull, mergeQueue, merger } from "./merge.ts";
import { type MergeClient, openMergeClient, standInLine } from "./merge-client.ts";
import { askedFor, conditionalReads, namedPages, type OctokitLike, type RepoOctokit, renewedTokens, type TokenAsked } from "./octokit.ts";
import { commitOf, inTeam, peopleOf, pullPeople, releaseAuthor } from "./people.ts";
import { openPressure } from "./pressure.ts";
import { changedFiles, createPull, openPulls, pullsOfCommit, reviewBodies, reviews } from "./pulls.ts";
import { branchRulesReader, rulesOn } from "./rules.ts";
import { pullNow, pullOfBranch, type Shared, sharedOf } from "./shared.ts";
import { comments, react, stickyComments, stickyIssues } from "./sticky.ts";
import { pacerOf } from "./write-pacer.ts";

interface GitHubForgeOptions {
  /** Authenticated for the repository: an installation's, or one with a token. */
  octokit: OctokitLike;
  /** `owner/name`. */
  repository: string;
}

interface Watched {
  rate(): RateSeen | undefined;
  mergeClient(): Promise<MergeClient>;
}

/** An Octokit is an installation's: its limits are those of all its repositories. */
const watched = new WeakMap<object, Watched>();

function watch(octokit: OctokitLike): Watched {
  const known = watched.get(octokit);
  if (known !== undefined) return known;
  const gauge = openPressure();
  const pacer = pacerOf(octokit);
  const prepare = (one: OctokitLike) => {
    gauge.watch(one);
    // Hooks added later are asked first: what is answered from memory must not speak for GitHub's limits.
    conditionalReads(one);
    renewedTokens(one);
    namedPages(one);
    standInLine(one, pacer);
  };
  prepare(octokit);
  let second: Promise<MergeClient> | undefined;
  const mergeClient = () => (second ??= openMergeClient(octokit, pacer, prepare));
  const made = { rate: gauge.rate, mergeClient };
  watched.set(octokit, made);
  return made;
}

/** One repository on github.com, GitHub Enterprise Server or the embedded GitHub. */
export function openGitHubForge({ octokit, repository }: GitHubForgeOptions): Forge {
  const shared = sharedOf(octokit, repository);
  const { place } = shared;
  const { rate, mergeClient } = watch(octokit);
  const identity = identityOf(place);
  const issues = stickyIssues(place, identity);
  const sticky = stickyComments(place, identity);
  return {
    repository,
    identity,
    appId: async () => (await whichApp(octokit))?.id,
    rate,
    ...repositoryOf(place),
    ...pullsOf(shared, mergeClient),
    comments: async (number, since) => comments(place, number, (await identity()).login, since),
    unedited: (comments) => findUnedited(place, comments),
    reviewBodies: async (number) => reviewBodies(place, number, (await identity()).login),
    stickyComment: sticky.put,
    stickyUrl: sticky.url,
    react: (comment, reaction) => react(place, comment, reaction),
    permission: (login) => permission(place, login),
    inTeam: (team, login) => inTeam(place, team, login),
    putCheck: checkWriter(shared, identity),
    checksOf: (head) => checksOf(place, head),
    putDeployment: deploymentWriter(place, identity),
    stickyIssue: issues.put,
    settleIssue: issues.settle,
    closeStickyIssue: issues.close,
  };
}

/** Asked once; where that failed, again. */
function identityOf(place: RepoOctokit): Forge["identity"] {
  let us: Promise<{ login: string; id: number }> | undefined;
  return () => {
    us ??= whoAmI(place).catch((error) => {
      us = undefined;
      throw error;
    });
    return us;
  };
}

/** The repository, its branches and its commits. */
function repositoryOf(place: RepoOctokit) {
  const { octokit, owner, repo } = place;
  return {
    async repo() {
      const { data } = await asking(() => octokit.rest.repos.get({ owner, repo }));
      return { defaultBranch: data.default_branch, cloneUrl: data.clone_url, archived: data.archived };
    },
    async gitCredentials({ renew = false } = {}) {
      const token = (asked: Partial<TokenAsked>) =>
        asking(() =>
          octokit.auth(defined({ ...asked, type: "installation", repository: `${owner}/${repo}`, refresh: renew || undefined })),
        );
      // What the App was given since comes with a new one.
      if (renew) await token({});
      // What git is handed opens this repository alone, and its contents.
      const { token: password } = (await token({ wanted: FOR_GIT })) as { token?: string };
      if (password === undefined) throw new ForgeError("Unauthorized", 401, "there is no token for Git");
      return { username: "x-access-token", password };
    },
    async deleteBranch(branch) {
      try {
        await octokit.rest.git.deleteRef({ owner, repo, ref: `heads/${branch}` });
      } catch (error) {
        const answer = answerOf(error);
        if (answer?.status === 404 || (answer?.status === 422 && /does not exist/i.test(answer.message))) return;
        throw forgeError(error);
      }
    },
    pullsOfCommit: (sha) => pullsOfCommit(place, sha),
    peopleOf: (commit, branch, holds) => peopleOf(place, commit, branch, holds),
    commitOf: (repository, revision) => commitOf(place, repository, revision),
    pullPeople: (pull) => pullPeople(place, pull),
    labelledBy: (pull, label) => labelledBy(place, pull, label),
    releaseAuthor: (tag) => releaseAuthor(place, tag),
    branchRules: branchRulesReader(place),
    rulesOn: (branch) => rulesOn(place, branch),
    mergeQueue: (branch) => mergeQueue(place, branch),
  } satisfies Partial<Forge>;
}

function pullsOf(shared: Shared, mergeClient: () => Promise<MergeClient>) {
  const { place, ids } = shared;
  const { octokit, owner, repo } = place;
  return {
    findPull: (branch) => pullOfBranch(shared, branch),
    pull: (number) => pullNow(shared, number),
    createPull: (input) => createPull(place, input),
    async closePull(number) {
      await asking(() => octokit.rest.pulls.update({ owner, repo, pull_number: number, state: "closed" }));
    },
    mergePull: merger(place, mergeClient),
    openPulls: () => openPulls(place),
    changedFiles: (number) => changedFiles(place, number),
    isBlank: (number) => shared.blankPulls.delete(number),
    reviews: (number) => reviews(place, number),
    enqueuePull: (number, head, base) => enqueuePull(place, ids, mergeClient, { number, head, base }),
    dequeuePull: (number) => dequeuePull(place, number),
    labelPull: labeller(shared),
  } satisfies Partial<Forge>;
}

/** An App acts as `SLUG[bot]`; a token as its owner. */
async function whoAmI(place: RepoOctokit): Promise<{ login: string; id: number }> {
  const { octokit } = place;
  const slug = (await whichApp(octokit))?.slug;
  if (slug === undefined) {
    const { data } = await asking(() => octokit.rest.users.getAuthenticated());
    return { login: data.login, id: data.id };
  }
  const login = `${slug}[bot]`;
  const { data } = await asking(() => octokit.rest.users.getByUsername({ username: login, headers: askedFor(place) }));
  return { login, id: data.id };
}

/** undefined: a token of somebody, or of a job. */
async function whichApp(octokit: OctokitLike): Promise<{ id: number; slug: string | undefined } | undefined> {
  const found = await askingOrNone(() => octokit.rest.apps.getAuthenticated(), [401, 403, 404]);
  return found?.data == null ? undefined : { id: found.data.id, slug: found.data.slug };
}

const ROLES: readonly Permission[] = ["none", "read", "triage", "write", "maintain", "admin"];

/**
 * The current permission, by role name where it is one of the known six: `permission` alone calls maintain write. A custom
 * role counts as the permission it is built on.
 */
async function permission({ octokit, owner, repo }: RepoOctokit, login: string): Promise<Permission> {
  const found = await askingOrNone(() => octokit.rest.repos.getCollaboratorPermissionLevel({ owner, repo, username: login }));
  return ROLES.find((role) => role === found?.data.role_name) ?? ROLES.find((role) => role === found?.data.permission) ?? "none";
}

/**
 * What shows that a journal has been here, where there is none: an open PR of a run that we ourselves opened. A PR that somebody else opened
 * from a branch of such a name shows nothing.
 */
export async function tracesOf(forge: Pick<Forge, "openPulls" | "identity" | "repository">): Promise<Trace | undefined> {
  const us = await forge.identity();
  for (const pull of await forge.openPulls()) {
    const batch = parseBranch(pull.branch);
    const isOurs = pull.author === us.login && pull.headRepository?.toLowerCase() === forge.repository.toLowerCase();
    if (batch !== undefined && isOurs) return { pull: pull.number, rollout: batch.rollout, run: batch.run };
  }
  return undefined;
}

const FOR_GIT = { metadata: "read", contents: "write", workflows: "write" };

/** Nodes that GitHub gives in one answer. */
const MOST_NODES = 100;

/** See Forge.unedited. What is not there any more is not unedited; throws where GitHub does not give what it was asked for. */
export async function findUnedited(place: RepoOctokit, comments: readonly Comment[]): Promise<Comment[]> {
  const asked = comments.filter(({ node }) => node !== undefined).slice(0, MOST_NODES);
  if (asked.length === 0) return [];
  const { data, errors } = await asking(() => sendGraphQL<TextsNowResult>(place, TEXTS_NOW, { ids: asked.map(({ node }) => node) }));
  const now = new Map((data.nodes ?? []).flatMap((one) => (one?.id === undefined ? [] : [[one.id, one]])));
  // A node that GitHub could not give just now says nothing of its author: it is asked again.
  const [failed] = errors;
  if (failed !== undefined && asked.some(({ node = "" }) => !now.has(node))) throw refusedError(TEXTS_NOW, failed);
  return asked.filter(({ node = "", body }) => isAsWritten(now.get(node), body));
}

/** A review may have been edited as a draft, which its author alone sees. */
function isAsWritten(now: TextNow | undefined, body: string): boolean {
  if (now === undefined || now.body !== body || now.lastEditedAt === undefined) return false;
  if (now.lastEditedAt === null) return now.submittedAt !== undefined || now.editor === null;
  return typeof now.submittedAt === "string" && Date.parse(now.lastEditedAt) < Date.parse(now.submittedAt);
}
