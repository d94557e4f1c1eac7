/** The merge queue of a branch, first in line first. A queue holds at most 100 entries. */
export const QUEUE_ENTRIES = /* GraphQL */ `
query QueueEntries($owner: String!, $name: String!, $branch: String!) {
  repository(owner: $owner, name: $name) {
    mergeQueue(branch: $branch) {
      entries(first: 100) {
        nodes {
          state
          position
          headCommit {
            oid
          }
          pullRequest {
            number
          }
        }
      }
    }
  }
}
`;

interface Entry {
  state: string;
  position: number;
  headCommit: { oid: string } | null;
  pullRequest: { number: number } | null;
}

export interface QueueEntriesResult {
  repository: { mergeQueue: { entries: { nodes: (Entry | null)[] | null } | null } | null } | null;
}
