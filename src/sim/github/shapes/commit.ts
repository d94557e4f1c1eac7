import type { RestEndpointMethodTypes } from "@octokit/rest";
import { defined } from "../../../core/base/defined.ts";
import type { FileDiff } from "../git/diff.ts";
import type { CommitObject, Signature } from "../git/objects.ts";
import { verificationOf } from "../http/signatures.ts";
import type { Repo, User, World } from "../model/model.ts";
import { nodeId, seconds, WEB_FLOW } from "../model/world.ts";
import { pageUrl, repoUrl } from "./repo.ts";
import { userShape } from "./user.ts";

type CommitShape = RestEndpointMethodTypes["repos"]["listCommits"]["response"]["data"][number];
type GitCommitShape = RestEndpointMethodTypes["git"]["getCommit"]["response"]["data"];
type FileShape = RestEndpointMethodTypes["pulls"]["listFiles"]["response"]["data"][number];

export function noreply(user: User): { name: string; email: string } {
  return { name: user.login, email: `${user.id}+${user.login}@users.noreply.github.com` };
}

/** The account a signature's address belongs to. */
export function accountOf(world: World, who: Signature): User | undefined {
  if (who.email === "noreply@github.com") return WEB_FLOW;
  const login = /^(?:\d+\+)?(.+)@users\.noreply\.github\.com$/.exec(who.email)?.[1];
  return login === undefined ? undefined : world.users.get(login.toLowerCase());
}

function person(who: Signature) {
  return { name: who.name, email: who.email, date: seconds(who.at * 1000) };
}

export function commitShape(world: World, repo: Repo, commit: CommitObject): CommitShape {
  const url = `${repoUrl(world, repo)}/commits/${commit.sha}`;
  const author = accountOf(world, commit.author);
  const committer = accountOf(world, commit.committer);
  return {
    sha: commit.sha,
    node_id: nodeId("C", `${repo.id}:${commit.sha}`),
    commit: {
      author: person(commit.author),
      committer: person(commit.committer),
      message: commit.message.replace(/\n$/, ""),
      tree: { sha: commit.tree, url: `${repoUrl(world, repo)}/git/trees/${commit.tree}` },
      url: `${repoUrl(world, repo)}/git/commits/${commit.sha}`,
      comment_count: 0,
      verification: verificationOf(world, commit),
    },
    url,
    html_url: `${pageUrl(world, repo)}/commit/${commit.sha}`,
    comments_url: `${url}/comments`,
    author: author === undefined ? null : userShape(world, author),
    committer: committer === undefined ? null : userShape(world, committer),
    parents: parents(world, repo, commit),
  };
}

function parents(world: World, repo: Repo, commit: CommitObject) {
  return commit.parents.map((sha) => ({
    sha,
    url: `${repoUrl(world, repo)}/commits/${sha}`,
    html_url: `${pageUrl(world, repo)}/commit/${sha}`,
  }));
}

export function gitCommitShape(world: World, repo: Repo, commit: CommitObject): GitCommitShape {
  return {
    sha: commit.sha,
    node_id: nodeId("C", `${repo.id}:${commit.sha}`),
    url: `${repoUrl(world, repo)}/git/commits/${commit.sha}`,
    html_url: `${pageUrl(world, repo)}/commit/${commit.sha}`,
    author: person(commit.author),
    committer: person(commit.committer),
    message: commit.message.replace(/\n$/, ""),
    tree: { sha: commit.tree, url: `${repoUrl(world, repo)}/git/trees/${commit.tree}` },
    parents: parents(world, repo, commit),
    verification: verificationOf(world, commit),
  };
}

export function fileShape(world: World, repo: Repo, file: FileDiff, commit: string): FileShape {
  const path = file.path.split("/").map(encodeURIComponent).join("/");
  return defined({
    sha: file.sha,
    filename: file.path,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    blob_url: `${pageUrl(world, repo)}/blob/${commit}/${path}`,
    raw_url: `${pageUrl(world, repo)}/raw/${commit}/${path}`,
    contents_url: `${repoUrl(world, repo)}/contents/${path}?ref=${commit}`,
    patch: file.patch,
    previous_filename: file.previous,
  });
}
