import { mergeTree } from "../git/merge.ts";
import { writeCommit } from "../git/objects.ts";
import { refused } from "../http/failure.ts";
import { signedByUs, webFlowSignature } from "../http/signatures.ts";
import type { Actor, Repo, World } from "../model/model.ts";
import type { PullIssue } from "../model/world.ts";
import { noreply } from "../shapes/commit.ts";
import { moveRefs } from "./move-ref.ts";

/** The merge of two branches as a commit of the site's making, not yet anywhere; undefined: they stand against each other. */
export async function mergeCommit(
  world: World,
  repo: Repo,
  actor: Actor,
  into: string,
  from: string,
  message: string,
): Promise<string | undefined> {
  const merged = await mergeTree(repo.git, into, from);
  if ("conflicts" in merged) return undefined;
  const at = Math.floor(world.clock.now() / 1000);
  const sha = await writeCommit(repo.git.dir, {
    tree: merged.tree,
    parents: [into, from],
    author: { ...noreply(actor.user), at },
    committer: { name: "GitHub", email: "noreply@github.com", at },
    message,
    signature: webFlowSignature(),
  });
  signedByUs(world, sha);
  return sha;
}

/** Merges the base into a pull request's head. Call it within `repo.serial`. Throws 422 in recorded words. */
export async function updatePullBranch(world: World, repo: Repo, actor: Actor, issue: PullIssue, expected?: string): Promise<void> {
  const { pull } = issue;
  if (expected !== undefined && expected !== pull.headSha) throw refused("expected head sha didn’t match current head ref.");
  const base = await repo.git.ref(`refs/heads/${pull.baseRef}`);
  if (base === undefined || issue.state === "closed") throw refused("The pull request cannot be updated.");
  if ((await repo.git.mergeBase(base, pull.headSha)) === base) throw refused("There are no new commits on the base branch.");
  const message = `Merge branch '${pull.baseRef}' into ${pull.headRef}`;
  const sha = await mergeCommit(world, repo, actor, pull.headSha, base, message);
  if (sha === undefined) throw refused("merge conflict between base and head");
  const head = pull.headRepo === undefined ? repo : pull.headRepo;
  if (head === null) throw refused("The head repository is gone.");
  if (head !== repo) await head.git.fetch(repo.git, sha, `refs/pull/${issue.number}/update`);
  await moveRefs(world, head, actor, [{ ref: `refs/heads/${pull.headRef}`, old: pull.headSha, new: sha }]);
}
