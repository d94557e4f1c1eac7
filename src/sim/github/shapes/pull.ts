import type { RestEndpointMethodTypes } from "@octokit/rest";
import { defined } from "../../../core/base/defined.ts";
import type { Repo, Review, World } from "../model/model.ts";
import { nodeId, type PullIssue, seconds } from "../model/world.ts";
import { labelsOf } from "./issue.ts";
import { teamShape } from "./organization.ts";
import { pageUrl, repoShape, repoUrl } from "./repo.ts";
import { association, userShape } from "./user.ts";

export type PullShape = RestEndpointMethodTypes["pulls"]["get"]["response"]["data"];
type SimplePullShape = RestEndpointMethodTypes["pulls"]["list"]["response"]["data"][number];
type ReviewShape = RestEndpointMethodTypes["pulls"]["getReview"]["response"]["data"];

/** What only the answer about one pull request carries. */
export interface PullDetails {
  mergeable: boolean | null;
  mergeableState: string;
  testMerge: string | null;
  commits: number;
  additions: number;
  deletions: number;
  files: number;
}

function branchShape(world: World, repo: Repo, ref: string, sha: string) {
  return { label: `${repo.owner.login}:${ref}`, ref, sha, user: userShape(world, repo.owner), repo: repoShape(world, repo) };
}

/** A head whose fork is gone has neither repository nor owner, whatever the types say. */
function headShape(world: World, repo: Repo, issue: PullIssue): ReturnType<typeof branchShape> {
  const { headRef, headSha, headRepo } = issue.pull;
  if (headRepo !== null) return branchShape(world, headRepo ?? repo, headRef, headSha);
  return { label: `unknown:${headRef}`, ref: headRef, sha: headSha, user: null, repo: null } as unknown as ReturnType<typeof branchShape>;
}

/** As in lists: without `mergeable`, `merged`, `merged_by` and the counts. */
export function simplePullShape(world: World, repo: Repo, issue: PullIssue): SimplePullShape {
  const { pull } = issue;
  return {
    ...linksOf(world, repo, issue),
    id: pull.id,
    node_id: nodeId("PR", pull.id),
    number: issue.number,
    state: issue.state,
    locked: issue.locked,
    title: issue.title,
    user: userShape(world, issue.user),
    body: issue.body,
    labels: labelsOf(world, repo, issue),
    milestone: null,
    active_lock_reason: null,
    created_at: seconds(issue.createdAt),
    updated_at: seconds(issue.updatedAt),
    closed_at: issue.closedAt === undefined ? null : seconds(issue.closedAt),
    merged_at: pull.merged === undefined ? null : seconds(pull.merged.at),
    merge_commit_sha: pull.merged?.sha ?? null,
    assignee: issue.assignees[0] === undefined ? null : userShape(world, issue.assignees[0]),
    assignees: issue.assignees.map((user) => userShape(world, user)),
    requested_reviewers: pull.reviewers.map((user) => userShape(world, user)),
    requested_teams: pull.teams.map((team) => teamShape(world, team)),
    head: headShape(world, repo, issue),
    base: branchShape(world, repo, pull.baseRef, pull.baseSha),
    author_association: association(repo, issue.user),
    auto_merge: null,
    draft: pull.draft,
  };
}

/** Where it and what belongs to it is to be had, as fields and as `_links`. */
function linksOf(world: World, repo: Repo, { number, pull }: PullIssue) {
  const url = `${repoUrl(world, repo)}/pulls/${number}`;
  const page = `${pageUrl(world, repo)}/pull/${number}`;
  const urls = {
    issue_url: `${repoUrl(world, repo)}/issues/${number}`,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${repoUrl(world, repo)}/pulls/comments{/number}`,
    comments_url: `${repoUrl(world, repo)}/issues/${number}/comments`,
    statuses_url: `${repoUrl(world, repo)}/statuses/${pull.headSha}`,
  };
  const link = (href: string) => ({ href });
  return {
    url,
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    ...urls,
    _links: {
      self: link(url),
      html: link(page),
      issue: link(urls.issue_url),
      comments: link(urls.comments_url),
      review_comments: link(urls.review_comments_url),
      review_comment: link(urls.review_comment_url),
      commits: link(urls.commits_url),
      statuses: link(urls.statuses_url),
    },
  };
}

export function pullShape(world: World, repo: Repo, issue: PullIssue, details: PullDetails): PullShape {
  const { pull } = issue;
  const simple = simplePullShape(world, repo, issue);
  return {
    ...simple,
    user: userShape(world, issue.user),
    head: headShape(world, repo, issue),
    base: branchShape(world, repo, pull.baseRef, pull.baseSha),
    requested_teams: pull.teams.map((team) => teamShape(world, team)),
    state: issue.state,
    merge_commit_sha: pull.merged?.sha ?? details.testMerge,
    merged: pull.merged !== undefined,
    mergeable: details.mergeable,
    rebaseable: details.mergeable,
    mergeable_state: details.mergeableState,
    merged_by: pull.merged === undefined ? null : userShape(world, pull.merged.by),
    comments: [...repo.comments.values()].filter((comment) => comment.issue === issue.number).length,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: details.commits,
    additions: details.additions,
    deletions: details.deletions,
    changed_files: details.files,
  };
}

export function reviewShape(world: World, repo: Repo, issue: PullIssue, review: Review): ReviewShape {
  const page = `${pageUrl(world, repo)}/pull/${issue.number}#pullrequestreview-${review.id}`;
  const pullUrl = `${repoUrl(world, repo)}/pulls/${issue.number}`;
  return defined({
    id: review.id,
    node_id: nodeId("PRR", review.id),
    user: userShape(world, review.user),
    body: review.body,
    state: review.state,
    html_url: page,
    pull_request_url: pullUrl,
    _links: { html: { href: page }, pull_request: { href: pullUrl } },
    submitted_at: review.at === undefined ? undefined : seconds(review.at),
    commit_id: review.commit,
    author_association: association(repo, review.user),
  });
}
