import { ApiFailure, notFound } from "../http/failure.ts";
import {
  ADMIN,
  type Answer,
  NO_CONTENT,
  ok,
  optionalText,
  READ,
  type RepoCall,
  type Route,
  repoRoute,
  text,
  WRITE,
} from "../http/router.ts";
import { forkRepo, removeRepo, renameRepo, setArchived } from "../model/repositories.ts";
import { nodeId, seconds, userOf } from "../model/world.ts";
import { moveRefs } from "../pulls/move-ref.ts";
import { mergeCommit } from "../pulls/update-branch.ts";
import { commitShape } from "../shapes/commit.ts";
import { fullRepoShape, repoUrl } from "../shapes/repo.ts";
import { userShape } from "../shapes/user.ts";
import { resolveCommit } from "./commits.ts";

/** Name, description, visibility, archive, settings. */
function patch(call: RepoCall): Answer {
  const { world, repo, actor, body } = call;
  const name = optionalText(call, "name", "Repository");
  if (name !== undefined && name !== repo.name) renameRepo(world, repo, name, actor);
  if (body["description"] !== undefined) repo.description = optionalText(call, "description", "Repository") ?? null;
  if (typeof body["private"] === "boolean") repo.private = body["private"];
  if (typeof body["archived"] === "boolean") setArchived(world, repo, body["archived"], actor);
  const settings = {
    allow_merge_commit: "allowMerge",
    allow_squash_merge: "allowSquash",
    allow_rebase_merge: "allowRebase",
    allow_auto_merge: "allowAutoMerge",
    delete_branch_on_merge: "deleteBranchOnMerge",
  } as const;
  for (const [field, setting] of Object.entries(settings)) {
    const value = body[field];
    if (typeof value === "boolean") repo.settings[setting] = value;
  }
  return ok(fullRepoShape(world, repo, actor));
}

async function fork(call: RepoCall): Promise<Answer> {
  const organization = optionalText(call, "organization", "Repository");
  const owner = organization === undefined ? call.actor.user : userOf(call.world, organization, "Organization");
  const made = await forkRepo(call.world, call.repo, owner);
  return { status: 202, body: fullRepoShape(call.world, made, call.actor) };
}

/** 201 with the merge, 204 where there is nothing to do, 409 where the two stand against each other. */
async function merges(call: RepoCall): Promise<Answer> {
  const { world, repo, actor } = call;
  const base = text(call, "base", "Merge");
  const head = text(call, "head", "Merge");
  const into = await repo.git.ref(`refs/heads/${base}`);
  if (into === undefined) throw new ApiFailure(404, "Base does not exist");
  const from = await resolveCommit(call, head).catch(() => {
    throw new ApiFailure(404, "Head does not exist");
  });
  if ((await repo.git.mergeBase(into, from.sha)) === from.sha) return NO_CONTENT;
  const message = optionalText(call, "commit_message", "Merge") ?? `Merge ${head} into ${base}`;
  const sha = await mergeCommit(world, repo, actor, into, from.sha, message);
  if (sha === undefined) throw new ApiFailure(409, "Merge conflict");
  await moveRefs(world, repo, actor, [{ ref: `refs/heads/${base}`, old: into, new: sha }]);
  const made = await repo.git.commit(sha);
  if (made === undefined) throw notFound();
  return { status: 201, body: commitShape(world, repo, made) };
}

/** Moves of branches, the last one first. Pages go by cursor. */
function activity(call: RepoCall): Answer {
  const { query, repo, world } = call;
  const ref = query.get("ref");
  const full = ref === null || ref.startsWith("refs/") ? ref : `refs/heads/${ref}`;
  const size = Math.min(100, Math.max(1, Number(query.get("per_page") ?? 30)));
  const after = Number(query.get("after") ?? Number.POSITIVE_INFINITY);
  const found = repo.activities.filter((one) => (full === null || one.ref === full) && one.id < after).reverse();
  const shown = found.slice(0, size);
  const last = shown.at(-1);
  const url = `${repoUrl(world, repo)}/activity?per_page=${size}${ref === null ? "" : `&ref=${encodeURIComponent(ref)}`}`;
  const headers = found.length > size ? { link: `<${url}&after=${last?.id}>; rel="next"` } : {};
  const body = shown.map(({ id, before, after: to, at, type, actor, ref: moved }) => ({
    ...{ id, node_id: nodeId("ACT", id), before, after: to, ref: moved, timestamp: seconds(at), activity_type: type },
    actor: userShape(world, actor),
  }));
  return { status: 200, body, headers };
}

function remove(call: RepoCall): Answer {
  removeRepo(call.world, call.repo, call.actor);
  return NO_CONTENT;
}

export const REPO_ROUTES: readonly Route[] = [
  repoRoute("GET", "", READ("metadata"), (call) => ok(fullRepoShape(call.world, call.repo, call.actor))),
  repoRoute("PATCH", "", ADMIN, patch),
  repoRoute("DELETE", "", ADMIN, remove),
  repoRoute("GET", "/activity", READ("contents"), activity),
  repoRoute("POST", "/forks", READ("contents"), fork),
  repoRoute("POST", "/merges", WRITE("contents"), (call) => call.repo.serial(() => merges(call))),
];
