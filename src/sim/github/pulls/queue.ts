/**
 * The merge queues: who stands in them, and the events of their groups. `advance-queue.ts` does their work, which merges; it is called
 * by way of the world, since whatever a merge moves may take others out of a queue again.
 */
import { defined } from "../../../core/base/defined.ts";
import { emit, emitPull } from "../deliver/events.ts";
import { ApiFailure } from "../http/failure.ts";
import type { Actor, MergeQueue, QueueEntry, Repo, World } from "../model/model.ts";
import { fullName, isPull, type PullIssue, seconds } from "../model/world.ts";
import { missingRules, queueRule } from "../rules/rules.ts";
import { mergeabilityJob } from "./pull-details.ts";

export const QUEUE_ACTOR: Actor = {
  kind: "user",
  user: { login: "github-merge-queue[bot]", id: 118_344_674, type: "Bot" },
  limitKey: "queue",
};

export function queueOf(world: World, repo: Repo, branch: string): MergeQueue | undefined {
  if (queueRule(repo, branch) === undefined) return undefined;
  const queue = repo.queues.get(branch) ?? { id: world.nextId(), branch, entries: [] };
  repo.queues.set(branch, queue);
  return queue;
}

export function entryOf(repo: Repo, issue: PullIssue): QueueEntry | undefined {
  return repo.queues.get(issue.pull.baseRef)?.entries.find((entry) => entry.number === issue.number);
}

/** Puts a pull request at the queue's end (or, jumping, at its front). Throws 422 with GitHub's reason. */
export async function enqueue(
  world: World,
  repo: Repo,
  actor: Actor,
  issue: PullIssue,
  options: { expectedHead?: string | undefined; jump?: boolean },
): Promise<QueueEntry> {
  const queue = queueOf(world, repo, issue.pull.baseRef);
  const no = (why: string) => new ApiFailure(422, `Pull request ${why}`);
  if (queue === undefined) throw no("Merge queue is not enabled for this branch");
  if (issue.state === "closed") throw no("is closed");
  if (issue.pull.draft) throw no("is in draft state");
  if (options.expectedHead !== undefined && options.expectedHead !== issue.pull.headSha) {
    throw new ApiFailure(422, `Head sha didn't match expected head sha: expected ${options.expectedHead}, got ${issue.pull.headSha}`);
  }
  if (entryOf(repo, issue) !== undefined) throw no("is already in the queue");
  const job = await mergeabilityJob(world, repo, issue);
  if (job === undefined || !(await job.result).mergeable) throw no("has merge conflicts");
  const missing = await missingRules(world, repo, issue, { behind: false });
  const open = missing
    .map((text) => text.replace(/^Repository rule violations found\n\n|\n\n$/g, ""))
    .flatMap((text) => text.split("\n\n"));
  const other = open.filter((text) => text !== "Changes must be made through the merge queue" && text !== "");
  if (other[0] !== undefined) throw no(other[0]);
  const { jump = false } = options;
  const entry: QueueEntry = {
    id: world.nextId(),
    number: issue.number,
    enqueuer: actor,
    at: world.clock.now(),
    jump,
    state: "QUEUED",
  };
  if (jump) await voidGroups(world, repo, queue, 0, "dequeued");
  queue.entries.splice(jump ? 0 : queue.entries.length, 0, entry);
  await emitPull(world, repo, actor, "enqueued", issue);
  lookAtQueues(world, repo);
  return entry;
}

/** Takes it out; those behind it are built anew. */
export async function dequeue(world: World, repo: Repo, actor: Actor, entry: QueueEntry, reason: string): Promise<void> {
  const queue = [...repo.queues.values()].find((one) => one.entries.includes(entry));
  const issue = repo.issues.get(entry.number);
  if (queue === undefined || issue === undefined || !isPull(issue)) return;
  const at = queue.entries.indexOf(entry);
  await voidGroups(world, repo, queue, at, "dequeued");
  queue.entries.splice(at, 1);
  await emitPull(world, repo, actor, "dequeued", issue, { reason });
  lookAtQueues(world, repo);
}

/** Destroys the groups from this entry on, the first for a reason of its own: they are built anew. */
export async function voidGroups(
  world: World,
  repo: Repo,
  queue: MergeQueue,
  from: number,
  reason: "dequeued" | "invalidated" = "invalidated",
): Promise<void> {
  for (const entry of queue.entries.slice(from)) {
    await destroyGroup(world, repo, queue, entry, from === queue.entries.indexOf(entry) ? reason : "invalidated");
    entry.state = "QUEUED";
  }
}

/** Something that the queues wait for may have happened: they look again, after what is under way. */
export function lookAtQueues(world: World, repo: Repo): void {
  for (const queue of repo.queues.values()) {
    if (queue.entries.length === 0) continue;
    world.hooks.track(repo.serial(() => world.advanceQueue(repo, queue)).catch(() => undefined));
  }
}

export async function destroyGroup(
  world: World,
  repo: Repo,
  queue: MergeQueue,
  entry: QueueEntry,
  reason: "merged" | "invalidated" | "dequeued",
): Promise<void> {
  const { group } = entry;
  if (group === undefined) return;
  group.stop();
  await repo.git.updateRefs([{ ref: group.ref, old: group.head, new: undefined }]);
  await emitGroup(world, repo, queue, entry, "destroyed", reason);
  delete entry.group;
}

export async function emitGroup(
  world: World,
  repo: Repo,
  queue: MergeQueue,
  entry: QueueEntry,
  action: "checks_requested" | "destroyed",
  reason?: string,
): Promise<void> {
  const { group } = entry;
  const commit = group === undefined ? undefined : await repo.git.commit(group.head);
  if (group === undefined || commit === undefined) return;
  const person = ({ name, email }: { name: string; email: string }) => ({ name, email });
  emit(
    world,
    repo,
    { ...QUEUE_ACTOR, user: entry.enqueuer.user },
    "merge_group",
    action,
    defined({
      reason,
      merge_group: {
        head_sha: group.head,
        head_ref: group.ref,
        base_ref: `refs/heads/${queue.branch}`,
        base_sha: group.base,
        head_commit: {
          id: group.head,
          tree_id: commit.tree,
          message: commit.message.trim(),
          timestamp: seconds(commit.committer.at * 1000),
          author: person(commit.author),
          committer: person(commit.committer),
        },
      },
    }),
  );
}

export function queueUrl(world: World, repo: Repo, branch: string): string {
  return `${world.origin}/${fullName(repo)}/queue/${branch}`;
}
