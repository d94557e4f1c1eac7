import type { Actor, Installation, Issue, IssueComment, Repo, Review, World } from "./model.ts";
import { readPull } from "./pull-details.ts";
import { commentShape, issueShape, labelShape } from "./shapes/issue.ts";
import { reviewShape } from "./shapes/pull.ts";
import { repoShape } from "./shapes/repo.ts";
import { appShape, userShape } from "./shapes/user.ts";
import { fullName, nodeId, type PullIssue, seconds } from "./world.ts";

function installationOf(world: World, repo: Repo): Installation | undefined {
  for (const one of world.installations.values()) {
    if (one.account.id === repo.owner.id && !one.suspended) return one;
  }
  return undefined;
}

/** Events an App has not asked for, or of a repository it is not installed on, do not exist for it. */
function emit(world: World, repo: Repo, actor: Actor, name: string, action: string | undefined, part: object): void {
  const installation = installationOf(world, repo);
  if (installation === undefined || !world.app.events.includes(name)) return;
  world.hooks.emit({
    name,
    ...(action === undefined ? {} : { action }),
    installation: installation.id,
    repository: repo.id,
    payload: {
      ...(action === undefined ? {} : { action }),
      ...part,
      repository: repoShape(world, repo),
      sender: userShape(world, actor.user),
      installation: { id: installation.id, node_id: nodeId("MDIzOk", installation.id) },
    },
  });
}

export async function emitPull(world: World, repo: Repo, actor: Actor, action: string, issue: PullIssue, part: object = {}): Promise<void> {
  const shape = await readPull(world, repo, issue, { ask: false });
  emit(world, repo, actor, "pull_request", action, { number: issue.number, pull_request: shape, ...part });
}

export function emitLabeled(
  world: World,
  repo: Repo,
  actor: Actor,
  action: "labeled" | "unlabeled",
  issue: PullIssue,
  name: string,
): Promise<void> {
  const label = repo.labels.get(name.toLowerCase());
  return emitPull(world, repo, actor, action, issue, label === undefined ? {} : { label: labelShape(world, repo, label) });
}

export function emitComment(
  world: World,
  repo: Repo,
  actor: Actor,
  action: "created" | "edited" | "deleted",
  issue: Issue,
  comment: IssueComment,
  before?: string,
): void {
  emit(world, repo, actor, "issue_comment", action, {
    issue: issueShape(world, repo, issue),
    comment: commentShape(world, repo, comment),
    ...(before === undefined ? {} : { changes: { body: { from: before } } }),
  });
}

export function emitIssue(world: World, repo: Repo, actor: Actor, action: string, issue: Issue): void {
  emit(world, repo, actor, "issues", action, { issue: issueShape(world, repo, issue) });
}

export async function emitReview(world: World, repo: Repo, actor: Actor, issue: PullIssue, review: Review): Promise<void> {
  const shape = reviewShape(world, repo, issue, review);
  const pull = await readPull(world, repo, issue, { ask: false });
  emit(world, repo, actor, "pull_request_review", "submitted", {
    review: { ...shape, state: review.state.toLowerCase() },
    pull_request: pull,
  });
}

export function emitCheckRun(world: World, repo: Repo, actor: Actor, action: "created" | "completed", checkRun: object): void {
  emit(world, repo, actor, "check_run", action, { check_run: checkRun });
}

export async function emitPush(
  world: World,
  repo: Repo,
  actor: Actor,
  change: { ref: string; old: string | undefined; new: string | undefined },
): Promise<void> {
  const zero = "0".repeat(40);
  const commits = change.new === undefined ? [] : await pushedCommits(repo, change.old, change.new);
  const printed = commits.map((commit) => ({
    id: commit.sha,
    tree_id: commit.tree,
    distinct: true,
    message: commit.message.replace(/\n$/, ""),
    timestamp: seconds(commit.committer.at * 1000),
    url: `${world.origin}/${fullName(repo)}/commit/${commit.sha}`,
    author: { name: commit.author.name, email: commit.author.email },
    committer: { name: commit.committer.name, email: commit.committer.email },
    added: [],
    removed: [],
    modified: [],
  }));
  emit(world, repo, actor, "push", undefined, {
    ref: change.ref,
    before: change.old ?? zero,
    after: change.new ?? zero,
    created: change.old === undefined,
    deleted: change.new === undefined,
    forced: false,
    base_ref: null,
    compare: `${world.origin}/${fullName(repo)}/compare/${(change.old ?? zero).slice(0, 12)}...${(change.new ?? zero).slice(0, 12)}`,
    commits: printed,
    head_commit: printed.at(-1) ?? null,
    pusher: { name: actor.user.login, email: `${actor.user.login}@users.noreply.github.com` },
  });
}

/** Oldest first. One commit on top of the old head, or the merge of one, are the usual cases and cost no process. */
async function pushedCommits(repo: Repo, old: string | undefined, head: string) {
  const tip = await repo.git.commit(head);
  if (tip === undefined) return [];
  if (old === undefined || (tip.parents.length === 1 && tip.parents[0] === old)) return [tip];
  const side = tip.parents[0] === old && tip.parents[1] !== undefined ? await repo.git.commit(tip.parents[1]) : undefined;
  if (side?.parents.length === 1 && side.parents[0] === old) return [side, tip];
  const ids = await repo.git.revList(old, head, 20);
  const commits = await Promise.all(ids.map((id) => repo.git.commit(id)));
  return commits.filter((commit) => commit !== undefined).reverse();
}

/** `installation.created` and the like: sent unasked. */
export function emitInstallation(world: World, installation: Installation, action: "created" | "deleted" | "suspend" | "unsuspend"): void {
  const repositories = [...world.repos.values()].filter((repo) => repo.owner.id === installation.account.id);
  world.hooks.emit({
    name: "installation",
    action,
    installation: installation.id,
    payload: {
      action,
      installation: installationShape(world, installation),
      repositories: repositories.map((repo) => ({
        id: repo.id,
        node_id: nodeId("R", repo.id),
        name: repo.name,
        full_name: fullName(repo),
        private: repo.private,
      })),
      requester: null,
      sender: userShape(world, installation.account),
    },
  });
}

export function installationShape(world: World, installation: Installation) {
  const url = `${world.origin}/app/installations/${installation.id}`;
  return {
    id: installation.id,
    account: userShape(world, installation.account),
    repository_selection: "all" as const,
    access_tokens_url: `${url}/access_tokens`,
    repositories_url: `${world.origin}/installation/repositories`,
    html_url: `${world.origin}/settings/installations/${installation.id}`,
    app_id: installation.app.id,
    client_id: appShape(world, installation.app).client_id ?? "",
    app_slug: installation.app.slug,
    target_id: installation.account.id,
    target_type: installation.account.type,
    permissions: installation.permissions,
    events: installation.app.events,
    created_at: seconds(installation.createdAt),
    updated_at: seconds(installation.createdAt),
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: null,
    suspended_at: installation.suspended ? seconds(installation.createdAt) : null,
  };
}
