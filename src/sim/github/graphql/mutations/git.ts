import { isRefName } from "../../git/bare-repo.ts";
import { writeObject } from "../../git/objects.ts";
import type { TreeChange } from "../../git/trees.ts";
import { ApiFailure } from "../../http/failure.ts";
import type { Repo } from "../../model/model.ts";
import { findRepo, fullName, movedRepo } from "../../model/world.ts";
import { commitFiles } from "../../pulls/commit-files.ts";
import { isForward, moveRefs } from "../../pulls/move-ref.ts";
import type { Moved } from "../../pulls/refs-moved.ts";
import { type Context, mustWrite, sees } from "../context.ts";
import { FieldFailure, noNode } from "../failures.ts";
import { commitNodeOf, refNode } from "../git-nodes.ts";
import { nodeOf } from "../lookup.ts";

const SHA = /^[0-9a-f]{40}$/;
const ZERO = "0".repeat(40);

async function mustExist(repo: Repo, oid: string): Promise<void> {
  if (SHA.test(oid) && (await repo.git.cat.info(oid)) !== undefined) return;
  throw new FieldFailure("NOT_FOUND", "Git object does not exist");
}

async function createRef(context: Context, input: { repositoryId: string; name: string; oid: string }) {
  const { repo } = nodeOf(context, input.repositoryId, "repository");
  mustWrite(context, repo, "contents");
  const { name: ref, oid } = input;
  if (!isRefName(ref)) throw new FieldFailure("UNPROCESSABLE", `${ref} is not a valid ref name.`);
  await repo.serial(async () => {
    await mustExist(repo, oid);
    if ((await repo.git.ref(ref)) !== undefined) {
      throw new FieldFailure("UNPROCESSABLE", `A ref named "${ref}" already exists in the repository.`);
    }
    await moveRefs(context.world, repo, context.actor, [{ ref, old: undefined, new: oid }]).catch((error: unknown) => {
      const isVague = error instanceof ApiFailure && error.message === "Reference update failed";
      throw isVague ? new FieldFailure("UNPROCESSABLE", "Ref cannot be created.") : error;
    });
  });
  return { ref: refNode(context, repo, ref) };
}

async function updateRef(context: Context, input: { refId: string; oid: string; force?: boolean | null }) {
  const { repo, ref } = nodeOf(context, input.refId, "ref");
  mustWrite(context, repo, "contents");
  await repo.serial(async () => {
    await mustExist(repo, input.oid);
    const old = await repo.git.ref(ref);
    if (old === undefined) throw noNode(input.refId);
    if (input.force !== true && !(await isForward(repo, old, input.oid)))
      throw new FieldFailure("UNPROCESSABLE", "Update is not a fast forward");
    await moveRefs(context.world, repo, context.actor, [{ ref, old, new: input.oid }]);
  });
  return { ref: refNode(context, repo, ref) };
}

async function deleteRef(context: Context, input: { refId: string }) {
  const { repo, ref } = nodeOf(context, input.refId, "ref");
  mustWrite(context, repo, "contents");
  await repo.serial(async () => {
    const old = await repo.git.ref(ref);
    if (old === undefined) throw noNode(input.refId);
    await moveRefs(context.world, repo, context.actor, [{ ref, old, new: undefined }]);
  });
  return {};
}

interface RefUpdate {
  name: string;
  beforeOid?: string | null;
  afterOid: string;
  force?: boolean | null;
}

/** All or none: a compare-and-swap over several refs. Zeros stand for a ref that is not there. */
async function updateRefs(context: Context, input: { repositoryId: string; refUpdates: readonly RefUpdate[] }) {
  const { repo } = nodeOf(context, input.repositoryId, "repository");
  mustWrite(context, repo, "contents");
  await repo.serial(async () => {
    const moves: Moved[] = [];
    for (const update of input.refUpdates) moves.push(await judged(repo, update));
    await moveRefs(context.world, repo, context.actor, moves);
  });
  return {};
}

async function judged(repo: Repo, { name: ref, beforeOid, afterOid, force }: RefUpdate): Promise<Moved> {
  if (!isRefName(ref)) throw new FieldFailure("UNPROCESSABLE", `${ref} is not a valid ref name.`);
  const old = await repo.git.ref(ref);
  if (beforeOid != null && (old ?? ZERO) !== beforeOid) {
    throw new FieldFailure("STALE_DATA", `Expected ${ref} to point to "${beforeOid}" but it did not.`);
  }
  if (afterOid === ZERO) return { ref, old, new: undefined };
  await mustExist(repo, afterOid);
  const forward = old === undefined || force === true || (await isForward(repo, old, afterOid));
  if (!forward) throw new FieldFailure("UNPROCESSABLE", "Update is not a fast forward");
  return { ref, old, new: afterOid };
}

interface CommitInput {
  branch: { id?: string | null; repositoryNameWithOwner?: string | null; branchName?: string | null };
  expectedHeadOid: string;
  fileChanges?: {
    additions?: readonly { path: string; contents: string }[] | null;
    deletions?: readonly { path: string }[] | null;
  } | null;
  message: { headline: string; body?: string | null };
}

function branchOf(context: Context, branch: CommitInput["branch"]): { repo: Repo; name: string } {
  if (branch.id != null) {
    const { repo, ref } = nodeOf(context, branch.id, "ref");
    return { repo, name: ref.replace(/^refs\/heads\//, "") };
  }
  const [owner = "", name = ""] = (branch.repositoryNameWithOwner ?? "").split("/");
  const repo = findRepo(context.world, owner, name) ?? movedRepo(context.world, owner, name);
  if (repo === undefined || !sees(context, repo) || branch.branchName == null) {
    throw new FieldFailure("NOT_FOUND", `Could not resolve to a Repository with the name '${branch.repositoryNameWithOwner ?? ""}'.`);
  }
  return { repo, name: branch.branchName.replace(/^refs\/heads\//, "") };
}

async function changesOf(repo: Repo, input: CommitInput, head: string): Promise<Map<string, TreeChange>> {
  const files = new Map<string, TreeChange>();
  for (const { path } of input.fileChanges?.deletions ?? []) files.set(plainPath(path), null);
  for (const { path, contents } of input.fileChanges?.additions ?? []) {
    const sha = await writeObject(repo.git.dir, "blob", Buffer.from(contents, "base64"));
    // No mode can be said: what is executable stays so.
    const there = /^100755 /.test(await modeAt(repo, head, plainPath(path)));
    files.set(plainPath(path), { mode: there ? "100755" : "100644", sha });
  }
  return files;
}

function plainPath(path: string): string {
  const parts = path.split("/");
  if (path === "" || parts.some((part) => part === "" || part === "." || part === ".." || part === ".git")) {
    throw new FieldFailure("UNPROCESSABLE", `A path was requested which is malformed: ${path}`);
  }
  return path;
}

async function modeAt(repo: Repo, head: string, path: string): Promise<string> {
  const slash = path.lastIndexOf("/");
  const folder = await repo.git.cat.contents(`${head}:${slash < 0 ? "" : path.slice(0, slash)}`);
  const text = folder?.type === "tree" ? folder.content.toString("latin1") : "";
  const name = path.slice(slash + 1);
  return text.includes(`100755 ${name}\0`) ? "100755 " : "";
}

async function createCommitOnBranch(context: Context, input: CommitInput) {
  const { repo, name } = branchOf(context, input.branch);
  mustWrite(context, repo, "contents");
  const sha = await repo.serial(async () => {
    const head = await repo.git.ref(`refs/heads/${name}`);
    if (head === undefined) {
      throw new FieldFailure("NOT_FOUND", `Could not resolve to a Ref with the name '${name}' in ${fullName(repo)}.`);
    }
    if (head !== input.expectedHeadOid) {
      throw new FieldFailure("STALE_DATA", `Expected branch to point to "${input.expectedHeadOid}" but it did not.  Pull and try again.`);
    }
    const { headline, body } = input.message;
    const message = body == null || body === "" ? headline : `${headline}\n\n${body}`;
    return commitFiles(context.world, repo, context.actor, { branch: name, head, files: await changesOf(repo, input, head), message });
  });
  return { commit: commitNodeOf(context, repo, sha), ref: refNode(context, repo, `refs/heads/${name}`) };
}

export const GIT_MUTATIONS = { createRef, updateRef, deleteRef, updateRefs, createCommitOnBranch };
