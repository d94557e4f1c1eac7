import type { Repo, Review } from "../model/model.ts";
import { nodeId, type PullIssue, seconds } from "../model/world.ts";
import { pullCommits, pullStats } from "../pulls/pull-changes.ts";
import { readMergeable } from "../pulls/pull-details.ts";
import { entryOf, queueOf } from "../pulls/queue.ts";
import { isTeam } from "../rules/codeowners.ts";
import { approvals } from "../rules/reviews.ts";
import { activeRules } from "../rules/rules.ts";
import { reviewShape, simplePullShape } from "../shapes/pull.ts";
import { rollupNode } from "./check-nodes.ts";
import { type ConnectionArgs, connection } from "./connection.ts";
import type { Context } from "./context.ts";
import { commitNodeOf, refNode } from "./git-nodes.ts";
import { actorNode, teamNode } from "./people.ts";
import { entryNode, queueNode } from "./queue-nodes.ts";
import { commentNode, labelsField, pullState, repositoryNode, timelineField } from "./repository-node.ts";

export function pullNode(context: Context, repo: Repo, issue: PullIssue) {
  return {
    ...ownFields(context, repo, issue),
    ...endsFields(context, repo, issue),
    labels: labelsField(context, repo, issue),
    timelineItems: timelineField(context, repo, issue),
    ...mergeFields(context, repo, issue),
    ...listFields(context, repo, issue),
  };
}

function ownFields(context: Context, repo: Repo, issue: PullIssue) {
  const { pull } = issue;
  const shape = simplePullShape(context.world, repo, issue);
  return {
    __typename: "PullRequest",
    id: shape.node_id,
    databaseId: pull.id,
    fullDatabaseId: String(pull.id),
    number: issue.number,
    title: issue.title,
    body: issue.body ?? "",
    url: shape.html_url,
    permalink: shape.html_url,
    resourcePath: new URL(shape.html_url).pathname,
    state: pullState(issue),
    closed: issue.state === "closed",
    merged: pull.merged !== undefined,
    locked: issue.locked,
    isDraft: pull.draft,
    isCrossRepository: pull.headRepo !== undefined,
    maintainerCanModify: false,
    createdAt: shape.created_at,
    updatedAt: shape.updated_at,
    closedAt: shape.closed_at,
    mergedAt: shape.merged_at,
    author: () => actorNode(context, issue.user),
    mergedBy: () => (pull.merged === undefined ? null : actorNode(context, pull.merged.by)),
  };
}

/** Where it goes from and to. */
function endsFields(context: Context, repo: Repo, { pull }: PullIssue) {
  const headRepo = pull.headRepo === undefined ? repo : pull.headRepo;
  return {
    baseRefName: pull.baseRef,
    baseRefOid: pull.baseSha,
    headRefName: pull.headRef,
    headRefOid: pull.headSha,
    repository: () => repositoryNode(context, repo),
    baseRepository: () => repositoryNode(context, repo),
    headRepository: () => (headRepo === null ? null : repositoryNode(context, headRepo)),
    headRepositoryOwner: () => (headRepo === null ? null : actorNode(context, headRepo.owner)),
    baseRef: () => refNode(context, repo, `refs/heads/${pull.baseRef}`),
    headRef: () => (headRepo === null ? null : refNode(context, headRepo, `refs/heads/${pull.headRef}`)),
    mergeCommit: () => (pull.merged === undefined ? null : commitNodeOf(context, repo, pull.merged.sha)),
    statusCheckRollup: () => rollupNode(context, repo, pull.headSha),
  };
}

function mergeFields(context: Context, repo: Repo, issue: PullIssue) {
  const { world } = context;
  const branch = issue.pull.baseRef;
  let asked: ReturnType<typeof readMergeable> | undefined;
  const read = () => {
    asked ??= readMergeable(world, repo, issue, true);
    return asked;
  };
  const counts = async () => pullStats(repo, issue);
  return {
    mergeable: async () => {
      const { mergeable } = await read();
      return mergeable === null ? "UNKNOWN" : mergeable ? "MERGEABLE" : "CONFLICTING";
    },
    mergeStateStatus: async () => (await read()).mergeableState.toUpperCase(),
    reviewDecision: () => reviewDecision(repo, issue),
    isMergeQueueEnabled: queueOf(world, repo, branch) !== undefined,
    isInMergeQueue: entryOf(repo, issue) !== undefined,
    mergeQueue: () => {
      const queue = queueOf(world, repo, branch);
      return queue === undefined ? null : queueNode(context, repo, queue);
    },
    mergeQueueEntry: () => {
      const entry = entryOf(repo, issue);
      const queue = repo.queues.get(branch);
      return entry === undefined || queue === undefined ? null : entryNode(context, repo, queue, entry);
    },
    additions: async () => (await counts()).additions,
    deletions: async () => (await counts()).deletions,
    changedFiles: async () => (await counts()).files,
  };
}

/** null where no rule wants a review. */
function reviewDecision(repo: Repo, issue: PullIssue): string | null {
  const { approved, refused } = approvals(repo, issue);
  if (refused.length > 0) return "CHANGES_REQUESTED";
  const wanted = activeRules(repo, issue.pull.baseRef).flatMap(({ rule }) =>
    rule.type === "pull_request" ? [rule.parameters.required_approving_review_count] : [],
  );
  if (wanted.length === 0) return null;
  return approved.length >= Math.max(...wanted) ? "APPROVED" : "REVIEW_REQUIRED";
}

function listFields(context: Context, repo: Repo, issue: PullIssue) {
  return {
    comments: (args: ConnectionArgs) => {
      const found = [...repo.comments.values()].filter((comment) => comment.issue === issue.number);
      return connection("comments", found, args, (comment) => commentNode(context, repo, comment));
    },
    commits: async (args: ConnectionArgs) => {
      const ids = (await pullCommits(repo, issue)).toReversed();
      return connection("commits", ids, args, (sha) => ({
        id: nodeId("PRC", `${issue.pull.id}:${sha}`),
        commit: () => commitNodeOf(context, repo, sha),
      }));
    },
    reviews: (args: ConnectionArgs & { states?: readonly string[] | null; author?: string | null }) => {
      const found = issue.pull.reviews.filter(
        (review) =>
          (args.states == null || args.states.includes(review.state)) && (args.author == null || review.user.login === args.author),
      );
      return connection("reviews", found, args, (review) => reviewNode(context, repo, issue, review));
    },
    reviewRequests: (args: ConnectionArgs) => {
      const found = [...issue.pull.reviewers, ...issue.pull.teams];
      return connection("reviewRequests", found, args, (one) => ({
        id: nodeId("RR", `${issue.pull.id}:${one.id}`),
        databaseId: one.id,
        asCodeOwner: false,
        requestedReviewer: isTeam(one) ? teamNode(context, one) : actorNode(context, one),
      }));
    },
  };
}

export function reviewNode(context: Context, repo: Repo, issue: PullIssue, review: Review) {
  const shape = reviewShape(context.world, repo, issue, review);
  const at = seconds(review.at ?? issue.updatedAt);
  return {
    __typename: "PullRequestReview",
    id: shape.node_id,
    databaseId: review.id,
    author: () => actorNode(context, review.user),
    body: review.body,
    commit: () => commitNodeOf(context, repo, review.commit),
    createdAt: at,
    submittedAt: review.at === undefined ? null : at,
    lastEditedAt: review.edited === undefined ? null : seconds(review.edited.at),
    editor: () => (review.edited === undefined ? null : actorNode(context, review.edited.by)),
    state: review.state,
    url: shape.html_url,
    isMinimized: false,
    minimizedReason: null,
  };
}
