import { ApiFailure, invalid } from "../failure.ts";
import { mergePull } from "../merge-pull.ts";
import { pullCommits, pullFiles, readPull } from "../pull-details.ts";
import { createPull, editPull, type PullChange } from "../pulls.ts";
import { createReview } from "../reviews.ts";
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
} from "../router.ts";
import { commitShape, fileShape } from "../shapes/commit.ts";
import { reviewShape, simplePullShape } from "../shapes/pull.ts";
import { isPull, type PullIssue, pullOf, userOf } from "../world.ts";

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
  if (head?.includes(":"))
    found = found.filter((issue) => `${call.repo.owner.login}:${issue.pull.headRef}`.toLowerCase() === head.toLowerCase());
  const sort = query.get("sort") ?? "created";
  const ascending = (query.get("direction") ?? (query.get("sort") === null ? "desc" : "asc")) === "asc";
  const key = (issue: PullIssue) => (sort === "updated" ? issue.updatedAt : issue.number);
  found.sort((a, b) => (ascending ? key(a) - key(b) : key(b) - key(a)) || b.number - a.number);
  return page(call, found, (issue) => simplePullShape(call.world, call.repo, issue));
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
  const merged = await mergePull(call.world, call.repo, call.actor, pullHere(call), {
    ...(sha === undefined ? {} : { sha }),
    ...(method === undefined ? {} : { method }),
    ...(title === undefined ? {} : { title }),
    ...(message === undefined ? {} : { message }),
  });
  return ok({ sha: merged, merged: true, message: "Pull Request successfully merged" });
}

async function commits(call: RepoCall): Promise<Answer> {
  const ids = (await pullCommits(call.repo, pullHere(call))).reverse();
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

function requestReviewers(call: RepoCall): Answer {
  const issue = pullHere(call);
  for (const login of texts(call.body["reviewers"])) {
    const user = userOf(call.world, login);
    if (user.id === issue.user.id) throw new ApiFailure(422, "Review cannot be requested from pull request author.");
    if (!issue.pull.reviewers.includes(user)) issue.pull.reviewers.push(user);
  }
  return created(simplePullShape(call.world, call.repo, issue));
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
  repoRoute("POST", "/pulls/:number/requested_reviewers", WRITE("pull_requests"), requestReviewers),
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
