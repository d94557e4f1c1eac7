import { defined } from "../../../core/base/defined.ts";
import { isRefName } from "../git/bare-repo.ts";
import { type Signature, writeCommit, writeObject } from "../git/objects.ts";
import { mustGit } from "../git/run-git.ts";
import { editTree, readTree, type TreeChange, type TreeEntry } from "../git/trees.ts";
import { ApiFailure, notFound, refused } from "../http/failure.ts";
import {
  type Answer,
  created,
  NO_CONTENT,
  ok,
  optionalText,
  READ,
  type RepoCall,
  type Route,
  repoRoute,
  text,
  texts,
  WRITE,
} from "../http/router.ts";
import { signedByUs, webFlowSignature } from "../http/signatures.ts";
import { nodeId } from "../model/world.ts";
import { isForward, moveRefs } from "../pulls/move-ref.ts";
import { gitCommitShape, noreply } from "../shapes/commit.ts";
import { repoUrl } from "../shapes/repo.ts";

const READS = READ("contents");
const WRITES = WRITE("contents");

async function refShape(call: RepoCall, ref: string, sha: string) {
  const url = repoUrl(call.world, call.repo);
  const type = (await call.repo.git.cat.info(sha))?.type ?? "commit";
  const object = { sha, type, url: `${url}/git/${type}s/${sha}` };
  return { ref, node_id: nodeId("REF", `${call.repo.id}:${ref}`), url: `${url}/git/${ref}`, object };
}

async function getRef(call: RepoCall): Promise<Answer> {
  const ref = `refs/${call.params["ref"]}`;
  const sha = await call.repo.git.ref(ref);
  if (sha === undefined) throw notFound();
  return ok(await refShape(call, ref, sha));
}

async function matchingRefs(call: RepoCall): Promise<Answer> {
  const found = await call.repo.git.refs(`refs/${call.params["ref"]}`);
  return ok(await Promise.all(found.map((one) => refShape(call, one.name, one.sha))));
}

async function commitId(call: RepoCall): Promise<string> {
  const sha = text(call, "sha", "Reference");
  if (!/^[0-9a-f]{40}$/.test(sha)) throw refused("The sha parameter must be exactly 40 characters and contain only [0-9a-f].");
  if ((await call.repo.git.commit(sha)) === undefined) throw refused("Object does not exist");
  return sha;
}

async function createRef(call: RepoCall): Promise<Answer> {
  const ref = text(call, "ref", "Reference");
  const sha = await commitId(call);
  if (!isRefName(ref)) throw refused(`${ref} is not a valid ref name.`);
  if ((await call.repo.git.ref(ref)) !== undefined) throw refused("Reference already exists");
  await moveRefs(call.world, call.repo, call.actor, [{ ref, old: undefined, new: sha }]);
  return created(await refShape(call, ref, sha));
}

async function updateRef(call: RepoCall): Promise<Answer> {
  const ref = `refs/${call.params["ref"]}`;
  const sha = await commitId(call);
  const old = await call.repo.git.ref(ref);
  if (old === undefined) throw refused("Reference does not exist");
  if (call.body["force"] !== true && !(await isForward(call.repo, old, sha))) throw refused("Update is not a fast forward");
  await moveRefs(call.world, call.repo, call.actor, [{ ref, old, new: sha }]);
  return ok(await refShape(call, ref, sha));
}

async function deleteRef(call: RepoCall): Promise<Answer> {
  const ref = `refs/${call.params["ref"]}`;
  const old = await call.repo.git.ref(ref);
  if (old === undefined) throw refused("Reference does not exist");
  if (ref === `refs/heads/${call.repo.defaultBranch}`) throw refused("Cannot delete the default branch");
  await moveRefs(call.world, call.repo, call.actor, [{ ref, old, new: undefined }]);
  return NO_CONTENT;
}

async function getCommit(call: RepoCall): Promise<Answer> {
  const commit = await call.repo.git.commit(call.params["sha"] ?? "");
  if (commit === undefined) throw notFound();
  return ok(gitCommitShape(call.world, call.repo, commit));
}

function signature(call: RepoCall, field: string): Signature | undefined {
  const value = call.body[field];
  if (typeof value !== "object" || value === null) return undefined;
  const { name, email, date } = value as { name?: unknown; email?: unknown; date?: unknown };
  if (typeof name !== "string" || typeof email !== "string") throw refused(`Invalid ${field}`);
  const at = typeof date === "string" ? Date.parse(date) : call.world.clock.now();
  return { name, email, at: Math.floor(at / 1000) };
}

async function createCommit(call: RepoCall): Promise<Answer> {
  const tree = text(call, "tree", "Commit");
  const parents = texts(call.body["parents"]);
  if ((await call.repo.git.cat.info(tree))?.type !== "tree") throw refused("Tree SHA does not exist");
  for (const parent of parents) {
    if ((await call.repo.git.commit(parent)) === undefined) throw refused("Parent SHA does not exist or is not a commit object");
  }
  const at = Math.floor(call.world.clock.now() / 1000);
  const given = { author: signature(call, "author"), committer: signature(call, "committer") };
  // GitHub signs what an App commits under its own name.
  const own = call.actor.kind === "installation" && given.author === undefined && given.committer === undefined;
  const detached = optionalText(call, "signature", "Commit");
  const author = given.author ?? { ...noreply(call.actor.user), at };
  const committer = own ? { name: "GitHub", email: "noreply@github.com", at } : (given.committer ?? author);
  const signed = detached ?? (own ? webFlowSignature() : undefined);
  const message = text(call, "message", "Commit");
  const commit = defined({ tree, parents, author, committer, message, signature: signed });
  const sha = await writeCommit(call.repo.git.dir, commit);
  if (own && detached === undefined) signedByUs(call.world, sha);
  const made = await call.repo.git.commit(sha);
  if (made === undefined) throw notFound();
  return created(gitCommitShape(call.world, call.repo, made));
}

function entryShape(call: RepoCall, entry: TreeEntry, path: string, size?: number) {
  const kind = entry.mode === "40000" ? "tree" : entry.mode === "160000" ? "commit" : "blob";
  const url = `${repoUrl(call.world, call.repo)}/git/${kind}s/${entry.sha}`;
  return defined({ path, mode: entry.mode.padStart(6, "0"), type: kind, sha: entry.sha, size, url });
}

async function getTree(call: RepoCall): Promise<Answer> {
  const name = call.params["sha"] ?? "";
  const sha = (await call.repo.git.ref(`refs/heads/${name}`)) ?? name;
  const root = await call.repo.git.cat.info(/^[0-9a-f]{40}$/.test(sha) ? `${sha}^{tree}` : "");
  if (root === undefined) throw notFound();
  const deep = call.query.get("recursive") !== null;
  const url = `${repoUrl(call.world, call.repo)}/git/trees/${root.sha}`;
  if (!deep) {
    const entries = (await readTree(call.repo.git.cat, root.sha)) ?? [];
    return ok({ sha: root.sha, url, tree: entries.map((entry) => entryShape(call, entry, entry.name)), truncated: false });
  }
  const out = await mustGit(call.repo.git.dir, ["ls-tree", "-r", "-t", "-l", "-z", root.sha]);
  const lines = out.split("\0").filter((line) => line !== "");
  const tree = lines.map((line) => {
    const [, mode = "", , id = "", size = "", path = ""] = /^(\d+) (\w+) (\w+) +(\S+)\t(.*)$/s.exec(line) ?? [];
    return entryShape(call, { mode: mode.replace(/^0+/, ""), name: path, sha: id }, path, size === "-" ? undefined : Number(size));
  });
  return ok({ sha: root.sha, url, tree: tree.slice(0, 100_000), truncated: tree.length > 100_000 });
}

async function treeChanges(call: RepoCall): Promise<Map<string, TreeChange>> {
  const items = call.body["tree"];
  if (!Array.isArray(items)) throw refused("Invalid tree info");
  const changes = new Map<string, TreeChange>();
  for (const item of items as Record<string, unknown>[]) {
    const { path, mode, sha, content } = item;
    if (typeof path !== "string" || path.startsWith("/") || path.split("/").some((part) => part === "" || part === "." || part === "..")) {
      throw refused("tree.path contains a malformed path component");
    }
    if (sha === null) changes.set(path, null);
    else if (typeof sha === "string") changes.set(path, { mode: String(mode ?? "100644"), sha });
    else if (typeof content === "string") {
      const blob = await writeObject(call.repo.git.dir, "blob", Buffer.from(content));
      changes.set(path, { mode: String(mode ?? "100644"), sha: blob });
    } else throw refused("Must supply either tree.sha or tree.content");
  }
  return changes;
}

async function createTree(call: RepoCall): Promise<Answer> {
  const base = optionalText(call, "base_tree", "Tree");
  // A commit is taken for its tree.
  const start = base === undefined ? undefined : await call.repo.git.cat.info(/^[0-9a-f]{40}$/.test(base) ? `${base}^{tree}` : "");
  if (base !== undefined && start === undefined) throw refused("base_tree is not a valid tree oid");
  const edited = await editTree(call.repo.git.dir, call.repo.git.cat, start?.sha, await treeChanges(call));
  if ("missing" in edited) throw refused("GitRPC::BadObjectState");
  const entries = (await readTree(call.repo.git.cat, edited.tree)) ?? [];
  const url = `${repoUrl(call.world, call.repo)}/git/trees/${edited.tree}`;
  return created({ sha: edited.tree, url, tree: entries.map((entry) => entryShape(call, entry, entry.name)), truncated: false });
}

async function getBlob(call: RepoCall): Promise<Answer> {
  const sha = call.params["sha"] ?? "";
  const blob = /^[0-9a-f]{40}$/.test(sha) ? await call.repo.git.cat.contents(sha) : undefined;
  if (blob?.type !== "blob") throw notFound();
  const url = `${repoUrl(call.world, call.repo)}/git/blobs/${sha}`;
  return ok({ sha, node_id: nodeId("B", blob.size), size: blob.size, url, content: blob.content.toString("base64"), encoding: "base64" });
}

async function createBlob(call: RepoCall): Promise<Answer> {
  const content = call.body["content"];
  if (typeof content !== "string") throw new ApiFailure(422, 'Invalid request.\n\n"content" wasn\'t supplied.');
  const sha = await writeObject(call.repo.git.dir, "blob", Buffer.from(content, call.body["encoding"] === "base64" ? "base64" : "utf8"));
  return created({ sha, url: `${repoUrl(call.world, call.repo)}/git/blobs/${sha}` });
}

/** Ref changes wait their turn behind merges and each other. */
function serial(handle: (call: RepoCall) => Promise<Answer>): (call: RepoCall) => Promise<Answer> {
  return (call) => call.repo.serial(() => handle(call));
}

export const GIT_ROUTES: readonly Route[] = [
  repoRoute("GET", "/git/ref/*ref", READS, getRef),
  repoRoute("GET", "/git/matching-refs/*ref", READS, matchingRefs),
  repoRoute("POST", "/git/refs", WRITES, serial(createRef)),
  repoRoute("PATCH", "/git/refs/*ref", WRITES, serial(updateRef)),
  repoRoute("DELETE", "/git/refs/*ref", WRITES, serial(deleteRef)),
  repoRoute("GET", "/git/commits/:sha", READS, getCommit),
  repoRoute("POST", "/git/commits", WRITES, createCommit),
  repoRoute("GET", "/git/trees/*sha", READS, getTree),
  repoRoute("POST", "/git/trees", WRITES, createTree),
  repoRoute("GET", "/git/blobs/:sha", READS, getBlob),
  repoRoute("POST", "/git/blobs", WRITES, createBlob),
];
