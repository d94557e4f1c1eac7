import type { BareRepo } from "./bare-repo.ts";
import { type CommitObject, type NewCommit, type Signature, writeCommit } from "./objects.ts";
import { runGit } from "./run-git.ts";

/** Tree of the three-way merge of two commits; `conflict`: the paths that stand against each other. */
export async function mergeTree(repo: BareRepo, ours: string, theirs: string): Promise<{ tree: string } | { conflicts: string[] }> {
  const head = await repo.commit(theirs);
  // One commit right on top: the merge is its tree, and no process has to be started for it.
  if (head?.parents.length === 1 && head.parents[0] === ours) return { tree: head.tree };
  const result = await runGit(repo.dir, ["merge-tree", "--write-tree", "--name-only", "--no-messages", ours, theirs]);
  const [tree = "", ...names] = result.stdout.toString().split("\n");
  if (result.code === 0) return { tree };
  // Nothing in common: as good as a conflict in every file.
  if (/unrelated histories/.test(result.stderr)) return { conflicts: [] };
  if (result.code === 1) return { conflicts: names.filter((name) => name !== "") };
  throw new Error(`git merge-tree ended with ${result.code}: ${result.stderr.trim()}`);
}

/**
 * Puts the commits of `base..head` one by one onto `base`, as a rebase merge does: same author and message, new committer.
 * Each is a merge of two made-up commits whose common ancestor has the tree of the commit's own parent (git 2.38 has no
 * other way to name the base of a tree merge). Merge commits are left out.
 */
export async function replay(
  repo: BareRepo,
  base: string,
  head: string,
  committer: Signature,
): Promise<{ commit: string } | { conflicts: string[] }> {
  const start = await repo.commit(base);
  if (start === undefined) throw new Error(`no commit ${base}`);
  let onto: CommitObject = start;
  for (const sha of (await repo.revList(base, head)).toReversed()) {
    const commit = await repo.commit(sha);
    if (commit === undefined || commit.parents.length > 1) continue;
    const parent = commit.parents[0] === undefined ? undefined : await repo.commit(commit.parents[0]);
    if (parent === undefined) continue;
    if (parent.tree === onto.tree) {
      onto = await put(repo, { ...commit, parents: [onto.sha], committer });
      continue;
    }
    const plain = { author: committer, committer, message: "replay" };
    const root = await writeCommit(repo.dir, { ...plain, tree: parent.tree, parents: [] });
    const ours = await writeCommit(repo.dir, { ...plain, tree: onto.tree, parents: [root] });
    const theirs = await writeCommit(repo.dir, { ...plain, tree: commit.tree, parents: [root], message: "theirs" });
    const merged = await mergeTree(repo, ours, theirs);
    if ("conflicts" in merged) return merged;
    onto = await put(repo, { ...commit, tree: merged.tree, parents: [onto.sha], committer });
  }
  return { commit: onto.sha };
}

/** A signature is of one commit only: the replayed one has none. */
async function put(repo: BareRepo, commit: NewCommit): Promise<CommitObject> {
  const { tree, parents, author, committer, message } = commit;
  const plain = { tree, parents, author, committer, message };
  return { ...plain, sha: await writeCommit(repo.dir, plain) };
}
