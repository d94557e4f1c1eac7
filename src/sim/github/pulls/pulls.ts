import { defined } from "../../../core/base/defined.ts";
import { emitPull } from "../deliver/events.ts";
import { type ApiFailure, invalid, refused } from "../http/failure.ts";
import type { Actor, Issue, Repo, World } from "../model/model.ts";
import { isPull, type PullIssue } from "../model/world.ts";
import { changeWords } from "./comments.ts";
import { closeFor } from "./refs-moved.ts";
import { requestOwners } from "./reviews.ts";

interface NewPull {
  title: string;
  head: string;
  base: string;
  body?: string | null;
  draft?: boolean;
}

interface Head {
  repo: Repo;
  branch: string;
}

/** Opens a pull request; refusals and their words as recorded from GitHub (an open one for the head, nothing between the two). */
export async function createPull(world: World, repo: Repo, actor: Actor, input: NewPull): Promise<PullIssue> {
  const head = headOf(world, repo, input.head);
  const [headSha, baseSha] = await Promise.all([head.repo.git.ref(`refs/heads/${head.branch}`), repo.git.ref(`refs/heads/${input.base}`)]);
  if (baseSha === undefined) throw invalid({ resource: "PullRequest", field: "base", code: "invalid" });
  if (headSha === undefined) throw invalid({ resource: "PullRequest", field: "head", code: "invalid" });
  if (openFor(repo, head, input.base) !== undefined) throw alreadyExists(head);
  if (head.repo !== repo) await repo.git.fetch(head.repo.git, `refs/heads/${head.branch}`, `refs/pull/${repo.nextNumber}/head`);
  await mustDiffer(repo, { base: input.base, baseSha, branch: head.branch, headSha });
  // Somebody may have opened the same one while git was asked.
  if (openFor(repo, head, input.base) !== undefined) throw alreadyExists(head);
  const number = repo.nextNumber++;
  const issue = newPull(world, actor, input, { number, head, headSha, baseSha, foreign: head.repo !== repo });
  repo.issues.set(number, issue);
  await repo.git.pointPull(number, headSha);
  await emitPull(world, repo, actor, "opened", issue);
  if (!issue.pull.draft) await requestOwners(world, repo, actor, issue);
  return issue;
}

function newPull(
  world: World,
  actor: Actor,
  input: NewPull,
  at: { number: number; head: Head; headSha: string; baseSha: string; foreign: boolean },
): PullIssue {
  const now = world.clock.now();
  return defined({
    id: world.nextId(),
    number: at.number,
    title: input.title,
    body: input.body ?? null,
    state: "open",
    locked: false,
    user: actor.user,
    via: actor.app,
    labels: [],
    assignees: [],
    createdAt: now,
    updatedAt: now,
    pull: defined({
      id: world.nextId(),
      draft: input.draft ?? false,
      headRepo: at.foreign ? at.head.repo : undefined,
      headRef: at.head.branch,
      headSha: at.headSha,
      pusher: actor.user,
      baseRef: input.base,
      baseSha: at.baseSha,
      reviewers: [],
      teams: [],
      reviews: [],
    }),
  });
}

/** `branch`, or `owner:branch` for one in a fork. */
function headOf(world: World, repo: Repo, head: string): Head {
  const colon = head.indexOf(":");
  if (colon < 0) return { repo, branch: head };
  const owner = head.slice(0, colon).toLowerCase();
  const branch = head.slice(colon + 1);
  if (owner === repo.owner.login.toLowerCase()) return { repo, branch };
  const fork = [...world.repos.values()].find((one) => one.parent === repo && one.owner.login.toLowerCase() === owner);
  if (fork === undefined) throw invalid({ resource: "PullRequest", field: "head", code: "invalid" });
  return { repo: fork, branch };
}

function openFor(repo: Repo, head: Head, base: string): Issue | undefined {
  const all = [...repo.issues.values()].filter(isPull);
  return all.find((issue) => {
    const from = issue.pull.headRepo === undefined ? repo : issue.pull.headRepo;
    return issue.state === "open" && from === head.repo && issue.pull.headRef === head.branch && issue.pull.baseRef === base;
  });
}

function alreadyExists(head: Head): ApiFailure {
  const message = `A pull request already exists for ${head.repo.owner.login}:${head.branch}.`;
  return invalid({ resource: "PullRequest", code: "custom", message });
}

async function mustDiffer(repo: Repo, pair: { base: string; baseSha: string; branch: string; headSha: string }): Promise<void> {
  const head = await repo.git.commit(pair.headSha);
  if (head?.parents.includes(pair.baseSha)) return;
  const common = await repo.git.mergeBase(pair.baseSha, pair.headSha);
  if (common !== undefined && common !== pair.headSha) return;
  const message =
    common === undefined
      ? `The ${pair.branch} branch has no history in common with ${pair.base}`
      : `No commits between ${pair.base} and ${pair.branch}`;
  throw invalid({ resource: "PullRequest", code: "custom", message });
}

export interface PullChange {
  title?: string;
  body?: string | null;
  base?: string;
  state?: "open" | "closed";
}

export async function editPull(world: World, repo: Repo, actor: Actor, issue: PullIssue, change: PullChange): Promise<void> {
  const changes: Record<string, { from: unknown }> = {};
  if (change.base !== undefined && change.base !== issue.pull.baseRef) {
    const sha = await repo.git.ref(`refs/heads/${change.base}`);
    const message = `Proposed base branch '${change.base}' was not found`;
    if (sha === undefined) throw invalid({ resource: "PullRequest", field: "base", code: "invalid", message });
    if (issue.state === "open") {
      await mustDiffer(repo, { base: change.base, baseSha: sha, branch: issue.pull.headRef, headSha: issue.pull.headSha });
    }
    Object.assign(changes, { base: { ref: { from: issue.pull.baseRef }, sha: { from: issue.pull.baseSha } } });
    const event = { from: issue.pull.baseRef, to: change.base, by: actor.user, at: world.clock.now() };
    issue.retargeted = [...(issue.retargeted ?? []), event];
    issue.pull.baseRef = change.base;
    issue.pull.baseSha = sha;
    delete issue.pull.mergeability;
  }
  Object.assign(changes, changeWords(issue, change));
  if (Object.keys(changes).length > 0) {
    issue.updatedAt = world.clock.now();
    await emitPull(world, repo, actor, "edited", issue, { changes });
  }
  if (change.state !== undefined) await setState(world, repo, actor, issue, change.state);
}

async function setState(world: World, repo: Repo, actor: Actor, issue: PullIssue, state: "open" | "closed"): Promise<void> {
  if (state === issue.state) return;
  if (state === "closed") {
    await closeFor(world, repo, actor, issue);
    return;
  }
  const from = issue.pull.headRepo === undefined ? repo : issue.pull.headRepo;
  const head = await from?.git.ref(`refs/heads/${issue.pull.headRef}`);
  const message = "state cannot be changed. The pull request cannot be reopened.";
  const gone = issue.pull.merged !== undefined || head === undefined || from === null;
  if (gone) throw invalid({ resource: "PullRequest", field: "state", code: "invalid", message });
  const there = { repo: from, branch: issue.pull.headRef };
  if (openFor(repo, there, issue.pull.baseRef) !== undefined) throw alreadyExists(there);
  issue.state = "open";
  issue.pull.headSha = head;
  delete issue.closedAt;
  delete issue.closedBy;
  delete issue.pull.mergeability;
  issue.updatedAt = world.clock.now();
  await emitPull(world, repo, actor, "reopened", issue);
}

/** Draft or ready for review: GitHub has it in GraphQL only. */
export async function setDraft(world: World, repo: Repo, actor: Actor, issue: PullIssue, draft: boolean): Promise<void> {
  if (issue.state === "closed") throw refused("Pull request is closed");
  if (issue.pull.draft === draft) return;
  issue.pull.draft = draft;
  issue.updatedAt = world.clock.now();
  await emitPull(world, repo, actor, draft ? "converted_to_draft" : "ready_for_review", issue);
  if (!draft) await requestOwners(world, repo, actor, issue);
}
