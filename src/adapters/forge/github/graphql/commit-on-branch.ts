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
