import { emitPull, emitPush } from "./events.ts";
import type { Actor, Repo, World } from "./model.ts";
import { isPull, type PullIssue } from "./world.ts";

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
  for (const move of moves) {
    if (!move.ref.startsWith("refs/heads/") || move.old === move.new) continue;
    const branch = move.ref.slice("refs/heads/".length);
    repo.pushedAt = world.clock.now();
    const open = [...repo.issues.values()].filter(isPull).filter((issue) => issue.state === "open" && issue !== merging);
    await followHeads(
      world,
      repo,
      actor,
      move,
      open.filter((issue) => issue.pull.headRef === branch),
    );
    if (merging === undefined)
      await findMerged(
        world,
        repo,
        actor,
        move,
        open.filter((issue) => issue.pull.baseRef === branch),
      );
    await emitPush(world, repo, actor, move);
  }
}

async function followHeads(world: World, repo: Repo, actor: Actor, move: Moved, issues: readonly PullIssue[]): Promise<void> {
  for (const issue of issues) {
    issue.updatedAt = world.clock.now();
    if (move.new === undefined) {
      close(world, actor, issue);
      await emitPull(world, repo, actor, "closed", issue);
      continue;
    }
    issue.pull.headSha = move.new;
    issue.pull.baseSha = (await repo.git.ref(`refs/heads/${issue.pull.baseRef}`)) ?? issue.pull.baseSha;
    delete issue.pull.mergeability;
    await repo.git.pointPull(issue.number, move.new);
    await emitPull(world, repo, actor, "synchronize", issue, { before: move.old, after: move.new });
  }
}

/** A push that brings a pull request's head into its base is a merge, too. */
async function findMerged(world: World, repo: Repo, actor: Actor, move: Moved, issues: readonly PullIssue[]): Promise<void> {
  if (issues.length === 0 || move.old === undefined || move.new === undefined) return;
  const arrived = new Set(await repo.git.revList(move.old, move.new));
  for (const issue of issues) {
    if (!arrived.has(issue.pull.headSha)) continue;
    issue.pull.merged = { at: world.clock.now(), by: actor.user, sha: move.new };
    close(world, actor, issue);
    await emitPull(world, repo, actor, "closed", issue);
  }
}

export function close(world: World, actor: Actor, issue: PullIssue): void {
  issue.state = "closed";
  issue.closedAt = world.clock.now();
  issue.closedBy = actor.user;
  issue.updatedAt = issue.closedAt;
}
