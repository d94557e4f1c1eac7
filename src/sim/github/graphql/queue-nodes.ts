import type { MergeQueue, QueueEntry, Repo } from "../model/model.ts";
import { fullName, isPull, nodeId, seconds } from "../model/world.ts";
import { queueUrl } from "../pulls/queue.ts";
import { queueRule } from "../rules/rules.ts";
import { type ConnectionArgs, connection } from "./connection.ts";
import type { Context } from "./context.ts";
import { commitNodeOf } from "./git-nodes.ts";
import { actorNode } from "./people.ts";

export function queueNode(context: Context, repo: Repo, queue: MergeQueue) {
  const rule = queueRule(repo, queue.branch);
  return {
    __typename: "MergeQueue",
    id: nodeId("MQ", queue.id),
    nextEntryEstimatedTimeToMerge: null,
    repository: () => context.print({ kind: "repository", repo }),
    resourcePath: `/${fullName(repo)}/queue/${queue.branch}`,
    url: queueUrl(context.world, repo, queue.branch),
    entries: (args: ConnectionArgs) => connection("entries", queue.entries, args, (entry) => entryNode(context, repo, queue, entry)),
    configuration:
      rule === undefined
        ? null
        : {
            checkResponseTimeout: rule.check_response_timeout_minutes,
            maximumEntriesToBuild: rule.max_entries_to_build,
            maximumEntriesToMerge: rule.max_entries_to_merge,
            mergeMethod: rule.merge_method,
            mergingStrategy: rule.grouping_strategy,
            minimumEntriesToMerge: rule.min_entries_to_merge,
            minimumEntriesToMergeWaitTime: rule.min_entries_to_merge_wait_minutes,
          },
  };
}

/** `position` counts from 1. */
export function entryNode(context: Context, repo: Repo, queue: MergeQueue, entry: QueueEntry) {
  const issue = repo.issues.get(entry.number);
  const { group } = entry;
  return {
    __typename: "MergeQueueEntry",
    id: nodeId("MQE", entry.id),
    enqueuedAt: seconds(entry.at),
    enqueuer: () => actorNode(context, entry.enqueuer.user),
    estimatedTimeToMerge: null,
    jump: entry.jump,
    solo: false,
    state: entry.state,
    position: queue.entries.indexOf(entry) + 1,
    baseCommit: () => (group === undefined ? null : commitNodeOf(context, repo, group.base)),
    headCommit: () => (group === undefined ? null : commitNodeOf(context, repo, group.head)),
    mergeQueue: () => queueNode(context, repo, queue),
    pullRequest: () => (issue !== undefined && isPull(issue) ? context.print({ kind: "pull", repo, issue }) : null),
  };
}
