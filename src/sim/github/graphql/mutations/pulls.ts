import { defined } from "../../../../core/base/defined.ts";
import type { Repo } from "../../model/model.ts";
import type { PullIssue } from "../../model/world.ts";
import { mergePull } from "../../pulls/merge-pull.ts";
import { createPull, editPull, type PullChange, setDraft } from "../../pulls/pulls.ts";
import { dequeue, enqueue, entryOf } from "../../pulls/queue.ts";
import { createReview, requestReviews, withdrawReviews } from "../../pulls/reviews.ts";
import { updatePullBranch } from "../../pulls/update-branch.ts";
import { type Context, mustTakePart, mustWrite } from "../context.ts";
import { FieldFailure, noNode } from "../failures.ts";
import { nodeOf } from "../lookup.ts";
import { actorNode } from "../people.ts";
import { pullNode, reviewNode } from "../pull-node.ts";
import { entryNode } from "../queue-nodes.ts";
import { setLabelsById } from "./issues.ts";

interface PullInput {
  pullRequestId: string;
}

function writable(context: Context, id: string): { repo: Repo; issue: PullIssue } {
  const found = nodeOf(context, id, "pull");
  mustWrite(context, found.repo, "pull_requests");
  return found;
}

async function createPullRequest(
  context: Context,
  input: {
    repositoryId: string;
    baseRefName: string;
    headRefName: string;
    headRepositoryId?: string | null;
    title: string;
    body?: string | null;
    draft?: boolean | null;
  },
) {
  const { repo } = nodeOf(context, input.repositoryId, "repository");
  mustTakePart(context, repo, "pull_requests");
  const from = input.headRepositoryId == null ? undefined : nodeOf(context, input.headRepositoryId, "repository").repo;
  const plain = (name: string) => name.replace(/^refs\/heads\//, "");
  const issue = await createPull(context.world, repo, context.actor, {
    title: input.title,
    base: plain(input.baseRefName),
    head: from === undefined || from === repo ? plain(input.headRefName) : `${from.owner.login}:${plain(input.headRefName)}`,
    body: input.body ?? null,
    draft: input.draft === true,
  });
  return { pullRequest: pullNode(context, repo, issue) };
}

async function updatePullRequest(
  context: Context,
  input: PullInput & {
    baseRefName?: string | null;
    title?: string | null;
    body?: string | null;
    state?: "OPEN" | "CLOSED" | null;
    labelIds?: readonly string[] | null;
  },
) {
  const { repo, issue } = writable(context, input.pullRequestId);
  const change: PullChange = {};
  if (input.title != null) change.title = input.title;
  if (input.body != null) change.body = input.body;
  if (input.baseRefName != null) change.base = input.baseRefName;
  if (input.state != null) change.state = input.state === "OPEN" ? "open" : "closed";
  await editPull(context.world, repo, context.actor, issue, change);
  if (input.labelIds != null) await setLabelsById(context, repo, issue, () => [], input.labelIds);
  return { pullRequest: pullNode(context, repo, issue) };
}

function stateMutation(state: "open" | "closed") {
  return async (context: Context, input: PullInput) => {
    const { repo, issue } = writable(context, input.pullRequestId);
    await editPull(context.world, repo, context.actor, issue, { state });
    return { pullRequest: pullNode(context, repo, issue) };
  };
}

function draftMutation(draft: boolean) {
  return async (context: Context, input: PullInput) => {
    const { repo, issue } = writable(context, input.pullRequestId);
    await setDraft(context.world, repo, context.actor, issue, draft);
    return { pullRequest: pullNode(context, repo, issue) };
  };
}

async function mergePullRequest(
  context: Context,
  input: PullInput & {
    mergeMethod?: string | null;
    commitHeadline?: string | null;
    commitBody?: string | null;
    expectedHeadOid?: string | null;
  },
) {
  const { repo, issue } = nodeOf(context, input.pullRequestId, "pull");
  mustWrite(context, repo, "contents");
  await mergePull(
    context.world,
    repo,
    context.actor,
    issue,
    defined({
      method: (input.mergeMethod ?? "MERGE").toLowerCase(),
      title: input.commitHeadline == null ? undefined : input.commitHeadline,
      message: input.commitBody == null ? undefined : input.commitBody,
      sha: input.expectedHeadOid == null ? undefined : input.expectedHeadOid,
    }),
  );
  return { pullRequest: pullNode(context, repo, issue) };
}

async function updatePullRequestBranch(context: Context, input: PullInput & { expectedHeadOid?: string | null }) {
  const { repo, issue } = writable(context, input.pullRequestId);
  await repo.serial(() => updatePullBranch(context.world, repo, context.actor, issue, input.expectedHeadOid ?? undefined));
  return { pullRequest: pullNode(context, repo, issue) };
}

async function requestReviewsOf(
  context: Context,
  input: PullInput & { userIds?: readonly string[] | null; teamIds?: readonly string[] | null; union?: boolean | null },
) {
  const { repo, issue } = writable(context, input.pullRequestId);
  const users = (input.userIds ?? []).map((id) => nodeOf(context, id, "user").user);
  const teams = (input.teamIds ?? []).map((id) => nodeOf(context, id, "team").team);
  // Without `union` the lists are the whole of it.
  if (input.union !== true) {
    const gone = [...issue.pull.reviewers.filter((one) => !users.includes(one)), ...issue.pull.teams.filter((one) => !teams.includes(one))];
    await withdrawReviews(context.world, repo, context.actor, issue, gone);
  }
  await requestReviews(context.world, repo, context.actor, issue, [...users, ...teams]);
  const [first] = users;
  const edge = first === undefined ? null : { cursor: first.login, node: actorNode(context, first) };
  return { pullRequest: pullNode(context, repo, issue), requestedReviewersEdge: edge };
}

async function addPullRequestReview(
  context: Context,
  input: PullInput & { event?: string | null; body?: string | null; commitOID?: string | null },
) {
  const { repo, issue } = nodeOf(context, input.pullRequestId, "pull");
  mustTakePart(context, repo, "pull_requests");
  const review = await createReview(context.world, repo, context.actor, issue, {
    event: input.event === "DISMISS" ? undefined : (input.event ?? undefined),
    body: input.body ?? "",
    commit: input.commitOID ?? undefined,
  });
  return { pullRequestReview: reviewNode(context, repo, issue, review) };
}

async function enqueuePullRequest(context: Context, input: PullInput & { expectedHeadOid?: string | null; jump?: boolean | null }) {
  const { repo, issue } = nodeOf(context, input.pullRequestId, "pull");
  mustWrite(context, repo, "merge_queues", "contents");
  const options = { expectedHead: input.expectedHeadOid ?? undefined, jump: input.jump === true };
  const entry = await repo.serial(() => enqueue(context.world, repo, context.actor, issue, options));
  const queue = repo.queues.get(issue.pull.baseRef);
  if (queue === undefined) throw new FieldFailure("UNPROCESSABLE", "Pull request Merge queue is not enabled for this branch");
  // As it stood when it came in: the queue may be further by the time this is printed.
  const printed = entryNode(context, repo, queue, { ...entry });
  return { mergeQueueEntry: { ...printed, position: Math.max(queue.entries.indexOf(entry) + 1, 1) } };
}

/** The id is the pull request's, as the schema says; an entry's is taken, too, as older servers did. */
async function dequeuePullRequest(context: Context, input: { id: string }) {
  const found = nodeOf(context, input.id, "pull", "entry");
  const { repo } = found;
  mustWrite(context, repo, "merge_queues", "contents");
  const entry = found.kind === "entry" ? found.entry : entryOf(repo, found.issue);
  if (entry === undefined) throw new FieldFailure("UNPROCESSABLE", "Pull request is not in the merge queue");
  const queue = [...repo.queues.values()].find((one) => one.entries.includes(entry));
  if (queue === undefined) throw noNode(input.id);
  const printed = entryNode(context, repo, queue, { ...entry });
  const position = queue.entries.indexOf(entry) + 1;
  await repo.serial(() => dequeue(context.world, repo, context.actor, entry, "MANUAL"));
  return { mergeQueueEntry: { ...printed, position } };
}

export const PULL_MUTATIONS = {
  createPullRequest,
  updatePullRequest,
  closePullRequest: stateMutation("closed"),
  reopenPullRequest: stateMutation("open"),
  convertPullRequestToDraft: draftMutation(true),
  markPullRequestReadyForReview: draftMutation(false),
  mergePullRequest,
  updatePullRequestBranch,
  requestReviews: requestReviewsOf,
  addPullRequestReview,
  enqueuePullRequest,
  dequeuePullRequest,
};
