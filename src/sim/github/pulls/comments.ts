import { defined } from "../../../core/base/defined.ts";
import { emitComment, emitIssue, emitLabeled } from "../deliver/events.ts";
import { ApiFailure, forbidden, invalid, notFound } from "../http/failure.ts";
import { type Actor, type Issue, type IssueComment, type Label, REACTIONS, type Reaction, type Repo, type World } from "../model/model.ts";
import { atLeast, isPull, roleOf } from "../model/world.ts";
import { labelShape } from "../shapes/issue.ts";

const MAX_BODY = 65_536;

function checkBody(body: unknown): string {
  if (typeof body !== "string" || body.trim() === "") throw invalid({ resource: "IssueComment", field: "body", code: "missing_field" });
  if ([...body].length <= MAX_BODY) return body;
  const message = `body is too long (maximum is ${MAX_BODY} characters)`;
  throw invalid({ resource: "IssueComment", field: "body", code: "custom", message });
}

export function createComment(world: World, repo: Repo, actor: Actor, issue: Issue, body: unknown): IssueComment {
  const text = checkBody(body);
  if (issue.locked && !atLeast(roleOf(repo, actor.user), "write")) {
    throw new ApiFailure(403, "Unable to create comment because issue is locked.");
  }
  const now = world.clock.now();
  const comment: IssueComment = defined({
    id: world.nextId(),
    issue: issue.number,
    body: text,
    user: actor.user,
    via: actor.app,
    createdAt: now,
    updatedAt: now,
    reactions: [],
  });
  repo.comments.set(comment.id, comment);
  issue.updatedAt = now;
  emitComment(world, repo, actor, "created", issue, comment);
  return comment;
}

export function commentOf(repo: Repo, id: number): IssueComment {
  const comment = repo.comments.get(id);
  if (comment === undefined) throw notFound();
  return comment;
}

function mayEdit(repo: Repo, actor: Actor, comment: IssueComment): void {
  const own = actor.user.id === comment.user.id;
  if (!own && !atLeast(roleOf(repo, actor.user), "write") && actor.kind !== "installation")
    throw forbidden("Must have admin rights to Repository.");
}

export function editComment(world: World, repo: Repo, actor: Actor, comment: IssueComment, body: unknown): void {
  mayEdit(repo, actor, comment);
  const before = comment.body;
  comment.body = checkBody(body);
  comment.updatedAt = world.clock.now();
  if (before !== comment.body) comment.edited = { at: comment.updatedAt, by: actor.user };
  const issue = repo.issues.get(comment.issue);
  if (issue !== undefined && before !== comment.body) emitComment(world, repo, actor, "edited", issue, comment, before);
}

export function deleteComment(world: World, repo: Repo, actor: Actor, comment: IssueComment): void {
  mayEdit(repo, actor, comment);
  repo.comments.delete(comment.id);
  const issue = repo.issues.get(comment.issue);
  if (issue !== undefined) emitComment(world, repo, actor, "deleted", issue, comment);
}

/** The same reaction of the same account is one: `fresh` tells whether it was new (201) or there already (200). */
export function react(world: World, actor: Actor, comment: IssueComment, content: unknown): { reaction: Reaction; fresh: boolean } {
  const known = REACTIONS.find((one) => one === content);
  if (known === undefined) throw invalid({ resource: "Reaction", field: "content", code: "invalid" });
  const there = comment.reactions.find((one) => one.content === known && one.user.id === actor.user.id);
  if (there !== undefined) return { reaction: there, fresh: false };
  const reaction: Reaction = { id: world.nextId(), user: actor.user, content: known, at: world.clock.now() };
  comment.reactions.push(reaction);
  return { reaction, fresh: true };
}

export function ensureLabel(world: World, repo: Repo, name: string): Label {
  const known = repo.labels.get(name.toLowerCase());
  if (known !== undefined) return known;
  const label: Label = { id: world.nextId(), name, color: "ededed", description: "" };
  repo.labels.set(name.toLowerCase(), label);
  return label;
}

export async function setLabels(world: World, repo: Repo, actor: Actor, issue: Issue, names: readonly string[]): Promise<void> {
  const wanted = [...new Set(names.map((name) => ensureLabel(world, repo, name).name))];
  const added = wanted.filter((name) => !issue.labels.includes(name));
  const removed = issue.labels.filter((name) => !wanted.includes(name));
  if (added.length + removed.length === 0) return;
  issue.labels = wanted;
  issue.labelled = [...(issue.labelled ?? []), ...added.map((label) => ({ label, by: actor.user, at: world.clock.now() }))];
  issue.updatedAt = world.clock.now();
  await labelEvents(world, repo, actor, issue, "labeled", added);
  await labelEvents(world, repo, actor, issue, "unlabeled", removed);
}

async function labelEvents(
  world: World,
  repo: Repo,
  actor: Actor,
  issue: Issue,
  action: "labeled" | "unlabeled",
  names: readonly string[],
): Promise<void> {
  for (const name of names) {
    const label = repo.labels.get(name.toLowerCase());
    if (label === undefined) continue;
    if (isPull(issue)) await emitLabeled(world, repo, actor, action, issue, label);
    else emitIssue(world, repo, actor, action, issue, { label: labelShape(world, repo, label) });
  }
}

interface IssueChange {
  title?: string | undefined;
  body?: string | null | undefined;
  state?: "open" | "closed" | undefined;
}

/** Changes title and body as they are given, and returns what stood there before. */
export function changeWords(issue: Issue, { title, body }: Pick<IssueChange, "title" | "body">): Record<string, { from: string }> {
  const changes: Record<string, { from: string }> = {};
  if (title !== undefined && title !== issue.title) {
    changes["title"] = { from: issue.title };
    issue.title = title;
  }
  if (body !== undefined && body !== issue.body) {
    changes["body"] = { from: issue.body ?? "" };
    issue.body = body;
  }
  return changes;
}

/** Of an issue that is no pull request. */
export function editIssue(world: World, repo: Repo, actor: Actor, issue: Issue, change: IssueChange): void {
  const changes = changeWords(issue, change);
  const now = world.clock.now();
  if (Object.keys(changes).length > 0) {
    issue.updatedAt = now;
    emitIssue(world, repo, actor, "edited", issue, { changes });
  }
  if (change.state === undefined || change.state === issue.state) return;
  issue.state = change.state;
  issue.updatedAt = now;
  if (change.state === "closed") Object.assign(issue, { closedAt: now, closedBy: actor.user });
  else {
    delete issue.closedAt;
    delete issue.closedBy;
  }
  emitIssue(world, repo, actor, change.state === "closed" ? "closed" : "reopened", issue);
}

export function createIssue(world: World, repo: Repo, actor: Actor, input: { title: string; body: string | null }): Issue {
  const now = world.clock.now();
  const issue: Issue = defined({
    id: world.nextId(),
    number: repo.nextNumber++,
    title: input.title,
    body: input.body,
    state: "open",
    locked: false,
    user: actor.user,
    via: actor.app,
    labels: [],
    assignees: [],
    createdAt: now,
    updatedAt: now,
  });
  repo.issues.set(issue.number, issue);
  emitIssue(world, repo, actor, "opened", issue);
  return issue;
}
