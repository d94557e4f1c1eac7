/** What is asked of GitHub by GraphQL, where REST cannot do it or needs many requests, and what is answered. `send.ts` sends it. */

/** One commit on a branch that is at `expectedHeadOid`, or nothing. GitHub signs it and is its committer. */
export const COMMIT_ON_BRANCH = /* GraphQL */ `
mutation CommitOnBranch($branch: CommittableBranch!, $message: CommitMessage!, $head: GitObjectID!, $changes: FileChanges!) {
  createCommitOnBranch(input: { branch: $branch, message: $message, expectedHeadOid: $head, fileChanges: $changes }) {
    commit { oid }
  }
}
`;

export interface CommitOnBranchResult {
  createCommitOnBranch: { commit: { oid: string } | null } | null;
}

/**
 * Branch, commit and pull request in one request. The three fields run in this order, and one that fails does not keep the
 * next from running: who sends this has to look at each of them (see `commit-writer.ts`).
 */
export const PROPOSE_BATCH = /* GraphQL */ `
mutation ProposeBatch(
  $repositoryId: ID!
  $ref: String!
  $from: GitObjectID!
  $branch: CommittableBranch!
  $message: CommitMessage!
  $changes: FileChanges!
  $base: String!
  $head: String!
  $title: String!
  $body: String!
) {
  createRef(input: { repositoryId: $repositoryId, name: $ref, oid: $from }) {
    ref { id }
  }
  createCommitOnBranch(input: { branch: $branch, message: $message, expectedHeadOid: $from, fileChanges: $changes }) {
    commit { oid }
  }
  createPullRequest(
    input: { repositoryId: $repositoryId, baseRefName: $base, headRefName: $head, title: $title, body: $body, maintainerCanModify: false }
  ) {
    pullRequest {
      id
      number
      headRefOid
      # Asked for to make GitHub work it out, so that the first look at the pull request knows.
      mergeable
    }
  }
}
`;

export interface ProposeBatchResult {
  createRef: { ref: { id: string } | null } | null;
  createCommitOnBranch: { commit: { oid: string } | null } | null;
  createPullRequest: { pullRequest: { id: string; number: number; headRefOid: string } | null } | null;
}

/**
 * Labels and review requests; both only ever add. The two are left out where there is nothing of their kind. The answer tells
 * what the pull request is now: one that has been merged by then need not be read again.
 */
export const LABEL_PULL = /* GraphQL */ `
mutation LabelPull(
  $pull: ID!
  $labels: [ID!]!
  $users: [ID!]!
  $teams: [ID!]!
  $withLabels: Boolean!
  $withReviews: Boolean!
) {
  requestReviews(input: { pullRequestId: $pull, userIds: $users, teamIds: $teams, union: true }) @include(if: $withReviews) {
    pullRequest { ...Labelled }
  }
  addLabelsToLabelable(input: { labelableId: $pull, labelIds: $labels }) @include(if: $withLabels) {
    labelable { ...Labelled }
  }
}

fragment Labelled on PullRequest {
  number
  url
  title
  body
  isDraft
  headRefName
  headRefOid
  headRepository { nameWithOwner }
  baseRefName
  author { __typename login }
  createdAt
  mergedAt
  mergedBy { __typename login }
  mergeCommit { oid }
  labels(first: 100) {
    nodes { name }
  }
}
`;

type Account = { __typename: string; login: string };

export interface LabelledPull {
  number: number;
  url: string;
  title: string;
  body: string;
  isDraft: boolean;
  headRefName: string;
  headRefOid: string;
  headRepository: { nameWithOwner: string } | null;
  baseRefName: string;
  author: Account | null;
  createdAt: string;
  mergedAt: string | null;
  mergedBy: Account | null;
  mergeCommit: { oid: string } | null;
  labels: { nodes: { name: string }[] } | null;
}

export interface LabelPullResult {
  requestReviews: { pullRequest: LabelledPull | null } | null;
  addLabelsToLabelable: { labelable: LabelledPull | null } | null;
}

/** Adds a PR to its base's merge queue, where its head is still the one that was judged. */
export const ENQUEUE = /* GraphQL */ `
mutation Enqueue($pull: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: { pullRequestId: $pull, expectedHeadOid: $head }) {
    mergeQueueEntry { position }
  }
}
`;

export interface EnqueueResult {
  enqueuePullRequest: { mergeQueueEntry: { position: number } | null } | null;
}

/** Takes a PR out of its merge queue; `id` is the pull request's. */
export const DEQUEUE = /* GraphQL */ `
mutation Dequeue($id: ID!) {
  dequeuePullRequest(input: { id: $id }) {
    mergeQueueEntry { id }
  }
}
`;

/** Whether a PR is in a merge queue. REST does not say. */
export const QUEUE_ENTRY = /* GraphQL */ `
query QueueEntry($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      id
      mergeQueueEntry { id }
    }
  }
}
`;

export interface QueueEntryResult {
  repository: { pullRequest: { id: string; mergeQueueEntry: { id: string } | null } | null } | null;
}

/** The merge queue of a branch, first in line first. A queue holds at most 100 entries. */
export const QUEUE_ENTRIES = /* GraphQL */ `
query QueueEntries($owner: String!, $name: String!, $branch: String!) {
  repository(owner: $owner, name: $name) {
    mergeQueue(branch: $branch) {
      entries(first: 100) {
        nodes {
          state
          position
          headCommit { oid }
          pullRequest { number }
        }
      }
    }
  }
}
`;

type Entry = { state: string; position: number; headCommit: { oid: string } | null; pullRequest: { number: number } | null } | null;

export interface QueueEntriesResult {
  repository: { mergeQueue: { entries: { nodes: Entry[] | null } | null } | null } | null;
}

/** What classic branch protection shows to those who do not administer the repository. */
export const UPDATE_RULE = /* GraphQL */ `
query UpdateRule($owner: String!, $name: String!, $ref: String!) {
  repository(owner: $owner, name: $name) {
    ref(qualifiedName: $ref) {
      refUpdateRule {
        requiredApprovingReviewCount
        requiredStatusCheckContexts
        requiresCodeOwnerReviews
        requiresLinearHistory
        requiresSignatures
      }
    }
  }
}
`;

export interface UpdateRule {
  requiredApprovingReviewCount: number | null;
  requiredStatusCheckContexts: (string | null)[] | null;
  requiresCodeOwnerReviews: boolean;
  requiresLinearHistory: boolean;
  requiresSignatures: boolean;
}

export interface UpdateRuleResult {
  repository: { ref: { refUpdateRule: UpdateRule | null } | null } | null;
}
