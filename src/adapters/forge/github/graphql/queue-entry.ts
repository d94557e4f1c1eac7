/** Whether a PR is in a merge queue. REST does not say. */
export const QUEUE_ENTRY = /* GraphQL */ `
query QueueEntry($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      id
      mergeQueueEntry {
        id
        state
      }
    }
  }
}
`;

export interface QueueEntryResult {
  repository: { pullRequest: { id: string; mergeQueueEntry: { id: string; state: string } | null } | null } | null;
}
