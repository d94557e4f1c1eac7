import type { Repo } from "./model.ts";
import { atLeast, type PullIssue, roleOf } from "./world.ts";

/** What a branch rule still wants, in the words of a refused merge; empty: nothing. */
export function missingRules(repo: Repo, issue: PullIssue, behind: boolean): string[] {
  const rules = repo.protections.get(issue.pull.baseRef);
  if (rules === undefined) return [];
  const missing: string[] = [];
  if (rules.mergeQueue) missing.push("Changes must be made through the merge queue");
  if (rules.rules.length > 0) missing.push(`Repository rule violations found\n\n${rules.rules.join("\n\n")}\n\n`);
  const approved = approvals(repo, issue);
  if (approved < rules.approvals) {
    const noun = rules.approvals === 1 ? "review is" : "reviews are";
    missing.push(`At least ${rules.approvals} approving ${noun} required by reviewers with write access.`);
  }
  for (const name of rules.requiredChecks) {
    const state = checkState(repo, issue.pull.headSha, name);
    if (state === "missing") missing.push(`Required status check "${name}" is expected.`);
    if (state === "pending") missing.push(`Required status check "${name}" is pending.`);
    if (state === "failed") missing.push(`Required status check "${name}" is failing.`);
  }
  if (rules.strict && behind) missing.push("Head branch is out of date. Review and try the merge again.");
  return missing;
}

/** Approvals that count: the last word of each account that may write, never the author's, never an App's. */
function approvals(repo: Repo, issue: PullIssue): number {
  const last = new Map<number, string>();
  for (const review of issue.pull.reviews) {
    if (review.state !== "APPROVED" && review.state !== "CHANGES_REQUESTED" && review.state !== "DISMISSED") continue;
    if (review.byApp || review.user.id === issue.user.id) continue;
    if (atLeast(roleOf(repo, review.user), "write")) last.set(review.user.id, review.state);
  }
  return [...last.values()].filter((state) => state === "APPROVED").length;
}

export function checkState(repo: Repo, sha: string, name: string): "missing" | "pending" | "failed" | "passed" {
  const runs = [...repo.checks.values()].filter((run) => run.headSha === sha && run.name === name);
  const last = runs.at(-1);
  if (last === undefined) return "missing";
  if (last.status !== "completed") return "pending";
  return last.conclusion === "success" || last.conclusion === "neutral" || last.conclusion === "skipped" ? "passed" : "failed";
}

/** Some check of the head is not green, though none is required. */
export function anyCheckOpen(repo: Repo, sha: string): boolean {
  const names = new Set([...repo.checks.values()].filter((run) => run.headSha === sha).map((run) => run.name));
  return [...names].some((name) => checkState(repo, sha, name) !== "passed");
}
