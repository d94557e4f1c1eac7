import { writeCommit } from "../git/objects.ts";
import { editTree, type TreeChange } from "../git/trees.ts";
import { ApiFailure, refused } from "../http/failure.ts";
import { signedByUs, webFlowSignature } from "../http/signatures.ts";
import type { Actor, Repo, World } from "../model/model.ts";
import { noreply } from "../shapes/commit.ts";
import { moveRefs } from "./move-ref.ts";

const GITHUB = { name: "GitHub", email: "noreply@github.com" };

/**
 * A commit of file changes on top of a branch, made by the site: authored by who asks, committed and signed by the site, so
 * Verified. Call it within `repo.serial`. Throws 422 where a path to be deleted is not there.
 */
export async function commitFiles(
  world: World,
  repo: Repo,
  actor: Actor,
  change: { branch: string; head: string; files: ReadonlyMap<string, TreeChange>; message: string },
): Promise<string> {
  const parent = await repo.git.commit(change.head);
  if (parent === undefined) throw new ApiFailure(404, `Branch ${change.branch} not found`);
  const edited = await editTree(repo.git.dir, repo.git.cat, parent.tree, change.files);
  if ("missing" in edited) {
    throw refused(`A path was requested for deletion which does not exist as of commit oid \`${change.head}\`: ${edited.missing}`);
  }
  const at = Math.floor(world.clock.now() / 1000);
  const sha = await writeCommit(repo.git.dir, {
    tree: edited.tree,
    parents: [change.head],
    author: { ...noreply(actor.user), at },
    committer: { ...GITHUB, at },
    message: change.message,
    signature: webFlowSignature(),
  });
  signedByUs(world, sha);
  await moveRefs(world, repo, actor, [{ ref: `refs/heads/${change.branch}`, old: change.head, new: sha }]);
  return sha;
}
