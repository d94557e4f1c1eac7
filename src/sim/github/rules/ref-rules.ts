import { verificationOf } from "../http/signatures.ts";
import type { Actor, Repo, World } from "../model/model.ts";
import type { Moved } from "../pulls/refs-moved.ts";
import { failingChecks } from "./checks.ts";
import { bypasses, rulesetRules } from "./rules.ts";
import { touchedWorkflow, workflowRefusal } from "./workflows.ts";

export const NO_CREATION = "Cannot create ref due to creations being restricted.";

/**
 * Why this move of a branch is refused, in GitHub's paragraphs; empty: it may go. Rulesets are asked, classic protection is
 * not: it holds merges only here.
 */
export async function moveRefusals(world: World, repo: Repo, actor: Actor, move: Moved): Promise<string[]> {
  if (!move.ref.startsWith("refs/heads/")) return [];
  const workflow = move.new === undefined ? undefined : await touchedWorkflow(repo, actor, move.old ?? (await baseOf(repo)), move.new);
  if (workflow !== undefined) return [workflowRefusal(workflow)];
  const branch = move.ref.slice("refs/heads/".length);
  const refusals: string[] = [];
  for (const { rule, ruleset } of rulesetRules(repo, branch)) {
    if (bypasses(world, repo, ruleset, actor, false)) continue;
    const refusal = await judge(world, repo, move, rule);
    if (refusal !== undefined) refusals.push(refusal);
  }
  return [...new Set(refusals)];
}

async function baseOf(repo: Repo): Promise<string | undefined> {
  return repo.git.ref(`refs/heads/${repo.defaultBranch}`);
}

async function judge(
  world: World,
  repo: Repo,
  move: Moved,
  rule: ReturnType<typeof rulesetRules>[number]["rule"],
): Promise<string | undefined> {
  const { old, new: next } = move;
  if (next === undefined) return rule.type === "deletion" ? "Cannot delete this protected ref." : undefined;
  if (old === undefined) {
    if (rule.type === "creation") return NO_CREATION;
    return rule.type === "required_signatures" ? unsigned(world, repo, await baseOf(repo), next) : undefined;
  }
  if (rule.type === "update") return "Cannot update this protected ref.";
  if (rule.type === "pull_request") return "Changes must be made through a pull request.";
  if (rule.type === "merge_queue") return "Changes must be made through the merge queue";
  if (rule.type === "non_fast_forward")
    return (await repo.git.mergeBase(old, next)) === old ? undefined : "Cannot force-push to this branch";
  if (rule.type === "required_signatures") return unsigned(world, repo, old, next);
  if (rule.type === "required_linear_history") return linear(repo, old, next);
  if (rule.type === "required_status_checks") return failingChecks(repo, next, rule.parameters.required_status_checks)[0];
  return undefined;
}

async function unsigned(world: World, repo: Repo, from: string | undefined, to: string): Promise<string | undefined> {
  for (const id of await repo.git.revList(from, to, 1000)) {
    const commit = await repo.git.commit(id);
    if (commit !== undefined && !verificationOf(world, commit).verified) {
      return "Commits must have verified signatures.";
    }
  }
  return undefined;
}

async function linear(repo: Repo, from: string, to: string): Promise<string | undefined> {
  for (const id of await repo.git.revList(from, to, 1000)) {
    if (((await repo.git.commit(id))?.parents.length ?? 0) > 1) return "This branch must not contain merge commits.";
  }
  return undefined;
}

/** As the API says it. */
export function ruleViolation(refusals: readonly string[]): string {
  return `Repository rule violations found\n\n${refusals.join("\n\n")}\n\n`;
}
