import type { Annotation, CheckRun, CheckSuite, Repo, Status, World } from "../model/model.ts";
import { isPull, nodeId, type PullIssue, seconds } from "../model/world.ts";
import { pageUrl, repoShape, repoUrl } from "./repo.ts";
import { appShape, userShape } from "./user.ts";

/** Open pull requests of this repository with that head. */
function pullsAt(repo: Repo, sha: string): PullIssue[] {
  const all = [...repo.issues.values()].filter(isPull);
  return all.filter((issue) => issue.state === "open" && issue.pull.headSha === sha && issue.pull.headRepo === undefined);
}

function shortPulls(world: World, repo: Repo, sha: string) {
  const where = { id: repo.id, url: repoUrl(world, repo), name: repo.name };
  return pullsAt(repo, sha).map((issue) => ({
    id: issue.pull.id,
    number: issue.number,
    url: `${repoUrl(world, repo)}/pulls/${issue.number}`,
    head: { ref: issue.pull.headRef, sha: issue.pull.headSha, repo: where },
    base: { ref: issue.pull.baseRef, sha: issue.pull.baseSha, repo: where },
  }));
}

export function checkShape(world: World, repo: Repo, run: CheckRun) {
  const url = `${repoUrl(world, repo)}/check-runs/${run.id}`;
  return {
    id: run.id,
    name: run.name,
    node_id: nodeId("CR", run.id),
    head_sha: run.headSha,
    external_id: run.externalId ?? "",
    url,
    html_url: `${pageUrl(world, repo)}/runs/${run.id}`,
    details_url: run.detailsUrl ?? `${pageUrl(world, repo)}/runs/${run.id}`,
    status: run.status,
    conclusion: run.conclusion,
    started_at: seconds(run.startedAt),
    completed_at: run.completedAt === undefined ? null : seconds(run.completedAt),
    output: { ...run.output, annotations_count: run.annotations.length, annotations_url: `${url}/annotations` },
    check_suite: { id: run.suite.id },
    app: appShape(world, run.app),
    pull_requests: shortPulls(world, repo, run.headSha),
  };
}

/** In events a run carries its suite whole. */
export function checkEventShape(world: World, repo: Repo, run: CheckRun) {
  const { app, check_suite: _suite, ...rest } = checkShape(world, repo, run);
  const {
    head_commit: _commit,
    latest_check_runs_count: _count,
    check_runs_url: _runs,
    repository: _repository,
    ...suite
  } = suiteShape(world, repo, run.suite, null);
  return { ...rest, app, check_suite: suite };
}

/** A suite is done when all of its runs are; its conclusion is that of the worst. */
export function suiteState(repo: Repo, suite: CheckSuite): { status: CheckRun["status"]; conclusion: string | null; count: number } {
  const runs = [...repo.checks.values()].filter((run) => run.suite === suite);
  const latest = [...new Map(runs.map((run) => [run.name, run])).values()];
  const count = latest.length;
  if (count === 0 || suite.asked === true) return { status: "queued", conclusion: null, count };
  if (latest.some((run) => run.status !== "completed")) {
    return { status: latest.every((run) => run.status === "queued") ? "queued" : "in_progress", conclusion: null, count };
  }
  const worst = ["failure", "timed_out", "cancelled", "action_required", "success", "neutral", "skipped"];
  return { status: "completed", conclusion: worst.find((word) => latest.some((run) => run.conclusion === word)) ?? "neutral", count };
}

export function suiteShape(world: World, repo: Repo, suite: CheckSuite, headCommit: object | null) {
  const { status, conclusion, count } = suiteState(repo, suite);
  const url = `${repoUrl(world, repo)}/check-suites/${suite.id}`;
  return {
    id: suite.id,
    node_id: nodeId("CS", suite.id),
    head_branch: suite.headBranch,
    head_sha: suite.headSha,
    status,
    conclusion,
    url,
    before: null,
    after: suite.headSha,
    pull_requests: shortPulls(world, repo, suite.headSha),
    app: appShape(world, suite.app),
    repository: repoShape(world, repo),
    created_at: seconds(suite.createdAt),
    updated_at: seconds(suite.updatedAt),
    head_commit: headCommit,
    latest_check_runs_count: count,
    check_runs_url: `${url}/check-runs`,
  };
}

export function annotationShape(world: World, repo: Repo, run: CheckRun, annotation: Annotation) {
  const path = annotation.path.split("/").map(encodeURIComponent).join("/");
  return { ...annotation, blob_href: `${pageUrl(world, repo)}/blob/${run.headSha}/${path}` };
}

export function statusShape(world: World, repo: Repo, status: Status) {
  return {
    ...simpleStatusShape(world, repo, status),
    creator: userShape(world, status.creator),
  };
}

/** As in the combined status. */
export function simpleStatusShape(world: World, repo: Repo, status: Status) {
  return {
    url: `${repoUrl(world, repo)}/statuses/${status.sha}`,
    avatar_url: `${world.origin}/avatars/u/${status.creator.id}?v=4`,
    id: status.id,
    node_id: nodeId("SC", status.id),
    state: status.state,
    description: status.description,
    target_url: status.targetUrl,
    context: status.context,
    created_at: seconds(status.at),
    updated_at: seconds(status.at),
  };
}
