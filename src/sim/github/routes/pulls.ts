import { defined } from "../../../core/base/defined.ts";
import { ApiFailure, invalid, notFound } from "../http/failure.ts";
import {
  type Answer,
  created,
  NO_CONTENT,
  numberParam,
  ok,
  optionalText,
  page,
  READ,
  type RepoCall,
  type Route,
  repoRoute,
  TAKE_PART,
  text,
  texts,
  WRITE,
} from "../http/router.ts";
import type { Review, Team, User } from "../model/model.ts";
import { atLeast, isPull, type PullIssue, pullOf, roleOf, teamOf } from "../model/world.ts";
import { mergePull } from "../pulls/merge-pull.ts";
import { pullCommits, pullFiles } from "../pulls/pull-changes.ts";
import { readPull } from "../pulls/pull-details.ts";
import { createPull, editPull, type PullChange } from "../pulls/pulls.ts";
import { createReview, dismissReview, requestReviews, withdrawReviews } from "../pulls/reviews.ts";
import { updatePullBranch } from "../pulls/update-branch.ts";
import { commitShape, fileShape } from "../shapes/commit.ts";
import { teamShape } from "../shapes/organization.ts";
import { reviewShape, simplePullShape } from "../shapes/pull.ts";
import { repoUrl } from "../shapes/repo.ts";
import { userShape } from "../shapes/user.ts";

function pullHere(call: RepoCall): PullIssue {
  return pullOf(call.repo, numberParam(call, "number"));
}

async function list(call: RepoCall): Promise<Answer> {
  const { query } = call;
  const state = query.get("state") ?? "open";
  const base = query.get("base");
  const head = query.get("head");
  let found = [...call.repo.issues.values()].filter(isPull);
  if (state !== "all") found = found.filter((issue) => issue.state === state);
  if (base !== null) found = found.filter((issue) => issue.pull.baseRef === base);
  // Without `owner:` GitHub ignores the filter altogether.
  if (head?.includes(":")) found = found.filter((issue) => headLabel(call, issue).toLowerCase() === head.toLowerCase());
  const sort = query.get("sort") ?? "created";
  const ascending = (query.get("direction") ?? (query.get("sort") === null ? "desc" : "asc")) === "asc";
  const key = (issue: PullIssue) => (sort === "updated" ? issue.updatedAt : issue.number);
  found.sort((a, b) => (ascending ? key(a) - key(b) : key(b) - key(a)) || b.number - a.number);
  return page(call, found, (issue) => simplePullShape(call.world, call.repo, issue));
}

function headLabel(call: RepoCall, issue: PullIssue): string {
  const { headRepo, headRef } = issue.pull;
  return `${(headRepo === null ? undefined : (headRepo ?? call.repo))?.owner.login ?? "unknown"}:${headRef}`;
}

async function create(call: RepoCall): Promise<Answer> {
  const issue = await createPull(call.world, call.repo, call.actor, {
    title: text(call, "title", "PullRequest"),
    head: text(call, "head", "PullRequest"),
    base: text(call, "base", "PullRequest"),
    body: optionalText(call, "body", "PullRequest") ?? null,
    draft: call.body["draft"] === true,
  });
  return created(await readPull(call.world, call.repo, issue, { ask: false }));
}

async function edit(call: RepoCall): Promise<Answer> {
  const issue = pullHere(call);
  const change: PullChange = {};
  const title = optionalText(call, "title", "PullRequest");
  const base = optionalText(call, "base", "PullRequest");
  const state = optionalText(call, "state", "PullRequest");
  if (title !== undefined) change.title = title;
  if (base !== undefined) change.base = base;
  if (call.body["body"] !== undefined) change.body = optionalText(call, "body", "PullRequest") ?? null;
  if (state === "open" || state === "closed") change.state = state;
  else if (state !== undefined) throw invalid({ resource: "PullRequest", field: "state", code: "invalid" });
  await editPull(call.world, call.repo, call.actor, issue, change);
  return ok(await readPull(call.world, call.repo, issue, { ask: true }));
}

async function merge(call: RepoCall): Promise<Answer> {
  const sha = optionalText(call, "sha", "PullRequest");
  const method = optionalText(call, "merge_method", "PullRequest");
  const title = optionalText(call, "commit_title", "PullRequest");
  const message = optionalText(call, "commit_message", "PullRequest");
  const merged = await mergePull(
    call.world,
    call.repo,
    call.actor,
    pullHere(call),
    defined({
      sha,
      method,
      title,
      message,
    }),
  );
  return ok({ sha: merged, merged: true, message: "Pull Request successfully merged" });
}

async function commits(call: RepoCall): Promise<Answer> {
  const ids = (await pullCommits(call.repo, pullHere(call))).toReversed();
  return page(call, ids, async (id) => {
    const commit = await call.repo.git.commit(id);
    return commit === undefined ? null : commitShape(call.world, call.repo, commit);
  });
}

async function files(call: RepoCall): Promise<Answer> {
  const issue = pullHere(call);
  const all = (await pullFiles(call.repo, issue, true)).slice(0, 3000);
  return page(call, all, (file) => fileShape(call.world, call.repo, file, issue.pull.headSha));
}

/** The accounts and teams that the body names. */
function reviewersNamed(call: RepoCall): (User | Team)[] {
  const users = texts(call.body["reviewers"]).map((login) => call.world.users.get(login.toLowerCase()));
  const teams = texts(call.body["team_reviewers"]).map((slug) => teamOf(call.world, call.repo.owner, slug));
  const unknown = users.some((user) => user === undefined || !atLeast(roleOf(call.repo, user), "read")) || teams.includes(undefined);
  if (unknown) {
    const message =
      "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the " +
      `${call.repo.owner.login}/${call.repo.name} repository.`;
    throw new ApiFailure(422, message);
  }
  return [...users, ...teams].filter((one) => one !== undefined);
}

async function requestReviewers(call: RepoCall): Promise<Answer> {
  const issue = pullHere(call);
  await requestReviews(call.world, call.repo, call.actor, issue, reviewersNamed(call));
  return created(simplePullShape(call.world, call.repo, issue));
}

async function removeReviewers(call: RepoCall): Promise<Answer> {
  const issue = pullHere(call);
  await withdrawReviews(call.world, call.repo, call.actor, issue, reviewersNamed(call));
  return ok(simplePullShape(call.world, call.repo, issue));
}

function reviewers(call: RepoCall): Answer {
  const { reviewers: users, teams } = pullHere(call).pull;
  return ok({ users: users.map((user) => userShape(call.world, user)), teams: teams.map((team) => teamShape(call.world, team)) });
}

/** Merges the base into the head, as the button does. */
function updateBranch(call: RepoCall): Promise<Answer> {
  const issue = pullHere(call);
  const expected = optionalText(call, "expected_head_sha", "PullRequest");
  return updatePullBranch(call.world, call.repo, call.actor, issue, expected).then(() => {
    const url = `${repoUrl(call.world, call.repo)}/pulls/${issue.number}`;
    return { status: 202, body: { message: "Updating pull request branch.", url } };
  });
}

function reviewHere(call: RepoCall): { issue: PullIssue; review: Review } {
  const issue = pullHere(call);
  const id = numberParam(call, "review");
  const review = issue.pull.reviews.find((one) => one.id === id);
  if (review === undefined) throw notFound();
  return { issue, review };
}

async function dismiss(call: RepoCall): Promise<Answer> {
  const { issue, review } = reviewHere(call);
  text(call, "message", "PullRequestReview");
  await dismissReview(call.world, call.repo, call.actor, issue, review);
  return ok(reviewShape(call.world, call.repo, issue, review));
}

async function review(call: RepoCall): Promise<Answer> {
  const issue = pullHere(call);
  const event = optionalText(call, "event", "PullRequestReview");
  const body = optionalText(call, "body", "PullRequestReview") ?? "";
  const made = await createReview(call.world, call.repo, call.actor, issue, {
    event,
    body,
    commit: optionalText(call, "commit_id", "PullRequestReview"),
  });
  return ok(reviewShape(call.world, call.repo, issue, made));
}

export const PULL_ROUTES: readonly Route[] = [
  repoRoute("GET", "/pulls", READ("pull_requests"), list),
  repoRoute("POST", "/pulls", TAKE_PART("pull_requests"), create),
  repoRoute("GET", "/pulls/:number", READ("pull_requests"), async (call) =>
    ok(await readPull(call.world, call.repo, pullHere(call), { ask: true })),
  ),
  repoRoute("PATCH", "/pulls/:number", WRITE("pull_requests"), edit),
  repoRoute("GET", "/pulls/:number/merge", READ("pull_requests"), (call) => {
    if (pullHere(call).pull.merged === undefined) throw new ApiFailure(404, "Not Found");
    return NO_CONTENT;
  }),
  repoRoute("PUT", "/pulls/:number/merge", WRITE("contents"), merge),
  repoRoute("GET", "/pulls/:number/commits", READ("pull_requests"), commits),
  repoRoute("GET", "/pulls/:number/files", READ("pull_requests"), files),
  repoRoute("GET", "/pulls/:number/requested_reviewers", READ("pull_requests"), reviewers),
  repoRoute("POST", "/pulls/:number/requested_reviewers", WRITE("pull_requests"), requestReviewers),
  repoRoute("DELETE", "/pulls/:number/requested_reviewers", WRITE("pull_requests"), removeReviewers),
  repoRoute("PUT", "/pulls/:number/update-branch", WRITE("pull_requests"), (call) => call.repo.serial(() => updateBranch(call))),
  repoRoute("GET", "/pulls/:number/comments", READ("pull_requests"), (call) => page(call, pullHere(call) && [], () => null)),
  repoRoute("GET", "/pulls/:number/reviews/:review", READ("pull_requests"), (call) => {
    const { issue, review } = reviewHere(call);
    return ok(reviewShape(call.world, call.repo, issue, review));
  }),
  repoRoute("PUT", "/pulls/:number/reviews/:review/dismissals", WRITE("pull_requests"), dismiss),
  repoRoute("GET", "/pulls/:number/reviews", READ("pull_requests"), (call) => {
    const issue = pullHere(call);
    return page(call, issue.pull.reviews, (one) => reviewShape(call.world, call.repo, issue, one));
  }),
  repoRoute("POST", "/pulls/:number/reviews", TAKE_PART("pull_requests"), review),
];

/** Labels of an issue or pull request, by name or `{name}`. */
export function labelNames(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one) => {
    if (typeof one === "string") return [one];
    const name = typeof one === "object" && one !== null ? (one as { name?: unknown }).name : undefined;
    return typeof name === "string" ? [name] : [];
  });
}
