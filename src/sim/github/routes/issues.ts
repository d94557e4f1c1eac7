import { invalid, notFound } from "../http/failure.ts";
import {
  type Answer,
  created,
  NO_CONTENT,
  numberParam,
  ok,
  optionalText,
  page,
  READ,
  type RepoCall,
  type Route,
  repoRoute,
  TAKE_PART,
  text,
  WRITE,
} from "../http/router.ts";
import type { Issue, Label } from "../model/model.ts";
import { isPull, issueOf } from "../model/world.ts";
import {
  commentOf,
  createComment,
  createIssue,
  deleteComment,
  editComment,
  editIssue,
  ensureLabel,
  react,
  setLabels,
} from "../pulls/comments.ts";
import { editPull, type PullChange } from "../pulls/pulls.ts";
import { commentShape, issueShape, labelShape, labelsOf, reactionShape } from "../shapes/issue.ts";
import { labelNames } from "./pulls.ts";

const READS = READ("issues", "pull_requests");
const WRITES = WRITE("issues", "pull_requests");
const SPEAKS = TAKE_PART("issues", "pull_requests");

function issueHere(call: RepoCall): Issue {
  return issueOf(call.repo, numberParam(call, "number"));
}

function listIssues(call: RepoCall): Promise<Answer> {
  const state = call.query.get("state") ?? "open";
  const labels = (call.query.get("labels") ?? "").split(",").filter((name) => name !== "");
  const found = [...call.repo.issues.values()].filter((issue) => state === "all" || issue.state === state);
  const creator = call.query.get("creator")?.toLowerCase();
  const since = Date.parse(call.query.get("since") ?? "") || 0;
  const matching = found
    .filter((issue) => labels.every((name) => issue.labels.includes(name)))
    .filter((issue) => (creator === undefined || issue.user.login.toLowerCase() === creator) && issue.updatedAt >= since)
    .reverse();
  return page(call, matching, (issue) => issueShape(call.world, call.repo, issue));
}

async function newIssue(call: RepoCall): Promise<Answer> {
  const title = text(call, "title", "Issue");
  const issue = createIssue(call.world, call.repo, call.actor, { title, body: optionalText(call, "body", "Issue") ?? null });
  await setLabels(call.world, call.repo, call.actor, issue, labelNames(call.body["labels"]));
  return created(issueShape(call.world, call.repo, issue));
}

async function patchIssue(call: RepoCall): Promise<Answer> {
  const { world, repo, actor } = call;
  const issue = issueHere(call);
  const title = optionalText(call, "title", "Issue");
  const state = optionalText(call, "state", "Issue");
  if (state !== undefined && state !== "open" && state !== "closed") throw invalid({ resource: "Issue", field: "state", code: "invalid" });
  const change: PullChange = {};
  if (title !== undefined) change.title = title;
  if (state !== undefined) change.state = state;
  if (call.body["body"] !== undefined) change.body = optionalText(call, "body", "Issue") ?? null;
  if (isPull(issue)) await editPull(world, repo, actor, issue, change);
  else editIssue(world, repo, actor, issue, change);
  if (call.body["labels"] !== undefined) await setLabels(world, repo, actor, issue, labelNames(call.body["labels"]));
  return ok(issueShape(world, repo, issue));
}

/** Ascending by creation; `since` bounds the last change, in whole seconds as GitHub keeps them. */
function listComments(call: RepoCall): Promise<Answer> {
  const issue = issueHere(call);
  const since = Date.parse(call.query.get("since") ?? "") || 0;
  const found = [...call.repo.comments.values()].filter((comment) => comment.issue === issue.number);
  const recent = found.filter((comment) => Math.floor(comment.updatedAt / 1000) * 1000 >= since);
  return page(call, recent, (comment) => commentShape(call.world, call.repo, comment));
}

async function changeLabels(call: RepoCall, change: (now: string[], named: string[]) => string[]): Promise<Answer> {
  const issue = issueHere(call);
  const named = labelNames(Array.isArray(call.body["labels"]) ? call.body["labels"] : []);
  await setLabels(call.world, call.repo, call.actor, issue, change(issue.labels, named));
  return ok(labelsOf(call.world, call.repo, issue));
}

function newReaction(call: RepoCall): Answer {
  const { reaction, fresh } = react(call.world, call.actor, commentOf(call.repo, numberParam(call, "comment")), call.body["content"]);
  return { status: fresh ? 201 : 200, body: reactionShape(call.world, reaction) };
}

function deleteReaction(call: RepoCall): Answer {
  const comment = commentOf(call.repo, numberParam(call, "comment"));
  const index = comment.reactions.findIndex((one) => one.id === numberParam(call, "reaction"));
  if (index < 0) throw notFound();
  comment.reactions.splice(index, 1);
  return NO_CONTENT;
}

function newLabel(call: RepoCall): Answer {
  const name = text(call, "name", "Label");
  checkColor(call);
  if (call.repo.labels.has(name.toLowerCase())) throw invalid({ resource: "Label", field: "name", code: "already_exists" });
  const label = ensureLabel(call.world, call.repo, name);
  label.color = optionalText(call, "color", "Label") ?? label.color;
  label.description = optionalText(call, "description", "Label") ?? label.description;
  return created(labelShape(call.world, call.repo, label));
}

function checkColor(call: RepoCall): void {
  const color = optionalText(call, "color", "Label");
  if (color !== undefined && !/^[0-9a-f]{6}$/i.test(color)) throw invalid({ resource: "Label", code: "invalid", field: "color" });
}

function labelHere(call: RepoCall): Label {
  const label = call.repo.labels.get((call.params["name"] ?? "").toLowerCase());
  if (label === undefined) throw notFound();
  return label;
}

function editLabel(call: RepoCall): Answer {
  const label = labelHere(call);
  checkColor(call);
  const name = optionalText(call, "new_name", "Label");
  if (name !== undefined) {
    call.repo.labels.delete(label.name.toLowerCase());
    for (const issue of call.repo.issues.values()) issue.labels = issue.labels.map((one) => (one === label.name ? name : one));
    label.name = name;
    call.repo.labels.set(name.toLowerCase(), label);
  }
  label.color = optionalText(call, "color", "Label") ?? label.color;
  label.description = optionalText(call, "description", "Label") ?? label.description;
  return ok(labelShape(call.world, call.repo, label));
}

function deleteLabel(call: RepoCall): Answer {
  const label = labelHere(call);
  call.repo.labels.delete(label.name.toLowerCase());
  for (const issue of call.repo.issues.values()) issue.labels = issue.labels.filter((name) => name !== label.name);
  return NO_CONTENT;
}

function setLock(call: RepoCall, locked: boolean): Answer {
  issueHere(call).locked = locked;
  return NO_CONTENT;
}

const COMMENT = "/issues/comments/:comment";

export const ISSUE_ROUTES: readonly Route[] = [
  repoRoute("GET", "/issues", READS, listIssues),
  repoRoute("POST", "/issues", SPEAKS, newIssue),
  repoRoute("GET", COMMENT, READS, (call) => ok(commentShape(call.world, call.repo, commentOf(call.repo, numberParam(call, "comment"))))),
  repoRoute("PATCH", COMMENT, SPEAKS, (call) => {
    const comment = commentOf(call.repo, numberParam(call, "comment"));
    editComment(call.world, call.repo, call.actor, comment, call.body["body"]);
    return ok(commentShape(call.world, call.repo, comment));
  }),
  repoRoute("DELETE", COMMENT, SPEAKS, (call) => {
    deleteComment(call.world, call.repo, call.actor, commentOf(call.repo, numberParam(call, "comment")));
    return NO_CONTENT;
  }),
  repoRoute("GET", `${COMMENT}/reactions`, READS, (call) => {
    const { reactions } = commentOf(call.repo, numberParam(call, "comment"));
    const content = call.query.get("content");
    const shown = reactions.filter((one) => content === null || one.content === content);
    return page(call, shown, (one) => reactionShape(call.world, one));
  }),
  repoRoute("POST", `${COMMENT}/reactions`, SPEAKS, newReaction),
  repoRoute("DELETE", `${COMMENT}/reactions/:reaction`, SPEAKS, deleteReaction),
  repoRoute("GET", "/issues/:number", READS, (call) => ok(issueShape(call.world, call.repo, issueHere(call)))),
  repoRoute("PATCH", "/issues/:number", WRITES, patchIssue),
  repoRoute("GET", "/issues/:number/comments", READS, listComments),
  repoRoute("POST", "/issues/:number/comments", SPEAKS, (call) => {
    const comment = createComment(call.world, call.repo, call.actor, issueHere(call), call.body["body"]);
    return created(commentShape(call.world, call.repo, comment));
  }),
  repoRoute("GET", "/issues/:number/labels", READS, (call) => ok(labelsOf(call.world, call.repo, issueHere(call)))),
  repoRoute("POST", "/issues/:number/labels", WRITES, (call) => changeLabels(call, (now, named) => [...now, ...named])),
  repoRoute("PUT", "/issues/:number/labels", WRITES, (call) => changeLabels(call, (_now, named) => named)),
  repoRoute("DELETE", "/issues/:number/labels/:name", WRITES, (call) => {
    const name = call.params["name"] ?? "";
    if (!issueHere(call).labels.includes(name)) throw notFound();
    return changeLabels(call, (now) => now.filter((one) => one !== name));
  }),
  repoRoute("GET", "/labels", READS, (call) =>
    page(call, [...call.repo.labels.values()], (label) => labelShape(call.world, call.repo, label)),
  ),
  repoRoute("POST", "/labels", WRITES, newLabel),
  repoRoute("GET", "/labels/*name", READS, (call) => ok(labelShape(call.world, call.repo, labelHere(call)))),
  repoRoute("PATCH", "/labels/*name", WRITES, editLabel),
  repoRoute("DELETE", "/labels/*name", WRITES, deleteLabel),
  repoRoute("PUT", "/issues/:number/lock", WRITES, (call) => setLock(call, true)),
  repoRoute("DELETE", "/issues/:number/lock", WRITES, (call) => setLock(call, false)),
  repoRoute("DELETE", "/issues/:number/labels", WRITES, async (call) => {
    await changeLabels(call, () => []);
    return NO_CONTENT;
  }),
];
