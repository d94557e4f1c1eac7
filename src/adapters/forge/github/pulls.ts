/**
 * Reads and opens PRs, and reads their reviews. Called by `index.ts` and, for a look at one PR, by `shared.ts`.
 */
import type { RestEndpointMethodTypes } from "@octokit/rest";
import { defined } from "../../../core/base/defined.ts";
import type { Comment, Pull, Review } from "../port.ts";
import { answerOf, asking, askingOrNone, forgeError } from "./errors.ts";
import { sendGraphQL } from "./graphql/send.ts";
import { REVIEW_BODIES, type ReviewBodiesResult, type ReviewBody } from "./graphql/texts.ts";
import { NEVER_RETRY, type RepoOctokit } from "./octokit.ts";

type PullData = RestEndpointMethodTypes["pulls"]["get"]["response"]["data"];
type ListedPull = RestEndpointMethodTypes["pulls"]["list"]["response"]["data"][number];

export async function pull({ octokit, owner, repo }: RepoOctokit, number: number): Promise<Pull | null> {
  const found = await askingOrNone(() => octokit.rest.pulls.get({ owner, repo, pull_number: number }));
  if (found === undefined) return null;
  const { data } = found;
  if (data.state === "open" || data.merged) return toPull(data);
  // Who closed it stands only on its issue.
  const issue = await asking(() => octokit.rest.issues.get({ owner, repo, issue_number: number }));
  const closedBy = issue.data.closed_by?.login;
  return defined({ ...toPull(data), closedBy });
}

/** Listed ones carry no `mergeable`, and not who merged: the one found is read by itself. */
export async function findPull(place: RepoOctokit, branch: string): Promise<Pull | null> {
  const { octokit, owner, repo } = place;
  // Without `owner:` GitHub ignores the filter and lists everything.
  const { data } = await asking(() =>
    octokit.rest.pulls.list({ owner, repo, head: `${owner}:${branch}`, state: "all", sort: "created", direction: "desc", per_page: 5 }),
  );
  const found = data.find((item) => item.head.ref === branch);
  return found === undefined ? null : await pull(place, found.number);
}

export async function createPull(
  place: RepoOctokit,
  input: { branch: string; base: string; title: string; body: string; labels: string[] },
): Promise<Pull> {
  const { octokit, owner, repo } = place;
  const existing = await findPull(place, input.branch);
  if (existing !== null) return existing;
  const made = await create(place, input);
  if (input.labels.length > 0) {
    await asking(() => octokit.rest.issues.addLabels({ owner, repo, issue_number: made.number, labels: input.labels }));
  }
  return made;
}

async function create(place: RepoOctokit, input: { branch: string; base: string; title: string; body: string }): Promise<Pull> {
  const { octokit, owner, repo } = place;
  try {
    const { data } = await octokit.rest.pulls.create({
      owner,
      repo,
      head: input.branch,
      base: input.base,
      title: input.title,
      body: input.body,
      ...NEVER_RETRY,
    });
    return toPull(data);
  } catch (error) {
    const answer = answerOf(error);
    const there =
      answer?.status === 422 && answer.details.some((text) => /already exists/i.test(text)) ? await findPull(place, input.branch) : null;
    if (there !== null) return there;
    throw forgeError(error);
  }
}

export async function openPulls({ octokit, owner, repo }: RepoOctokit): Promise<Pull[]> {
  const pulls = await asking(() => octokit.paginate(octokit.rest.pulls.list, { owner, repo, state: "open", per_page: 100 }));
  return pulls.map(toPull);
}

export async function pullsOfCommit({ octokit, owner, repo }: RepoOctokit, sha: string): Promise<Pull[]> {
  const { data } = await asking(() =>
    octokit.rest.repos.listPullRequestsAssociatedWithCommit({ owner, repo, commit_sha: sha, per_page: 100 }),
  );
  return data.map(toPull);
}

/** GitHub lists at most 3,000. */
export async function changedFiles({ octokit, owner, repo }: RepoOctokit, number: number): Promise<string[]> {
  const files = await asking(() => octokit.paginate(octokit.rest.pulls.listFiles, { owner, repo, pull_number: number, per_page: 100 }));
  return files.flatMap((file) => (file.previous_filename === undefined ? [file.filename] : [file.filename, file.previous_filename]));
}

function toPull(data: PullData | ListedPull): Pull {
  const merged = data.merged_at !== null;
  const full = data as Partial<PullData>;
  return defined({
    number: data.number,
    url: data.html_url,
    title: data.title,
    body: data.body ?? "",
    state: merged ? "merged" : data.state === "open" ? "open" : "closed",
    draft: data.draft ?? false,
    branch: data.head.ref,
    headRepository: data.head.repo?.full_name ?? null,
    head: data.head.sha,
    base: data.base.ref,
    author: data.user?.login ?? "ghost",
    authorIsBot: data.user?.type === "Bot",
    mergeable: full.mergeable ?? null,
    mergeableState: full.mergeable_state ?? "unknown",
    createdAt: time(data.created_at),
    mergedAt: data.merged_at === null ? undefined : time(data.merged_at),
    mergedBy: full.merged_by == null ? undefined : full.merged_by.login,
    // Before the merge this is GitHub's test merge, which means nothing to us.
    mergeCommit: merged && data.merge_commit_sha !== null ? data.merge_commit_sha : undefined,
    labels: data.labels.map((label) => label.name ?? ""),
  });
}

function time(text: string): string {
  return new Date(text).toISOString();
}

/**
 * The bodies of submitted reviews, as comments. One that was edited after it was submitted, or within that second, has another `updatedAt`;
 * one that was taken back says nothing any more.
 */
export async function reviewBodies(place: RepoOctokit, number: number, us: string): Promise<Comment[]> {
  const variables = { owner: place.owner, name: place.repo, number };
  const { data } = await asking(() => sendGraphQL<ReviewBodiesResult>(place, REVIEW_BODIES, variables));
  const nodes = data.repository?.pullRequest?.reviews?.nodes ?? [];
  return nodes.flatMap((node) => (node === null ? [] : toComment(node, us)));
}

function toComment({ id: node, databaseId, body, state, submittedAt, lastEditedAt, author }: ReviewBody, us: string): Comment[] {
  if (databaseId === null || submittedAt === null || body === "" || state === "DISMISSED" || state === "PENDING") return [];
  const authorIsBot = author?.__typename === "Bot";
  // Bots' logins come without this here, unlike everywhere else.
  const login = author === null ? "ghost" : authorIsBot ? `${author.login}[bot]` : author.login;
  const createdAt = time(submittedAt);
  const isEdited = lastEditedAt !== null && time(lastEditedAt) >= createdAt;
  const updatedAt = isEdited ? new Date(Date.parse(lastEditedAt) + 1).toISOString() : createdAt;
  return [{ id: databaseId, node, review: true, author: login, authorIsBot, ours: login === us, body, createdAt, updatedAt }];
}

const STATES: readonly Review["state"][] = ["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED"];

/** Submitted ones, oldest first. One that is still being written (`PENDING`) is nobody's word yet. */
export async function reviews({ octokit, owner, repo }: RepoOctokit, number: number): Promise<Review[]> {
  const all = await asking(() => octokit.paginate(octokit.rest.pulls.listReviews, { owner, repo, pull_number: number, per_page: 100 }));
  return all.flatMap((review) => {
    const state = STATES.find((one) => one === review.state);
    if (state === undefined || review.submitted_at == null) return [];
    const at = new Date(review.submitted_at).toISOString();
    const author = review.user?.login ?? "ghost";
    return [{ author, authorIsBot: review.user?.type === "Bot", state, head: review.commit_id ?? "", at }];
  });
}
