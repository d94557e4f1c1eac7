/** Adds a PR to its base's merge queue, where its head is still the one that was judged. */
export const ENQUEUE = /* GraphQL */ `
mutation Enqueue($pull: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: { pullRequestId: $pull, expectedHeadOid: $head }) {
    mergeQueueEntry {
      id
      state
      position
    }
  }
}
`;

export interface EnqueueResult {
  enqueuePullRequest: { mergeQueueEntry: { id: string; state: string; position: number } | null } | null;
}
