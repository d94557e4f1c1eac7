import { defined } from "../../../core/base/defined.ts";
import { emitReview, emitReviewRequest } from "../deliver/events.ts";
import { ApiFailure, invalid } from "../http/failure.ts";
import type { Actor, Repo, Review, Team, User, World } from "../model/model.ts";
import type { PullIssue } from "../model/world.ts";
import { isTeam, ownersOf } from "../rules/codeowners.ts";
import { activeRules } from "../rules/rules.ts";

const STATES = { APPROVE: "APPROVED", REQUEST_CHANGES: "CHANGES_REQUESTED", COMMENT: "COMMENTED" } as const;

/** Stores a review. Without an event it stays PENDING; nobody approves what they wrote; an App's approval never counts. */
export async function createReview(
  world: World,
  repo: Repo,
  actor: Actor,
  issue: PullIssue,
  input: { event?: string | undefined; body: string; commit?: string | undefined },
): Promise<Review> {
  const { event } = input;
  if (event !== undefined && !Object.hasOwn(STATES, event))
    throw invalid({ resource: "PullRequestReview", field: "event", code: "invalid" });
  const state = event === undefined ? "PENDING" : STATES[event as keyof typeof STATES];
  if (actor.user.id === issue.user.id && (state === "APPROVED" || state === "CHANGES_REQUESTED")) {
    const what = state === "APPROVED" ? "approve" : "request changes on";
    throw new ApiFailure(422, "Unprocessable Entity", [`Can not ${what} your own pull request`]);
  }
  if (state !== "PENDING" && state !== "APPROVED" && input.body === "") {
    throw new ApiFailure(422, "Unprocessable Entity", ["Body can't be blank"]);
  }
  const now = world.clock.now();
  const review: Review = defined({
    id: world.nextId(),
    user: actor.user,
    byApp: actor.kind === "installation",
    state,
    body: input.body,
    commit: input.commit ?? issue.pull.headSha,
    at: state === "PENDING" ? undefined : now,
  });
  issue.pull.reviews.push(review);
  issue.updatedAt = now;
  if (state !== "PENDING") await emitReview(world, repo, actor, "submitted", issue, review);
  return review;
}

/** Somebody changes what it says. Its event `edited` is not sent: whoever needs to know looks. */
export function editReview(world: World, actor: Actor, review: Review, body: string): void {
  review.body = body;
  review.edited = { at: world.clock.now(), by: actor.user };
}

/** Only an approval or a refusal can be dismissed, and only with a reason. */
export async function dismissReview(world: World, repo: Repo, actor: Actor, issue: PullIssue, review: Review): Promise<void> {
  if (review.state !== "APPROVED" && review.state !== "CHANGES_REQUESTED") {
    throw new ApiFailure(422, "Unprocessable Entity", [`Can not dismiss a ${review.state.toLowerCase()} pull request review`]);
  }
  review.state = "DISMISSED";
  await emitReview(world, repo, actor, "dismissed", issue, review);
}

/** Where a rule says so, a push takes the approvals of what was there before. */
export async function dismissStale(world: World, repo: Repo, actor: Actor, issue: PullIssue): Promise<void> {
  const stale = activeRules(repo, issue.pull.baseRef).some(
    ({ rule }) => rule.type === "pull_request" && rule.parameters.dismiss_stale_reviews_on_push,
  );
  if (!stale) return;
  for (const review of issue.pull.reviews) if (review.state === "APPROVED") await dismissReview(world, repo, actor, issue, review);
}

/** Asks accounts and teams for a review; who is asked already is left alone. */
export async function requestReviews(
  world: World,
  repo: Repo,
  actor: Actor,
  issue: PullIssue,
  whom: readonly (User | Team)[],
): Promise<void> {
  for (const one of whom) {
    if (isTeam(one)) {
      if (issue.pull.teams.includes(one)) continue;
      issue.pull.teams.push(one);
    } else {
      if (one.id === issue.user.id) throw new ApiFailure(422, "Review cannot be requested from pull request author.");
      if (issue.pull.reviewers.includes(one)) continue;
      issue.pull.reviewers.push(one);
    }
    issue.updatedAt = world.clock.now();
    await emitReviewRequest(world, repo, actor, "review_requested", issue, one);
  }
}

export async function withdrawReviews(
  world: World,
  repo: Repo,
  actor: Actor,
  issue: PullIssue,
  whom: readonly (User | Team)[],
): Promise<void> {
  for (const one of whom) {
    const had = issue.pull.teams.length + issue.pull.reviewers.length;
    issue.pull.teams = issue.pull.teams.filter((team) => team !== one);
    issue.pull.reviewers = issue.pull.reviewers.filter((user) => user !== one);
    if (issue.pull.teams.length + issue.pull.reviewers.length === had) continue;
    await emitReviewRequest(world, repo, actor, "review_request_removed", issue, one);
  }
}

/** GitHub asks the owners of what a pull request changes as soon as it is ready for review. */
export async function requestOwners(world: World, repo: Repo, actor: Actor, issue: PullIssue): Promise<void> {
  const owners = new Set((await ownersOf(world, repo, issue)).flat());
  const others = [...owners].filter((owner) => isTeam(owner) || owner.id !== issue.user.id);
  await requestReviews(world, repo, actor, issue, others);
}
