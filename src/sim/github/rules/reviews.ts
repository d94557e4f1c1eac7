import type { Repo, Review, User } from "../model/model.ts";
import { atLeast, type PullIssue, roleOf } from "../model/world.ts";

/** The last word of each account that may write, never the author's, never an App's: an App's review is stored and does not count. */
export function approvals(repo: Repo, issue: PullIssue): { approved: User[]; refused: User[] } {
  const last = new Map<number, Review>();
  for (const review of issue.pull.reviews) {
    if (review.state !== "APPROVED" && review.state !== "CHANGES_REQUESTED" && review.state !== "DISMISSED") continue;
    if (review.byApp || review.user.id === issue.user.id) continue;
    if (atLeast(roleOf(repo, review.user), "write")) last.set(review.user.id, review);
  }
  const of = (state: Review["state"]) => [...last.values()].filter((review) => review.state === state).map((review) => review.user);
  return { approved: of("APPROVED"), refused: of("CHANGES_REQUESTED") };
}

export function lastPusherMissing(issue: PullIssue, approved: readonly User[]): string[] {
  const { pusher } = issue.pull;
  if (approved.some((user) => user.id !== pusher.id)) return [];
  return [`New changes require approval from someone other than ${pusher.login} because they were the last pusher.`];
}
