import { diffTrees } from "../../../adapters/git/tree-diff.ts";
import type { CommitObject } from "../git/objects.ts";
import { readTree } from "../git/trees.ts";
import type { Actor, Repo, World } from "../model/model.ts";
import { fullName, seconds } from "../model/world.ts";
import { emit } from "./events.ts";

export const ZERO = "0".repeat(40);

/** The `push` event of one ref. */
export async function emitPush(
  world: World,
  repo: Repo,
  actor: Actor,
  change: { ref: string; old: string | undefined; new: string | undefined },
): Promise<void> {
  const { ref, old, new: next } = change;
  const commits = next === undefined ? [] : await pushedCommits(repo, old, next);
  const files = await filesOf(repo, commits);
  const printed = commits.map((commit) => ({
    id: commit.sha,
    tree_id: commit.tree,
    distinct: true,
    message: commit.message.replace(/\n$/, ""),
    timestamp: seconds(commit.committer.at * 1000),
    url: `${world.origin}/${fullName(repo)}/commit/${commit.sha}`,
    author: { name: commit.author.name, email: commit.author.email },
    committer: { name: commit.committer.name, email: commit.committer.email },
    ...(files.get(commit.sha) ?? { added: [], removed: [], modified: [] }),
  }));
  emit(world, repo, actor, "push", undefined, {
    ref,
    before: old ?? ZERO,
    after: next ?? ZERO,
    created: old === undefined,
    deleted: next === undefined,
    forced: await isForced(repo, old, next),
    base_ref: null,
    compare: `${world.origin}/${fullName(repo)}/compare/${(old ?? ZERO).slice(0, 12)}...${(next ?? ZERO).slice(0, 12)}`,
    commits: printed,
    head_commit: printed.at(-1) ?? null,
    pusher: { name: actor.user.login, email: `${actor.user.login}@users.noreply.github.com` },
  });
}

export async function isForced(repo: Repo, old: string | undefined, next: string | undefined): Promise<boolean> {
  if (old === undefined || next === undefined) return false;
  if ((await repo.git.commit(next))?.parents.includes(old) === true) return false;
  return (await repo.git.mergeBase(old, next)) !== old;
}

/** Oldest first. One commit on top of the old head, or the merge of one, are the usual cases and cost no process. */
async function pushedCommits(repo: Repo, old: string | undefined, head: string) {
  const tip = await repo.git.commit(head);
  if (tip === undefined) return [];
  if (old === undefined || (tip.parents.length === 1 && tip.parents[0] === old)) return [tip];
  const side = tip.parents[0] === old && tip.parents[1] !== undefined ? await repo.git.commit(tip.parents[1]) : undefined;
  if (side?.parents.length === 1 && side.parents[0] === old) return [side, tip];
  const ids = await repo.git.revList(old, head, 20);
  const commits = await Promise.all(ids.map((id) => repo.git.commit(id)));
  return commits.filter((commit) => commit !== undefined).reverse();
}

interface Touched {
  added: string[];
  removed: string[];
  modified: string[];
}

/** What each commit did to files: Argo CD's webhook goes by it. Nothing of a merge, whose sides are told of by their own commits. */
async function filesOf(repo: Repo, commits: readonly CommitObject[]): Promise<Map<string, Touched>> {
  const found = new Map<string, Touched>();
  for (const { sha, tree, parents } of commits) {
    const touched: Touched = { added: [], removed: [], modified: [] };
    found.set(sha, touched);
    if (parents.length > 1) continue;
    const before = parents[0] === undefined ? undefined : await repo.git.commit(parents[0]);
    for (const { path, from, to } of await diffTrees((id) => treeOf(repo, id), before?.tree, tree))
      touched[from === undefined ? "added" : to === undefined ? "removed" : "modified"].push(path);
  }
  return found;
}

async function treeOf(repo: Repo, id: string) {
  const entries = (await readTree(repo.git.cat, id)) ?? [];
  return new Map(entries.map(({ name, mode, sha }) => [name, { mode, id: sha }]));
}
