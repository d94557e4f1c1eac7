import { defined } from "../../../core/base/defined.ts";
import type {
  Actor,
  App,
  Deployment,
  DeploymentStatus,
  Installation,
  Issue,
  IssueComment,
  Label,
  Repo,
  Review,
  Team,
  User,
  World,
} from "../model/model.ts";
import { fullName, installationsOn, nodeId, type PullIssue } from "../model/world.ts";
import { readPull } from "../pulls/pull-details.ts";
import { deploymentShape, deploymentStatusShape } from "../shapes/deployment.ts";
import { installationShape } from "../shapes/installation.ts";
import { commentShape, issueShape, labelShape } from "../shapes/issue.ts";
import { organizationShape, teamShape } from "../shapes/organization.ts";
import { reviewShape } from "../shapes/pull.ts";
import { repoShape } from "../shapes/repo.ts";
import { userShape } from "../shapes/user.ts";

/** Events an App has not asked for, or of a repository it is not installed on, do not exist for it. `only`: no other App is told. */
export function emit(world: World, repo: Repo, actor: Actor, name: string, action: string | undefined, part: object, only?: App): void {
  for (const installation of installationsOn(world, repo)) {
    if (only !== undefined && installation.app !== only) continue;
    if (!installation.app.events.includes(name)) continue;
    world.hooks.emit(
      defined({
        app: installation.app,
        name,
        action,
        installation: installation.id,
        repository: repo.id,
        payload: defined({
          action,
          ...part,
          repository: repoShape(world, repo),
          organization: repo.owner.type === "Organization" ? organizationShape(world, repo.owner) : undefined,
          sender: userShape(world, actor.user),
          installation: { id: installation.id, node_id: nodeId("MDIzOk", installation.id) },
        }),
      }),
    );
  }
}

function heard(world: World, repo: Repo, name: string): boolean {
  return installationsOn(world, repo).some((one) => one.app.events.includes(name));
}

export async function emitPull(world: World, repo: Repo, actor: Actor, action: string, issue: PullIssue, part: object = {}): Promise<void> {
  if (!heard(world, repo, "pull_request")) return;
  const shape = await readPull(world, repo, issue, { ask: false });
  emit(world, repo, actor, "pull_request", action, { number: issue.number, pull_request: shape, ...part });
}

export async function emitLabeled(
  world: World,
  repo: Repo,
  actor: Actor,
  action: "labeled" | "unlabeled",
  issue: PullIssue,
  label: Label,
): Promise<void> {
  await emitPull(world, repo, actor, action, issue, { label: labelShape(world, repo, label) });
}

export function emitReviewRequest(
  world: World,
  repo: Repo,
  actor: Actor,
  action: "review_requested" | "review_request_removed",
  issue: PullIssue,
  whom: User | Team,
): Promise<void> {
  const part = "slug" in whom ? { requested_team: teamShape(world, whom) } : { requested_reviewer: userShape(world, whom) };
  return emitPull(world, repo, actor, action, issue, part);
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
  emit(
    world,
    repo,
    actor,
    "issue_comment",
    action,
    defined({
      issue: issueShape(world, repo, issue),
      comment: commentShape(world, repo, comment),
      changes: before === undefined ? undefined : { body: { from: before } },
    }),
  );
}

export function emitIssue(world: World, repo: Repo, actor: Actor, action: string, issue: Issue, part: object = {}): void {
  emit(world, repo, actor, "issues", action, { issue: issueShape(world, repo, issue), ...part });
}

export async function emitReview(
  world: World,
  repo: Repo,
  actor: Actor,
  action: "submitted" | "dismissed",
  issue: PullIssue,
  review: Review,
): Promise<void> {
  if (!heard(world, repo, "pull_request_review")) return;
  const pull = await readPull(world, repo, issue, { ask: false });
  const { merged, mergeable, rebaseable, mergeable_state, merged_by, ...rest } = pull;
  const { comments, review_comments, maintainer_can_modify, commits, additions, deletions, changed_files, ...simple } = rest;
  emit(world, repo, actor, "pull_request_review", action, {
    review: { ...reviewShape(world, repo, issue, review), state: review.state.toLowerCase() },
    pull_request: simple,
  });
}

/** `archived`, `renamed` …; the App hears of it as long as it has the repository. */
export function emitRepository(world: World, repo: Repo, actor: Actor, action: string, part: object = {}): void {
  emit(world, repo, actor, "repository", action, part);
}

export function emitDeployment(world: World, repo: Repo, actor: Actor, deployment: Deployment): void {
  const part = { deployment: deploymentShape(world, repo, deployment), workflow: null, workflow_run: null };
  emit(world, repo, actor, "deployment", "created", part);
}

export function emitDeploymentStatus(world: World, repo: Repo, actor: Actor, deployment: Deployment, status: DeploymentStatus): void {
  emit(world, repo, actor, "deployment_status", "created", {
    deployment_status: deploymentStatusShape(world, repo, deployment, status),
    deployment: deploymentShape(world, repo, deployment),
    check_run: null,
    workflow: null,
    workflow_run: null,
  });
}

function shortRepo(repo: Repo) {
  return { id: repo.id, node_id: nodeId("R", repo.id), name: repo.name, full_name: fullName(repo), private: repo.private };
}

type InstallationAction = "created" | "deleted" | "suspend" | "unsuspend" | "new_permissions_accepted";

/** `installation.created` and the like: sent unasked. */
export function emitInstallation(world: World, installation: Installation, action: InstallationAction): void {
  const repositories = [...world.repos.values()].filter((repo) => repo.owner.id === installation.account.id);
  world.hooks.emit({
    app: installation.app,
    name: "installation",
    action,
    installation: installation.id,
    payload: defined({
      action,
      installation: installationShape(world, installation),
      repositories: repositories.map(shortRepo),
      requester: action === "created" ? null : undefined,
      sender: userShape(world, installation.account),
    }),
  });
}

/** Nothing where nothing was added or removed. */
export function emitInstallationRepositories(
  world: World,
  installation: Installation,
  action: "added" | "removed",
  repositories: readonly Repo[],
): void {
  if (repositories.length === 0) return;
  world.hooks.emit({
    app: installation.app,
    name: "installation_repositories",
    action,
    installation: installation.id,
    payload: {
      action,
      installation: installationShape(world, installation),
      repository_selection: installation.repositories === "all" ? "all" : "selected",
      repositories_added: action === "added" ? repositories.map(shortRepo) : [],
      repositories_removed: action === "removed" ? repositories.map(shortRepo) : [],
      requester: null,
      sender: userShape(world, installation.account),
    },
  });
}
