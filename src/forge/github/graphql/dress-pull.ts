/** Labels and review requests; both only ever add. The two are left out where there is nothing of their kind. */
export const DRESS_PULL = /* GraphQL */ `
mutation DressPull(
  $pull: ID!
  $labels: [ID!]!
  $users: [ID!]!
  $teams: [ID!]!
  $withLabels: Boolean!
  $withReviews: Boolean!
) {
  addLabelsToLabelable(input: { labelableId: $pull, labelIds: $labels }) @include(if: $withLabels) {
    labelable {
      __typename
    }
  }
  requestReviews(input: { pullRequestId: $pull, userIds: $users, teamIds: $teams, union: true }) @include(if: $withReviews) {
    pullRequest {
      id
    }
  }
}
`;
