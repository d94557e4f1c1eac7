import type { Issue, Repo } from "../../model/model.ts";
import { createComment, createIssue, editComment, editIssue, setLabels } from "../../pulls/comments.ts";
import { type Context, mustTakePart, mustWrite } from "../context.ts";
import { nodeOf } from "../lookup.ts";
import { pullNode } from "../pull-node.ts";
import { commentNode, issueNode } from "../repository-node.ts";

function labelable(context: Context, id: string): { repo: Repo; issue: Issue; print: () => object } {
  const found = nodeOf(context, id, "issue", "pull");
  const { repo } = found;
  mustWrite(context, repo, "issues", "pull_requests");
  if (found.kind === "pull") return { repo, issue: found.issue, print: () => pullNode(context, repo, found.issue) };
  return { repo, issue: found.issue, print: () => issueNode(context, repo, found.issue) };
}

/** Sets what `keep` leaves of the labels, and those named by id. */
export async function setLabelsById(
  context: Context,
  repo: Repo,
  issue: Issue,
  keep: (now: string[]) => string[],
  ids: readonly string[],
): Promise<void> {
  const names = ids.map((id) => nodeOf(context, id, "label").label.name);
  await setLabels(context.world, repo, context.actor, issue, [...keep(issue.labels), ...names]);
}

interface LabelsInput {
  labelableId: string;
  labelIds: readonly string[];
}

async function addLabelsToLabelable(context: Context, input: LabelsInput) {
  const { repo, issue, print } = labelable(context, input.labelableId);
  await setLabelsById(context, repo, issue, (now) => now, input.labelIds);
  return { labelable: print() };
}

async function removeLabelsFromLabelable(context: Context, input: LabelsInput) {
  const { repo, issue, print } = labelable(context, input.labelableId);
  const gone = input.labelIds.map((id) => nodeOf(context, id, "label").label.name);
  await setLabelsById(context, repo, issue, (now) => now.filter((name) => !gone.includes(name)), []);
  return { labelable: print() };
}

function addComment(context: Context, input: { subjectId: string; body: string }) {
  const found = nodeOf(context, input.subjectId, "issue", "pull");
  const { repo } = found;
  mustTakePart(context, repo, "issues", "pull_requests");
  const comment = createComment(context.world, repo, context.actor, found.issue, input.body);
  const subject = found.kind === "pull" ? pullNode(context, repo, found.issue) : issueNode(context, repo, found.issue);
  return { commentEdge: { cursor: String(comment.id), node: commentNode(context, repo, comment) }, subject };
}

function updateIssueComment(context: Context, input: { id: string; body: string }) {
  const { repo, comment } = nodeOf(context, input.id, "comment");
  mustTakePart(context, repo, "issues", "pull_requests");
  editComment(context.world, repo, context.actor, comment, input.body);
  return { issueComment: commentNode(context, repo, comment) };
}

function minimizeComment(context: Context, input: { subjectId: string; classifier: string }) {
  const { repo, comment } = nodeOf(context, input.subjectId, "comment");
  mustWrite(context, repo, "issues", "pull_requests");
  comment.minimized = input.classifier.toLowerCase().replace("_", "-");
  return { minimizedComment: commentNode(context, repo, comment) };
}

async function newIssue(
  context: Context,
  input: { repositoryId: string; title: string; body?: string | null; labelIds?: readonly string[] | null },
) {
  const { repo } = nodeOf(context, input.repositoryId, "repository");
  mustTakePart(context, repo, "issues");
  const issue = createIssue(context.world, repo, context.actor, { title: input.title, body: input.body ?? null });
  await setLabelsById(context, repo, issue, () => [], input.labelIds ?? []);
  return { issue: issueNode(context, repo, issue) };
}

async function updateIssue(
  context: Context,
  input: {
    id: string;
    title?: string | null;
    body?: string | null;
    state?: "OPEN" | "CLOSED" | null;
    labelIds?: readonly string[] | null;
  },
) {
  const { repo, issue } = nodeOf(context, input.id, "issue");
  mustWrite(context, repo, "issues");
  editIssue(context.world, repo, context.actor, issue, {
    title: input.title ?? undefined,
    body: input.body ?? undefined,
    state: input.state == null ? undefined : input.state === "OPEN" ? "open" : "closed",
  });
  if (input.labelIds != null) await setLabelsById(context, repo, issue, () => [], input.labelIds);
  return { issue: issueNode(context, repo, issue) };
}

export const ISSUE_MUTATIONS = {
  addLabelsToLabelable,
  removeLabelsFromLabelable,
  addComment,
  updateIssueComment,
  minimizeComment,
  createIssue: newIssue,
  updateIssue,
};
