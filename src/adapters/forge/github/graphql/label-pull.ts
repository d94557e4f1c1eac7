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
    pullRequest {
      ...Labelled
    }
  }
  addLabelsToLabelable(input: { labelableId: $pull, labelIds: $labels }) @include(if: $withLabels) {
    labelable {
      ...Labelled
    }
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
  headRepository {
    nameWithOwner
  }
  baseRefName
  author {
    __typename
    login
  }
  createdAt
  mergedAt
  mergedBy {
    __typename
    login
  }
  mergeCommit {
    oid
  }
  labels(first: 100) {
    nodes {
      name
    }
  }
}
`;

interface Account {
  __typename: string;
  login: string;
}

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
