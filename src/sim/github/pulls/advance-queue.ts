/** The work of a merge queue: it builds groups, waits for their checks, and merges from the front. */
import { emitPull } from "../deliver/events.ts";
import type { MergeQueue, QueueEntry, Repo, World } from "../model/model.ts";
import { isPull } from "../model/world.ts";
import { missingRules, queueRule } from "../rules/rules.ts";
import { buildMerge, land } from "./merge-pull.ts";
import { destroyGroup, emitGroup, QUEUE_ACTOR, voidGroups } from "./queue.ts";

/** Builds the groups that are due and merges, front first, those whose checks are green. */
export async function advanceQueue(world: World, repo: Repo, queue: MergeQueue): Promise<void> {
  const rule = queueRule(repo, queue.branch);
  if (rule === undefined) return;
  await buildGroups(world, repo, queue, rule.max_entries_to_build);
  for (let front = queue.entries[0]; front?.group !== undefined; front = queue.entries[0]) {
    const verdict = await judgeGroup(world, repo, front);
    if (verdict === "wait") return;
    if (verdict === "fail") await dropEntry(world, repo, queue, front, "CI_FAILURE");
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
    await dropEntry(world, repo, queue, entry, "MERGE_CONFLICT");
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
  if (entry.group?.head === head && queue.entries.includes(entry)) await dropEntry(world, repo, queue, entry, "CI_TIMEOUT");
}

async function judgeGroup(world: World, repo: Repo, entry: QueueEntry): Promise<"merge" | "wait" | "fail"> {
  const issue = repo.issues.get(entry.number);
  if (issue === undefined || !isPull(issue) || entry.group === undefined) return "wait";
  const missing = await missingRules(world, repo, issue, { behind: false, group: entry.group.head });
  if (missing.length === 0) return "merge";
  return missing.some((text) => text.includes("failing")) ? "fail" : "wait";
}

async function dropEntry(world: World, repo: Repo, queue: MergeQueue, entry: QueueEntry, reason: string): Promise<void> {
  const issue = repo.issues.get(entry.number);
  const at = queue.entries.indexOf(entry);
  await voidGroups(world, repo, queue, at);
  entry.state = "UNMERGEABLE";
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
    await voidGroups(world, repo, queue, 0);
    return;
  }
  entry.state = "MERGEABLE";
  queue.entries.splice(queue.entries.indexOf(entry), 1);
  await land(world, repo, { ...QUEUE_ACTOR, user: entry.enqueuer.user }, issue, group.base, group.head);
  await emitPull(world, repo, QUEUE_ACTOR, "dequeued", issue, { reason: "MERGE" });
  await destroyGroup(world, repo, queue, entry, "merged");
}
