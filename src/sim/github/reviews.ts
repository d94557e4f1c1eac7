import { emitReview } from "./events.ts";
import { ApiFailure, invalid } from "./failure.ts";
import type { Actor, Repo, Review, World } from "./model.ts";
import type { PullIssue } from "./world.ts";

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
  const now = world.clock.now();
  const review: Review = {
    id: world.nextId(),
    user: actor.user,
    byApp: actor.kind === "installation",
    state,
    body: input.body,
    commit: input.commit ?? issue.pull.headSha,
    ...(state === "PENDING" ? {} : { at: now }),
  };
  issue.pull.reviews.push(review);
  issue.updatedAt = now;
  if (state !== "PENDING") await emitReview(world, repo, actor, issue, review);
  return review;
}
