import { writeObject } from "../git/objects.ts";
import { readTree } from "../git/trees.ts";
import { ApiFailure, notFound, refused } from "../http/failure.ts";
import { type Answer, ok, optionalText, READ, type RepoCall, type Route, repoRoute, text, WRITE } from "../http/router.ts";
import { commitFiles } from "../pulls/commit-files.ts";
import { gitCommitShape } from "../shapes/commit.ts";
import { pageUrl, repoUrl } from "../shapes/repo.ts";
import { resolveCommit } from "./commits.ts";

function links(call: RepoCall, path: string, ref: string, kind: "blob" | "tree", sha: string) {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  const self = `${repoUrl(call.world, call.repo)}/contents/${encoded}?ref=${encodeURIComponent(ref)}`;
  const git = `${repoUrl(call.world, call.repo)}/git/${kind}s/${sha}`;
  const html = `${pageUrl(call.world, call.repo)}/${kind}/${ref}/${encoded}`;
  const download_url = kind === "blob" ? `${pageUrl(call.world, call.repo)}/raw/${ref}/${encoded}` : null;
  return { url: self, git_url: git, html_url: html, download_url, _links: { self, git, html } };
}

async function get(call: RepoCall): Promise<Answer> {
  const path = (call.params["path"] ?? "").replace(/(?<!\/)\/+$/, "");
  const ref = call.query.get("ref") ?? call.repo.defaultBranch;
  const commit = await resolveCommit(call, ref).catch(() => {
    throw new ApiFailure(404, `No commit found for the ref ${ref}`);
  });
  const found = await call.repo.git.cat.contents(path === "" ? `${commit.sha}^{tree}` : `${commit.sha}:${path}`);
  if (found === undefined) throw notFound();
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (found.type === "blob" && /\.raw\b/.test(call.accept)) return { status: 200, raw: found.content };
  if (found.type === "blob") {
    const whole = found.size <= 1_048_576;
    return ok({
      type: "file",
      encoding: whole ? "base64" : "none",
      size: found.size,
      name,
      path,
      content: whole ? found.content.toString("base64") : "",
      sha: found.sha,
      ...links(call, path, ref, "blob", found.sha),
    });
  }
  const entries = (await readTree(call.repo.git.cat, found.sha)) ?? [];
  const items = entries.slice(0, 1000).map((entry) => {
    const inner = path === "" ? entry.name : `${path}/${entry.name}`;
    const folder = entry.mode === "40000";
    return {
      type: folder ? "dir" : "file",
      size: 0,
      name: entry.name,
      path: inner,
      sha: entry.sha,
      ...links(call, inner, ref, folder ? "tree" : "blob", entry.sha),
    };
  });
  return ok(items);
}

/** Writes one file as a commit of its own: an update has to name the blob it replaces. */
async function put(call: RepoCall): Promise<Answer> {
  const { repo, world, actor } = call;
  const path = call.params["path"] ?? "";
  const branch = optionalText(call, "branch", "Contents") ?? repo.defaultBranch;
  const head = await repo.git.ref(`refs/heads/${branch}`);
  if (head === undefined) throw new ApiFailure(404, `Branch ${branch} not found`);
  const there = await repo.git.cat.info(`${head}:${path}`);
  const named = optionalText(call, "sha", "Contents");
  if (there !== undefined && named === undefined) throw refused(`Invalid request.\n\n"sha" wasn't supplied.`);
  if (named !== undefined && there?.sha !== named) throw new ApiFailure(409, `${path} does not match ${named}`);
  const content = call.body["content"];
  if (typeof content !== "string") throw refused(`Invalid request.\n\n"content" wasn't supplied.`);
  const blob = await writeObject(repo.git.dir, "blob", Buffer.from(content, "base64"));
  const files = new Map([[path, { mode: "100644", sha: blob }]]);
  const sha = await commitFiles(world, repo, actor, { branch, head, files, message: text(call, "message", "Contents") });
  const commit = await repo.git.commit(sha);
  if (commit === undefined) throw notFound();
  const name = path.slice(path.lastIndexOf("/") + 1);
  const file = {
    type: "file",
    name,
    path,
    sha: blob,
    size: Buffer.from(content, "base64").length,
    ...links(call, path, branch, "blob", blob),
  };
  return { status: there === undefined ? 201 : 200, body: { content: file, commit: gitCommitShape(world, repo, commit) } };
}

export const CONTENT_ROUTES: readonly Route[] = [
  repoRoute("GET", "/contents", READ("contents"), get),
  repoRoute("GET", "/contents/*path", READ("contents"), get),
  repoRoute("PUT", "/contents/*path", WRITE("contents"), (call) => call.repo.serial(() => put(call))),
];
