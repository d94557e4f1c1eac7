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
