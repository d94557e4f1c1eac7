import { emitPull } from "./events.ts";
import { type ApiFailure, invalid } from "./failure.ts";
import type { Actor, Issue, Repo, World } from "./model.ts";
import { close } from "./refs-moved.ts";
import { isPull, type PullIssue } from "./world.ts";

export interface NewPull {
  title: string;
  head: string;
  base: string;
  body?: string | null;
  draft?: boolean;
}

/** Opens a pull request; refusals and their words as recorded from GitHub (an open one for the head, nothing between the two). */
export async function createPull(world: World, repo: Repo, actor: Actor, input: NewPull): Promise<PullIssue> {
  const branch = headBranch(repo, input.head);
  const [headSha, baseSha] = await Promise.all([repo.git.ref(`refs/heads/${branch}`), repo.git.ref(`refs/heads/${input.base}`)]);
  if (baseSha === undefined) throw invalid({ resource: "PullRequest", field: "base", code: "invalid" });
  if (headSha === undefined) throw invalid({ resource: "PullRequest", field: "head", code: "invalid" });
  if (openFor(repo, branch, input.base) !== undefined) throw alreadyExists(repo, branch);
  await mustDiffer(repo, { base: input.base, baseSha, branch, headSha });
  // Somebody may have opened the same one while git was asked.
  if (openFor(repo, branch, input.base) !== undefined) throw alreadyExists(repo, branch);
  const now = world.clock.now();
  const issue: PullIssue = {
    id: world.nextId(),
    number: repo.nextNumber++,
    title: input.title,
    body: input.body ?? null,
    state: "open",
    locked: false,
    user: actor.user,
    ...(actor.app === undefined ? {} : { via: actor.app }),
    labels: [],
    assignees: [],
    createdAt: now,
    updatedAt: now,
    pull: {
      id: world.nextId(),
      draft: input.draft ?? false,
      headRef: branch,
      headSha,
      baseRef: input.base,
      baseSha,
      reviewers: [],
      reviews: [],
    },
  };
  repo.issues.set(issue.number, issue);
  await repo.git.pointPull(issue.number, headSha);
  await emitPull(world, repo, actor, "opened", issue);
  return issue;
}

/** `branch` or `owner:branch`; forks do not exist here. */
function headBranch(repo: Repo, head: string): string {
  const colon = head.indexOf(":");
  if (colon < 0) return head;
  const owner = head.slice(0, colon);
  if (owner.toLowerCase() !== repo.owner.login.toLowerCase()) throw invalid({ resource: "PullRequest", field: "head", code: "invalid" });
  return head.slice(colon + 1);
}

function openFor(repo: Repo, branch: string, base: string): Issue | undefined {
  const all = [...repo.issues.values()].filter(isPull);
  return all.find((issue) => issue.state === "open" && issue.pull.headRef === branch && issue.pull.baseRef === base);
}

function alreadyExists(repo: Repo, branch: string): ApiFailure {
  const message = `A pull request already exists for ${repo.owner.login}:${branch}.`;
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
    changes["base"] = { from: { ref: { from: issue.pull.baseRef }, sha: { from: issue.pull.baseSha } } };
    issue.pull.baseRef = change.base;
    issue.pull.baseSha = sha;
    delete issue.pull.mergeability;
  }
  if (change.title !== undefined && change.title !== issue.title) {
    changes["title"] = { from: issue.title };
    issue.title = change.title;
  }
  if (change.body !== undefined && change.body !== issue.body) {
    changes["body"] = { from: issue.body };
    issue.body = change.body;
  }
  if (Object.keys(changes).length > 0) {
    issue.updatedAt = world.clock.now();
    await emitPull(world, repo, actor, "edited", issue, { changes });
  }
  if (change.state !== undefined) await setState(world, repo, actor, issue, change.state);
}

async function setState(world: World, repo: Repo, actor: Actor, issue: PullIssue, state: "open" | "closed"): Promise<void> {
  if (state === issue.state) return;
  if (state === "closed") {
    close(world, actor, issue);
    await emitPull(world, repo, actor, "closed", issue);
    return;
  }
  const head = await repo.git.ref(`refs/heads/${issue.pull.headRef}`);
  const gone = issue.pull.merged !== undefined || head === undefined;
  if (gone)
    throw invalid({
      resource: "PullRequest",
      field: "state",
      code: "invalid",
      message: "state cannot be changed. The pull request cannot be reopened.",
    });
  if (openFor(repo, issue.pull.headRef, issue.pull.baseRef) !== undefined) throw alreadyExists(repo, issue.pull.headRef);
  issue.state = "open";
  issue.pull.headSha = head;
  delete issue.closedAt;
  delete issue.closedBy;
  delete issue.pull.mergeability;
  issue.updatedAt = world.clock.now();
  await emitPull(world, repo, actor, "reopened", issue);
}
