import type { RestEndpointMethodTypes } from "@octokit/rest";
import { defined } from "../../../core/base/defined.ts";
import type { Actor, Repo, World } from "../model/model.ts";
import { atLeast, fullName, nodeId, roleOf, seconds } from "../model/world.ts";
import { userShape } from "./user.ts";

type RepoShape = RestEndpointMethodTypes["pulls"]["get"]["response"]["data"]["base"]["repo"];
type FullRepoShape = RestEndpointMethodTypes["repos"]["get"]["response"]["data"];

/** Suffixes of the `*_url` fields, as RFC 6570 templates. */
const URLS = {
  archive_url: "/{archive_format}{/ref}",
  assignees_url: "/assignees{/user}",
  blobs_url: "/git/blobs{/sha}",
  branches_url: "/branches{/branch}",
  collaborators_url: "/collaborators{/collaborator}",
  comments_url: "/comments{/number}",
  commits_url: "/commits{/sha}",
  compare_url: "/compare/{base}...{head}",
  contents_url: "/contents/{+path}",
  contributors_url: "/contributors",
  deployments_url: "/deployments",
  downloads_url: "/downloads",
  events_url: "/events",
  forks_url: "/forks",
  git_commits_url: "/git/commits{/sha}",
  git_refs_url: "/git/refs{/sha}",
  git_tags_url: "/git/tags{/sha}",
  hooks_url: "/hooks",
  issue_comment_url: "/issues/comments{/number}",
  issue_events_url: "/issues/events{/number}",
  issues_url: "/issues{/number}",
  keys_url: "/keys{/key_id}",
  labels_url: "/labels{/name}",
  languages_url: "/languages",
  merges_url: "/merges",
  milestones_url: "/milestones{/number}",
  notifications_url: "/notifications{?since,all,participating}",
  pulls_url: "/pulls{/number}",
  releases_url: "/releases{/id}",
  stargazers_url: "/stargazers",
  statuses_url: "/statuses/{sha}",
  subscribers_url: "/subscribers",
  subscription_url: "/subscription",
  tags_url: "/tags",
  teams_url: "/teams",
  trees_url: "/git/trees{/sha}",
} as const;

export function repoUrl(world: World, repo: Repo): string {
  return `${world.origin}/repos/${fullName(repo)}`;
}

export function pageUrl(world: World, repo: Repo): string {
  return `${world.origin}/${fullName(repo)}`;
}

function urls(base: string): Record<keyof typeof URLS, string> {
  const out: Record<string, string> = {};
  for (const [name, suffix] of Object.entries(URLS)) out[name] = base + suffix;
  return out as Record<keyof typeof URLS, string>;
}

/** The same of every repository here: nothing depends on it. */
const PLAIN = {
  mirror_url: null,
  homepage: null,
  language: null,
  license: null,
  forks: 0,
  forks_count: 0,
  stargazers_count: 0,
  watchers: 0,
  watchers_count: 0,
  size: 0,
  is_template: false,
  has_issues: true,
  has_projects: false,
  has_wiki: false,
  has_pages: false,
  has_downloads: false,
  has_discussions: false,
  disabled: false,
  allow_forking: true,
  web_commit_signoff_required: false,
};

export function repoShape(world: World, repo: Repo): RepoShape {
  const page = pageUrl(world, repo);
  const open = [...repo.issues.values()].filter((issue) => issue.state === "open").length;
  return {
    id: repo.id,
    node_id: nodeId("R", repo.id),
    name: repo.name,
    full_name: fullName(repo),
    owner: userShape(world, repo.owner),
    private: repo.private,
    html_url: page,
    description: repo.description,
    fork: repo.parent !== undefined,
    url: repoUrl(world, repo),
    ...urls(repoUrl(world, repo)),
    clone_url: `${page}.git`,
    git_url: `git://${page.slice(page.indexOf("//") + 2)}.git`,
    ssh_url: `git@localhost:${fullName(repo)}.git`,
    svn_url: page,
    ...PLAIN,
    topics: [],
    default_branch: repo.defaultBranch,
    open_issues: open,
    open_issues_count: open,
    archived: repo.archived,
    visibility: repo.private ? "private" : "public",
    pushed_at: seconds(repo.pushedAt),
    created_at: seconds(repo.createdAt),
    updated_at: seconds(repo.pushedAt),
  };
}

/** As GitHub's `minimal-repository`: what is not about the owner's settings. */
export function minimalRepoShape(world: World, repo: Repo) {
  const { clone_url, git_url, ssh_url, svn_url, mirror_url, ...rest } = repoShape(world, repo);
  return { ...rest, git_url, ssh_url, clone_url, svn_url, mirror_url, has_discussions: false };
}

/** With the settings only those who may push see, and `permissions` of the one who asks: an App's are all false, as on GitHub. */
export function fullRepoShape(world: World, repo: Repo, actor: Actor): FullRepoShape {
  const role = actor.kind === "user" ? roleOf(repo, actor.user) : "none";
  const settings = atLeast(role, "write") || actor.kind === "installation" ? settingsShape(repo) : {};
  const { pushed_at, created_at, updated_at, ...rest } = repoShape(world, repo);
  return defined({
    ...rest,
    has_discussions: false,
    pushed_at: pushed_at ?? "",
    created_at: created_at ?? "",
    updated_at: updated_at ?? "",
    ...settings,
    permissions: {
      admin: role === "admin",
      maintain: atLeast(role, "maintain"),
      push: atLeast(role, "write"),
      triage: atLeast(role, "triage"),
      pull: atLeast(role, "read"),
    },
    organization: repo.owner.type === "Organization" ? userShape(world, repo.owner) : undefined,
    subscribers_count: 0,
    network_count: 0,
    parent: repo.parent === undefined ? undefined : repoShape(world, repo.parent),
    source: repo.parent === undefined ? undefined : repoShape(world, repo.parent),
  });
}

function settingsShape(repo: Repo) {
  return {
    allow_merge_commit: repo.settings.allowMerge,
    allow_squash_merge: repo.settings.allowSquash,
    allow_rebase_merge: repo.settings.allowRebase,
    allow_auto_merge: repo.settings.allowAutoMerge,
    delete_branch_on_merge: repo.settings.deleteBranchOnMerge,
    allow_update_branch: false,
    squash_merge_commit_title: "COMMIT_OR_PR_TITLE" as const,
    squash_merge_commit_message: "COMMIT_MESSAGES" as const,
    merge_commit_title: "MERGE_MESSAGE" as const,
    merge_commit_message: "PR_TITLE" as const,
  };
}
