import type { Review } from "../port.ts";
import { asking } from "./errors.ts";
import type { RepoOctokit } from "./octokit.ts";

const STATES: readonly Review["state"][] = ["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED"];

/** Submitted ones, oldest first. One that is still being written (`PENDING`) is nobody's word yet. */
export async function reviews({ octokit, owner, repo }: RepoOctokit, number: number): Promise<Review[]> {
  const all = await asking(`read the reviews of ${number}`, () =>
    octokit.paginate(octokit.rest.pulls.listReviews, { owner, repo, pull_number: number, per_page: 100 }),
  );
  return all.flatMap((review) => {
    const state = STATES.find((one) => one === review.state);
    if (state === undefined || review.submitted_at == null) return [];
    const at = new Date(review.submitted_at).toISOString();
    const author = review.user?.login ?? "ghost";
    return [{ author, authorIsBot: review.user?.type === "Bot", state, head: review.commit_id ?? "", at }];
  });
}
