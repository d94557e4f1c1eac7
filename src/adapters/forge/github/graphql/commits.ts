/** One commit on a branch that is at `expectedHeadOid`, or nothing. GitHub signs it and is its committer. */
export const COMMIT_ON_BRANCH = /* GraphQL */ `
mutation CommitOnBranch($branch: CommittableBranch!, $message: CommitMessage!, $head: GitObjectID!, $changes: FileChanges!) {
  createCommitOnBranch(input: { branch: $branch, message: $message, expectedHeadOid: $head, fileChanges: $changes }) {
    commit {
      oid
    }
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
    ref {
      id
    }
  }
  createCommitOnBranch(input: { branch: $branch, message: $message, expectedHeadOid: $from, fileChanges: $changes }) {
    commit {
      oid
    }
  }
  createPullRequest(
    input: { repositoryId: $repositoryId, baseRefName: $base, headRefName: $head, title: $title, body: $body, maintainerCanModify: false }
  ) {
    pullRequest {
      id
      number
      url
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
  createPullRequest: { pullRequest: { id: string; number: number; url: string; headRefOid: string } | null } | null;
}
