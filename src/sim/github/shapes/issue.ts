import type { RestEndpointMethodTypes } from "@octokit/rest";
import { type Issue, type IssueComment, type Label, REACTIONS, type Reaction, type Repo, type World } from "../model/model.ts";
import { nodeId, seconds } from "../model/world.ts";
import { pageUrl, repoUrl } from "./repo.ts";
import { appShape, association, userShape } from "./user.ts";

type CommentShape = RestEndpointMethodTypes["issues"]["getComment"]["response"]["data"];
type IssueShape = RestEndpointMethodTypes["issues"]["get"]["response"]["data"];
type ReactionShape = RestEndpointMethodTypes["reactions"]["createForIssueComment"]["response"]["data"];

export function labelShape(world: World, repo: Repo, label: Label) {
  return {
    id: label.id,
    node_id: nodeId("LA", label.id),
    url: `${repoUrl(world, repo)}/labels/${encodeURIComponent(label.name)}`,
    name: label.name,
    color: label.color,
    default: false,
    description: label.description,
  };
}

export function labelsOf(world: World, repo: Repo, issue: Issue) {
  return issue.labels.flatMap((name) => {
    const label = repo.labels.get(name.toLowerCase());
    return label === undefined ? [] : [labelShape(world, repo, label)];
  });
}

function rollup(url: string, reactions: readonly Reaction[]) {
  const counts = Object.fromEntries(REACTIONS.map((content) => [content, reactions.filter((one) => one.content === content).length]));
  return { url, total_count: reactions.length, ...(counts as Record<(typeof REACTIONS)[number], number>) };
}

export function commentShape(world: World, repo: Repo, comment: IssueComment): CommentShape {
  const url = `${repoUrl(world, repo)}/issues/comments/${comment.id}`;
  const kind = repo.issues.get(comment.issue)?.pull === undefined ? "issues" : "pull";
  return {
    url,
    html_url: `${pageUrl(world, repo)}/${kind}/${comment.issue}#issuecomment-${comment.id}`,
    issue_url: `${repoUrl(world, repo)}/issues/${comment.issue}`,
    id: comment.id,
    node_id: nodeId("IC", comment.id),
    user: userShape(world, comment.user),
    created_at: seconds(comment.createdAt),
    updated_at: seconds(comment.updatedAt),
    author_association: association(repo, comment.user),
    body: comment.body,
    reactions: rollup(`${url}/reactions`, comment.reactions),
    performed_via_github_app: comment.via === undefined ? null : appShape(world, comment.via),
  };
}

export function reactionShape(world: World, reaction: Reaction): ReactionShape {
  return {
    id: reaction.id,
    node_id: nodeId("REA", reaction.id),
    user: userShape(world, reaction.user),
    content: reaction.content,
    created_at: seconds(reaction.at),
  };
}

export function issueShape(world: World, repo: Repo, issue: Issue): IssueShape {
  const url = `${repoUrl(world, repo)}/issues/${issue.number}`;
  const page = `${pageUrl(world, repo)}/${issue.pull === undefined ? "issues" : "pull"}/${issue.number}`;
  const comments = [...repo.comments.values()].filter((comment) => comment.issue === issue.number).length;
  return {
    id: issue.id,
    node_id: nodeId("I", issue.id),
    url,
    repository_url: repoUrl(world, repo),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    timeline_url: `${url}/timeline`,
    html_url: page,
    number: issue.number,
    state: issue.state,
    state_reason: issue.state === "closed" ? "completed" : null,
    title: issue.title,
    body: issue.body,
    user: userShape(world, issue.user),
    labels: labelsOf(world, repo, issue),
    assignee: issue.assignees[0] === undefined ? null : userShape(world, issue.assignees[0]),
    assignees: issue.assignees.map((user) => userShape(world, user)),
    milestone: null,
    locked: issue.locked,
    active_lock_reason: null,
    comments,
    ...pullPart(world, repo, issue, page),
    closed_at: issue.closedAt === undefined ? null : seconds(issue.closedAt),
    created_at: seconds(issue.createdAt),
    updated_at: seconds(issue.updatedAt),
    closed_by: issue.closedBy === undefined ? null : userShape(world, issue.closedBy),
    author_association: association(repo, issue.user),
    reactions: rollup(`${url}/reactions`, []),
    performed_via_github_app: issue.via === undefined ? null : appShape(world, issue.via),
  };
}

function pullPart(world: World, repo: Repo, issue: Issue, page: string) {
  if (issue.pull === undefined) return {};
  const merged = issue.pull.merged;
  return {
    draft: issue.pull.draft,
    pull_request: {
      url: `${repoUrl(world, repo)}/pulls/${issue.number}`,
      html_url: page,
      diff_url: `${page}.diff`,
      patch_url: `${page}.patch`,
      merged_at: merged === undefined ? null : seconds(merged.at),
    },
  };
}
