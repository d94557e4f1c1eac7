import { emitPull } from "../deliver/events.ts";
import { emitPush, isForced, ZERO } from "../deliver/events-push.ts";
import type { Actor, Repo, World } from "../model/model.ts";
import { isPull, type PullIssue } from "../model/world.ts";
import { requestSuites } from "./checks.ts";
import { dequeue, entryOf } from "./queue.ts";
import { dismissStale } from "./reviews.ts";

export interface Moved {
  ref: string;
  old: string | undefined;
  new: string | undefined;
}

/**
 * What follows when branches have moved, whoever moved them and how: pull requests of a moved head are synchronised, those
 * of a deleted head closed, those whose head has reached their base count as merged, and the events go out. `merging`: the
 * pull request whose merge moved the base; its own `closed` event is the merge's.
 */
export async function refsMoved(world: World, repo: Repo, actor: Actor, moves: readonly Moved[], merging?: PullIssue): Promise<void> {
  const tags = moves.filter((move) => move.ref.startsWith("refs/tags/")).length;
  for (const move of moves) {
    if (!move.ref.startsWith("refs/") || move.old === move.new) continue;
    if (move.ref.startsWith("refs/heads/")) await noteActivity(world, repo, actor, move, merging);
    if (move.ref.startsWith("refs/heads/")) await branchMoved(world, repo, actor, move, merging);
    // More than three tags at once send no event at all.
    if (tags <= 3 || !move.ref.startsWith("refs/tags/")) await emitPush(world, repo, actor, move);
    if (move.new !== undefined && move.ref.startsWith("refs/heads/")) await requestSuites(world, repo, actor, move.new);
  }
}

async function noteActivity(world: World, repo: Repo, { user: actor }: Actor, move: Moved, merging?: PullIssue): Promise<void> {
  const { ref, old, new: next } = move;
  const forced = async () => ((await isForced(repo, old, next)) ? "force_push" : "push");
  const moved = merging === undefined ? await forced() : "pr_merge";
  const type = old === undefined ? "branch_creation" : next === undefined ? "branch_deletion" : moved;
  repo.activities.push({ id: world.nextId(), ref, before: old ?? ZERO, after: next ?? ZERO, at: world.clock.now(), type, actor });
}

async function branchMoved(world: World, repo: Repo, actor: Actor, move: Moved, merging?: PullIssue): Promise<void> {
  const branch = move.ref.slice("refs/heads/".length);
  repo.pushedAt = world.clock.now();
  for (const { base, issue } of pullsFrom(world, repo, branch)) {
    if (issue !== merging) await followHead(world, base, repo, actor, move, issue);
  }
  const into = openPulls(repo).filter((issue) => issue.pull.baseRef === branch && issue !== merging);
  if (move.new === undefined) for (const issue of into) await closeFor(world, repo, actor, issue);
  else if (merging === undefined) await findMerged(world, repo, actor, move, into);
}

export function openPulls(repo: Repo): PullIssue[] {
  return [...repo.issues.values()].filter(isPull).filter((issue) => issue.state === "open");
}

/** Open pull requests, here or in what this is a fork of, whose head is this branch. */
function pullsFrom(world: World, repo: Repo, branch: string): { base: Repo; issue: PullIssue }[] {
  const found: { base: Repo; issue: PullIssue }[] = [];
  for (const base of repo.parent === undefined ? [repo] : [repo, ...world.repos.values()]) {
    for (const issue of openPulls(base)) {
      const head = issue.pull.headRepo === undefined ? base : issue.pull.headRepo;
      if (head === repo && issue.pull.headRef === branch && !found.some((one) => one.issue === issue)) found.push({ base, issue });
    }
  }
  return found;
}

async function followHead(world: World, base: Repo, head: Repo, actor: Actor, move: Moved, issue: PullIssue): Promise<void> {
  issue.updatedAt = world.clock.now();
  if (move.new === undefined) {
    await closeFor(world, base, actor, issue);
    return;
  }
  if (head !== base) await base.git.fetch(head.git, move.ref, `refs/pull/${issue.number}/head`);
  issue.pull.headSha = move.new;
  issue.pull.pusher = actor.user;
  issue.pull.baseSha = (await base.git.ref(`refs/heads/${issue.pull.baseRef}`)) ?? issue.pull.baseSha;
  delete issue.pull.mergeability;
  if (head === base) await base.git.pointPull(issue.number, move.new);
  await leaveQueue(world, base, actor, issue, "INVALID_MERGE_COMMIT");
  await emitPull(world, base, actor, "synchronize", issue, { before: move.old, after: move.new });
  await dismissStale(world, base, actor, issue);
}

async function leaveQueue(world: World, repo: Repo, actor: Actor, issue: PullIssue, reason: string): Promise<void> {
  const entry = entryOf(repo, issue);
  if (entry !== undefined) await dequeue(world, repo, actor, entry, reason);
}

/** Closes it and says so; it leaves the merge queue. */
export async function closeFor(world: World, repo: Repo, actor: Actor, issue: PullIssue): Promise<void> {
  close(world, actor, issue);
  await leaveQueue(world, repo, actor, issue, "MANUAL");
  await emitPull(world, repo, actor, "closed", issue);
}

/** A push that brings a pull request's head into its base is a merge, too. */
async function findMerged(world: World, repo: Repo, actor: Actor, move: Moved, issues: readonly PullIssue[]): Promise<void> {
  if (issues.length === 0 || move.old === undefined || move.new === undefined) return;
  const arrived = new Set(await repo.git.revList(move.old, move.new));
  for (const issue of issues) {
    if (!arrived.has(issue.pull.headSha)) continue;
    issue.pull.merged = { at: world.clock.now(), by: actor.user, sha: move.new };
    await closeFor(world, repo, actor, issue);
  }
}

export function close(world: World, actor: Actor, issue: PullIssue): void {
  issue.state = "closed";
  issue.closedAt = world.clock.now();
  issue.closedBy = actor.user;
  issue.updatedAt = issue.closedAt;
}
