import type { Issue, IssueComment, Label, Repo } from "../model/model.ts";
import { fullName, isPull, nodeId, type PullIssue, roleOf, seconds } from "../model/world.ts";
import { queueOf } from "../pulls/queue.ts";
import { commentShape, issueShape } from "../shapes/issue.ts";
import { type ConnectionArgs, connection } from "./connection.ts";
import { type Context, mustRead } from "./context.ts";
import { FieldFailure } from "./failures.ts";
import { objectNode, refNode } from "./git-nodes.ts";
import { actorNode } from "./people.ts";
import { queueNode } from "./queue-nodes.ts";

export function labelNode(context: Context, repo: Repo, label: Label) {
  const { name, color, description } = label;
  const url = `${context.world.origin}/${fullName(repo)}/labels/${encodeURIComponent(name)}`;
  return {
    __typename: "Label",
    id: nodeId("LA", label.id),
    name,
    color,
    description,
    url,
    createdAt: null,
    updatedAt: null,
    repository: () => repositoryNode(context, repo),
  };
}

/** Of the events of a pull request's timeline those of labels and of its base are all that is kept. */
export function timelineField(context: Context, repo: Repo, { labelled = [], retargeted = [] }: Issue) {
  const events = [
    ...labelled.map((one) => ({ type: "LABELED_EVENT", at: one.at, node: () => labeledNode(context, repo, one) })),
    ...retargeted.map((one) => baseChange(context, one)),
  ].sort((a, b) => a.at - b.at);
  return (args: ConnectionArgs & { itemTypes?: readonly string[] | null }) => {
    const asked = events.filter(({ type }) => args.itemTypes?.includes(type) ?? true);
    return connection("timelineItems", asked, args, ({ node }) => node());
  };
}

function baseChange(context: Context, { from, to, by, at, automatic }: NonNullable<Issue["retargeted"]>[number]) {
  const id = (prefix: string) => nodeId(prefix, `${from}:${to}:${at}`);
  const both = { actor: () => actorNode(context, by), createdAt: seconds(at) };
  const node =
    automatic === true
      ? { ...both, __typename: "AutomaticBaseChangeSucceededEvent", id: id("ABCSE"), newBase: to, oldBase: from }
      : { ...both, __typename: "BaseRefChangedEvent", id: id("BRCE"), currentRefName: to, previousRefName: from };
  return { type: automatic === true ? "AUTOMATIC_BASE_CHANGE_SUCCEEDED_EVENT" : "BASE_REF_CHANGED_EVENT", at, node: () => node };
}

function labeledNode(context: Context, repo: Repo, { label, by, at }: NonNullable<Issue["labelled"]>[number]) {
  const known = repo.labels.get(label.toLowerCase());
  return {
    __typename: "LabeledEvent",
    id: nodeId("LE", `${label}:${at}`),
    actor: () => actorNode(context, by),
    createdAt: seconds(at),
    label: () => (known === undefined ? null : labelNode(context, repo, known)),
  };
}

export function labelsField(context: Context, repo: Repo, issue: Issue) {
  return (args: ConnectionArgs) => {
    const found = issue.labels.map((name) => repo.labels.get(name.toLowerCase())).filter((label) => label !== undefined);
    return connection("labels", found, args, (label) => labelNode(context, repo, label));
  };
}

export function issueNode(context: Context, repo: Repo, issue: Issue) {
  const shape = issueShape(context.world, repo, issue);
  return {
    __typename: "Issue",
    id: shape.node_id,
    databaseId: issue.id,
    number: issue.number,
    title: issue.title,
    body: issue.body ?? "",
    state: issue.state.toUpperCase(),
    closed: issue.state === "closed",
    closedAt: shape.closed_at,
    createdAt: shape.created_at,
    updatedAt: shape.updated_at,
    url: shape.html_url,
    author: () => actorNode(context, issue.user),
    labels: labelsField(context, repo, issue),
    repository: () => repositoryNode(context, repo),
  };
}

export function commentNode(context: Context, repo: Repo, comment: IssueComment) {
  const shape = commentShape(context.world, repo, comment);
  return {
    __typename: "IssueComment",
    id: shape.node_id,
    databaseId: comment.id,
    author: () => actorNode(context, comment.user),
    body: comment.body,
    createdAt: shape.created_at,
    updatedAt: shape.updated_at,
    lastEditedAt: comment.edited === undefined ? null : seconds(comment.edited.at),
    editor: () => (comment.edited === undefined ? null : actorNode(context, comment.edited.by)),
    url: shape.html_url,
    isMinimized: comment.minimized !== undefined,
    minimizedReason: comment.minimized ?? null,
  };
}

function noSuch(what: string, number: number): FieldFailure {
  return new FieldFailure("NOT_FOUND", `Could not resolve to ${what} with the number of ${number}.`);
}

export function repositoryNode(context: Context, repo: Repo) {
  const { world, actor } = context;
  return {
    __typename: "Repository",
    id: nodeId("R", repo.id),
    databaseId: repo.id,
    name: repo.name,
    nameWithOwner: fullName(repo),
    url: `${world.origin}/${fullName(repo)}`,
    resourcePath: `/${fullName(repo)}`,
    isArchived: repo.archived,
    isDisabled: false,
    isFork: repo.parent !== undefined,
    isInOrganization: repo.owner.type === "Organization",
    isPrivate: repo.private,
    visibility: repo.private ? "PRIVATE" : "PUBLIC",
    createdAt: seconds(repo.createdAt),
    updatedAt: seconds(repo.pushedAt),
    pushedAt: seconds(repo.pushedAt),
    autoMergeAllowed: repo.settings.allowAutoMerge,
    deleteBranchOnMerge: repo.settings.deleteBranchOnMerge,
    mergeCommitAllowed: repo.settings.allowMerge,
    rebaseMergeAllowed: repo.settings.allowRebase,
    squashMergeAllowed: repo.settings.allowSquash,
    viewerPermission: actor.kind === "user" ? roleOf(repo, actor.user).toUpperCase().replace("NONE", "READ") : null,
    owner: () => actorNode(context, repo.owner),
    parent: () => (repo.parent === undefined ? null : repositoryNode(context, repo.parent)),
    defaultBranchRef: () => refNode(context, repo, `refs/heads/${repo.defaultBranch}`),
    mergeQueue: ({ branch }: { branch?: string | null }) => {
      const queue = queueOf(world, repo, branch ?? repo.defaultBranch);
      return queue === undefined ? null : queueNode(context, repo, queue);
    },
    ...gitFields(context, repo),
    ...issueFields(context, repo),
  };
}

function gitFields(context: Context, repo: Repo) {
  return {
    ref: ({ qualifiedName }: { qualifiedName: string }) =>
      refNode(context, repo, qualifiedName.startsWith("refs/") ? qualifiedName : `refs/heads/${qualifiedName}`),
    refs: async (args: ConnectionArgs & { refPrefix: string; query?: string | null }) => {
      mustRead(context, repo, "contents");
      const all = await repo.git.refs(args.refPrefix);
      const found = all.filter((ref) => args.query == null || ref.name.slice(args.refPrefix.length).includes(args.query));
      return connection("refs", found, args, (ref) => refNode(context, repo, ref.name));
    },
    object: ({ oid, expression }: { oid?: string | null; expression?: string | null }) => {
      mustRead(context, repo, "contents");
      return objectNode(context, repo, oid ?? expression ?? "");
    },
  };
}

function issueFields(context: Context, repo: Repo) {
  return {
    label: ({ name }: { name: string }) => {
      const label = repo.labels.get(name.toLowerCase());
      return label === undefined ? null : labelNode(context, repo, label);
    },
    labels: (args: ConnectionArgs & { query?: string | null }) => {
      const found = [...repo.labels.values()].filter(
        (label) => args.query == null || label.name.toLowerCase().includes(args.query.toLowerCase()),
      );
      return connection("labels", found, args, (label) => labelNode(context, repo, label));
    },
    issue: ({ number }: { number: number }) => {
      const issue = repo.issues.get(number);
      if (issue === undefined || isPull(issue)) throw noSuch("an Issue", number);
      return issueNode(context, repo, issue);
    },
    pullRequest: ({ number }: { number: number }) => {
      mustRead(context, repo, "pull_requests");
      const issue = repo.issues.get(number);
      if (issue === undefined || !isPull(issue)) throw noSuch("a PullRequest", number);
      return context.print({ kind: "pull", repo, issue });
    },
    pullRequests: (args: PullArgs) => {
      mustRead(context, repo, "pull_requests");
      return connection("pullRequests", pullsBy(repo, args), args, (issue) => context.print({ kind: "pull", repo, issue }));
    },
  };
}

interface PullArgs extends ConnectionArgs {
  baseRefName?: string | null;
  headRefName?: string | null;
  states?: readonly string[] | null;
  labels?: readonly string[] | null;
  orderBy?: { field: string; direction: "ASC" | "DESC" } | null;
}

export function pullState(issue: PullIssue): "OPEN" | "CLOSED" | "MERGED" {
  if (issue.pull.merged !== undefined) return "MERGED";
  return issue.state === "open" ? "OPEN" : "CLOSED";
}

function pullsBy(repo: Repo, args: PullArgs): PullIssue[] {
  const found = [...repo.issues.values()]
    .filter(isPull)
    .filter(
      (issue) =>
        (args.baseRefName == null || issue.pull.baseRef === args.baseRefName) &&
        (args.headRefName == null || issue.pull.headRef === args.headRefName) &&
        (args.states == null || args.states.includes(pullState(issue))) &&
        (args.labels == null || args.labels.some((label) => issue.labels.includes(label))),
    );
  const key = (issue: PullIssue) => (args.orderBy?.field === "UPDATED_AT" ? issue.updatedAt : issue.number);
  found.sort((a, b) => key(a) - key(b) || a.number - b.number);
  return args.orderBy?.direction === "DESC" ? found.reverse() : found;
}
