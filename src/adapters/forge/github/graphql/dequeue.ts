/** Takes a PR out of its merge queue; `id` is the pull request's. */
export const DEQUEUE = /* GraphQL */ `
mutation Dequeue($id: ID!) {
  dequeuePullRequest(input: { id: $id }) {
    mergeQueueEntry {
      id
    }
  }
}
`;
