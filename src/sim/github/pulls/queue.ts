import { emit, emitPull } from "../deliver/events.ts";
import { ApiFailure } from "../http/failure.ts";
import type { Actor, MergeQueue, QueueEntry, Repo, World } from "../model/model.ts";
import { fullName, isPull, type PullIssue, seconds } from "../model/world.ts";
import { missingRules, queueRule } from "../rules/rules.ts";
import { buildMerge, land } from "./merge-pull.ts";
import { mergeabilityJob } from "./pull-details.ts";

const QUEUE_ACTOR: Actor = { kind: "user", user: { login: "github-merge-queue[bot]", id: 118_344_674, type: "Bot" }, limitKey: "queue" };

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
  if (jump) await rebuild(world, repo, queue, 0);
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
  await rebuild(world, repo, queue, at);
  queue.entries.splice(at, 1);
  await emitPull(world, repo, actor, "dequeued", issue, { reason });
  lookAtQueues(world, repo);
}

/** The groups from this entry on are void. */
async function rebuild(world: World, repo: Repo, queue: MergeQueue, from: number): Promise<void> {
  for (const entry of queue.entries.slice(from)) {
    if (entry.group !== undefined)
      await destroyGroup(world, repo, queue, entry, from === queue.entries.indexOf(entry) ? "dequeued" : "invalidated");
    entry.state = "QUEUED";
  }
}

/** Something that the queues wait for may have happened: they look again, after what is under way. */
export function lookAtQueues(world: World, repo: Repo): void {
  for (const queue of repo.queues.values()) {
    if (queue.entries.length === 0) continue;
    world.hooks.track(repo.serial(() => advance(world, repo, queue)).catch(() => undefined));
  }
}

/** Builds the groups that are due and merges, front first, those whose checks are green. */
async function advance(world: World, repo: Repo, queue: MergeQueue): Promise<void> {
  const rule = queueRule(repo, queue.branch);
  if (rule === undefined) return;
  await buildGroups(world, repo, queue, rule.max_entries_to_build);
  for (let front = queue.entries[0]; front?.group !== undefined; front = queue.entries[0]) {
    const verdict = await judge(world, repo, front);
    if (verdict === "wait") return;
    if (verdict === "fail") await fail(world, repo, queue, front, "CI_FAILURE");
    else await mergeFront(world, repo, queue, front);
    await buildGroups(world, repo, queue, rule.max_entries_to_build);
  }
}

async function buildGroups(world: World, repo: Repo, queue: MergeQueue, most: number): Promise<void> {
  for (let at = 0; at < Math.min(queue.entries.length, most); at++) {
    const entry = queue.entries[at];
    if (entry === undefined || entry.group !== undefined) continue;
    const before = at === 0 ? await repo.git.ref(`refs/heads/${queue.branch}`) : queue.entries[at - 1]?.group?.head;
    if (before === undefined) return;
    if (!(await buildGroup(world, repo, queue, entry, before))) at -= 1;
  }
}

/** false: it conflicts with what is before it, and is out. */
async function buildGroup(world: World, repo: Repo, queue: MergeQueue, entry: QueueEntry, base: string): Promise<boolean> {
  const issue = repo.issues.get(entry.number);
  const rule = queueRule(repo, queue.branch);
  if (issue === undefined || !isPull(issue) || rule === undefined) return false;
  const method = rule.merge_method.toLowerCase() as "merge" | "squash" | "rebase";
  let head: string;
  try {
    head = await buildMerge(world, repo, entry.enqueuer, issue, method, {}, { base });
  } catch {
    await fail(world, repo, queue, entry, "MERGE_CONFLICT");
    return false;
  }
  const ref = `refs/heads/gh-readonly-queue/${queue.branch}/pr-${issue.number}-${base}`;
  await repo.git.updateRefs([{ ref, old: await repo.git.ref(ref), new: head }]);
  const stop = world.clock.after(rule.check_response_timeout_minutes * 60_000, () => {
    world.hooks.track(repo.serial(() => expire(world, repo, queue, entry, head)).catch(() => undefined));
  });
  entry.group = { ref, base, head, stop };
  entry.state = "AWAITING_CHECKS";
  await emitGroup(world, repo, queue, entry, "checks_requested");
  return true;
}

async function expire(world: World, repo: Repo, queue: MergeQueue, entry: QueueEntry, head: string): Promise<void> {
  if (entry.group?.head === head && queue.entries.includes(entry)) await fail(world, repo, queue, entry, "CI_TIMEOUT");
}

async function judge(world: World, repo: Repo, entry: QueueEntry): Promise<"merge" | "wait" | "fail"> {
  const issue = repo.issues.get(entry.number);
  if (issue === undefined || !isPull(issue) || entry.group === undefined) return "wait";
  const missing = await missingRules(world, repo, issue, { behind: false, group: entry.group.head });
  if (missing.length === 0) return "merge";
  return missing.some((text) => text.includes("failing")) ? "fail" : "wait";
}

async function fail(world: World, repo: Repo, queue: MergeQueue, entry: QueueEntry, reason: string): Promise<void> {
  const issue = repo.issues.get(entry.number);
  const at = queue.entries.indexOf(entry);
  entry.state = "UNMERGEABLE";
  for (const one of queue.entries.slice(at)) {
    if (one.group !== undefined) await destroyGroup(world, repo, queue, one, "invalidated");
    if (one !== entry) one.state = "QUEUED";
  }
  queue.entries.splice(at, 1);
  if (issue !== undefined && isPull(issue)) await emitPull(world, repo, QUEUE_ACTOR, "dequeued", issue, { reason });
}

async function mergeFront(world: World, repo: Repo, queue: MergeQueue, entry: QueueEntry): Promise<void> {
  const issue = repo.issues.get(entry.number);
  const { group } = entry;
  if (issue === undefined || !isPull(issue) || group === undefined) return;
  const now = await repo.git.ref(`refs/heads/${queue.branch}`);
  if (now !== group.base) {
    // Somebody passed the queue: all groups are built on what is there now.
    for (const one of queue.entries) {
      if (one.group !== undefined) await destroyGroup(world, repo, queue, one, "invalidated");
      one.state = "QUEUED";
    }
    return;
  }
  entry.state = "MERGEABLE";
  queue.entries.splice(queue.entries.indexOf(entry), 1);
  await land(world, repo, { ...QUEUE_ACTOR, user: entry.enqueuer.user }, issue, group.base, group.head);
  await emitPull(world, repo, QUEUE_ACTOR, "dequeued", issue, { reason: "MERGE" });
  await destroyGroup(world, repo, queue, entry, "merged");
}

async function destroyGroup(
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

async function emitGroup(
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
  emit(world, repo, { ...QUEUE_ACTOR, user: entry.enqueuer.user }, "merge_group", action, {
    ...(reason === undefined ? {} : { reason }),
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
  });
}

export function queueUrl(world: World, repo: Repo, branch: string): string {
  return `${world.origin}/${fullName(repo)}/queue/${branch}`;
}
