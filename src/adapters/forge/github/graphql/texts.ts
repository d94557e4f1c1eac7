/** What is asked of GitHub about what people wrote and labelled: REST does not say who edited it, nor, at once, who labelled. */

/** The bodies of the newest reviews of a PR. REST does not say which were edited. */
export const REVIEW_BODIES = /* GraphQL */ `
query ReviewBodies($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviews(last: 100) {
        nodes {
          id
          databaseId
          body
          state
          submittedAt
          lastEditedAt
          author { __typename login }
        }
      }
    }
  }
}
`;

/** Comments and bodies of reviews as they stand now, and whether they were edited. REST tells an edit by times in whole seconds alone. */
export const TEXTS_NOW = /* GraphQL */ `
query TextsNow($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on IssueComment { id body lastEditedAt editor { login } }
    ... on PullRequestReview { id body lastEditedAt submittedAt }
  }
}
`;

export interface TextNow {
  /** Absent: it is of another kind. */
  id?: string;
  body?: string;
  lastEditedAt?: string | null;
  /** Of a comment. */
  editor?: { login: string } | null;
  /** Of a review. */
  submittedAt?: string | null;
}

export interface TextsNowResult {
  nodes: (TextNow | null)[] | null;
}

export interface ReviewBody {
  id: string;
  databaseId: number | null;
  body: string;
  state: string;
  submittedAt: string | null;
  lastEditedAt: string | null;
  author: { __typename: string; login: string } | null;
}

export interface ReviewBodiesResult {
  repository: { pullRequest: { reviews: { nodes: (ReviewBody | null)[] | null } | null } | null } | null;
}

/** The last times that a label was put on a PR. REST has them the first one first, in as many pages as there are. */
export const LABELLED_BY = /* GraphQL */ `
query LabelledBy($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      timelineItems(itemTypes: [LABELED_EVENT, BASE_REF_CHANGED_EVENT, AUTOMATIC_BASE_CHANGE_SUCCEEDED_EVENT], last: 100) {
        nodes {
          __typename
          ... on BaseRefChangedEvent { createdAt }
          ... on AutomaticBaseChangeSucceededEvent { createdAt }
          ... on LabeledEvent {
            createdAt
            actor { __typename login }
            label { name createdAt updatedAt }
          }
        }
      }
    }
  }
}
`;

/** By a person, or by GitHub, when the base was merged and deleted. */
export interface BaseChange {
  __typename: "BaseRefChangedEvent" | "AutomaticBaseChangeSucceededEvent";
  createdAt: string;
}

/** The label is as it is now, whatever it was called then. */
export interface LabelEvent {
  __typename: "LabeledEvent";
  createdAt: string;
  actor: { __typename: string; login: string } | null;
  label: { name: string; createdAt: string | null; updatedAt: string | null } | null;
}

export interface LabelledByResult {
  repository: { pullRequest: { timelineItems: { nodes: (LabelEvent | BaseChange | null)[] | null } } | null } | null;
}
