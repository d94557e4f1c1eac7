import { matchesGlob } from "../../../core/base/glob.ts";
import { verificationOf } from "../http/signatures.ts";
import type { Actor, MergeMethod, Protection, PullRule, Repo, Rule, Ruleset, World } from "../model/model.ts";
import { atLeast, installationsOn, type PullIssue, roleOf, teamOf } from "../model/world.ts";
import { failingChecks } from "./checks.ts";
import { ownersMissing } from "./codeowners.ts";
import { approvals, lastPusherMissing } from "./reviews.ts";

export const UNPROTECTED: Protection = {
  requiredChecks: [],
  approvals: 0,
  strict: false,
  mergeQueue: false,
  codeOwners: false,
  lastPushApproval: false,
  dismissStale: false,
  signatures: false,
  admins: true,
  rules: [],
};

/** A rule in force on a branch; without a ruleset it is of the classic protection. */
interface ActiveRule {
  rule: Rule;
  ruleset?: Ruleset;
}

export const PLAIN_QUEUE = {
  check_response_timeout_minutes: 60,
  grouping_strategy: "ALLGREEN",
  max_entries_to_build: 5,
  max_entries_to_merge: 5,
  merge_method: "MERGE",
  min_entries_to_merge: 1,
  min_entries_to_merge_wait_minutes: 5,
} as const;

function classicRules(protection: Protection): Rule[] {
  const rules: Rule[] = [];
  if (protection.mergeQueue) rules.push({ type: "merge_queue", parameters: { ...PLAIN_QUEUE } });
  const parameters: PullRule = {
    required_approving_review_count: protection.approvals,
    dismiss_stale_reviews_on_push: protection.dismissStale,
    require_code_owner_review: protection.codeOwners,
    require_last_push_approval: protection.lastPushApproval,
    required_review_thread_resolution: false,
  };
  if (protection.approvals > 0 || protection.codeOwners || protection.lastPushApproval) rules.push({ type: "pull_request", parameters });
  if (protection.requiredChecks.length > 0 || protection.strict) {
    const required_status_checks = protection.requiredChecks.map((context) => ({ context }));
    rules.push({
      type: "required_status_checks",
      parameters: { strict_required_status_checks_policy: protection.strict, required_status_checks },
    });
  }
  if (protection.signatures) rules.push({ type: "required_signatures" });
  return rules;
}

/** Does `refs/heads/release-*` mean this branch? */
function matchesBranch(repo: Repo, patterns: readonly string[], branch: string): boolean {
  return patterns.some((pattern) => {
    if (pattern === "~ALL") return true;
    if (pattern === "~DEFAULT_BRANCH") return branch === repo.defaultBranch;
    return matchesGlob(pattern, "paths", `refs/heads/${branch}`);
  });
}

/** Rules of the active rulesets that name the branch, whether it exists or not. */
export function rulesetRules(repo: Repo, branch: string): (ActiveRule & { ruleset: Ruleset })[] {
  const found = [...repo.rulesets.values()].filter(
    (one) => one.enforcement === "active" && matchesBranch(repo, one.include, branch) && !matchesBranch(repo, one.exclude, branch),
  );
  return found.flatMap((ruleset) => ruleset.rules.map((rule) => ({ rule, ruleset })));
}

export function activeRules(repo: Repo, branch: string): ActiveRule[] {
  const classic = repo.protections.get(branch);
  return [...(classic === undefined ? [] : classicRules(classic).map((rule) => ({ rule }))), ...rulesetRules(repo, branch)];
}

/** The merge queue's settings, where merges into the branch go through one. */
export function queueRule(repo: Repo, branch: string) {
  for (const { rule } of activeRules(repo, branch)) if (rule.type === "merge_queue") return rule.parameters;
  return undefined;
}

const ROLE_IDS: Record<number, Parameters<typeof atLeast>[1]> = { 2: "maintain", 4: "write", 5: "admin" };

/** May this actor pass over the ruleset? `merging`: by merging a pull request, not by a push. */
export function bypasses(world: World, repo: Repo, ruleset: Ruleset, actor: Actor, merging: boolean): boolean {
  return ruleset.bypass.some(({ type, id, mode }) => {
    if (mode === "pull_request" && !merging) return false;
    if (type === "Integration") return actor.app?.id === id && installationsOn(world, repo).some((one) => one.app.id === id);
    if (actor.kind !== "user") return false;
    if (type === "User") return actor.user.id === id;
    if (type === "Team") return [...world.teams.values()].some((team) => team.id === id && team.members.has(actor.user.id));
    if (type === "OrganizationAdmin") return actor.user.id === repo.owner.id;
    return atLeast(roleOf(repo, actor.user), ROLE_IDS[id] ?? "admin");
  });
}

interface MergeQuestion {
  behind: boolean;
  /** Who merges; absent: nobody in particular, so nobody passes over anything. */
  actor?: Actor;
  method?: MergeMethod;
  /** Judge the checks of this commit, as a merge queue does, and leave out what was settled on the way in. */
  group?: string;
}

/** What the branch's rules still want of a merge, in the words of a refusal; empty: nothing. */
export async function missingRules(world: World, repo: Repo, issue: PullIssue, question: MergeQuestion): Promise<string[]> {
  const classic: string[] = [];
  const rulesets: string[] = [];
  const protection = repo.protections.get(issue.pull.baseRef);
  const { actor } = question;
  const free = protection?.admins === false && actor?.kind === "user" && roleOf(repo, actor.user) === "admin";
  for (const { rule, ruleset } of activeRules(repo, issue.pull.baseRef)) {
    if (ruleset === undefined && free) continue;
    if (ruleset !== undefined && actor !== undefined && bypasses(world, repo, ruleset, actor, true)) continue;
    (ruleset === undefined ? classic : rulesets).push(...(await missingOf(world, repo, issue, rule, question)));
  }
  const paragraphs = [...(protection?.rules ?? []), ...rulesets];
  if (actor !== undefined && protection?.pushers !== undefined && !mayPush(world, repo, protection.pushers, actor)) {
    classic.push(
      "You're not authorized to push to this branch. Visit https://docs.github.com/articles/about-protected-branches/ for more information.",
    );
  }
  // The queue comes first: nothing else would help.
  const queue = "Changes must be made through the merge queue";
  const first = classic.includes(queue) || paragraphs.includes(queue) ? [queue] : [];
  const rest = paragraphs.filter((one) => one !== queue);
  const violation = rest.length === 0 ? [] : [`Repository rule violations found\n\n${rest.join("\n\n")}\n\n`];
  return [...first, ...classic.filter((one) => one !== queue), ...violation];
}

function mayPush(world: World, repo: Repo, names: readonly string[], actor: Actor): boolean {
  if (names.includes(actor.app?.slug ?? actor.user.login)) return true;
  return names.some((name) => teamOf(world, repo.owner, name)?.members.has(actor.user.id) === true);
}

async function missingOf(world: World, repo: Repo, issue: PullIssue, rule: Rule, question: MergeQuestion): Promise<string[]> {
  const sha = question.group ?? issue.pull.headSha;
  if (rule.type === "required_status_checks") {
    const failing = failingChecks(repo, sha, rule.parameters.required_status_checks);
    const late = rule.parameters.strict_required_status_checks_policy && question.behind && question.group === undefined;
    return [...failing, ...(late ? ["Head branch is out of date. Review and try the merge again."] : [])];
  }
  if (question.group !== undefined) return [];
  if (rule.type === "merge_queue") return ["Changes must be made through the merge queue"];
  if (rule.type === "pull_request") return missingReviews(world, repo, issue, rule.parameters, question.method);
  if (rule.type === "required_signatures") {
    const fine = question.method !== "rebase" && (await allVerified(world, repo, issue));
    return fine ? [] : ["Commits must have verified signatures."];
  }
  if (rule.type === "required_linear_history") return question.method === "merge" ? ["This branch must not contain merge commits."] : [];
  if (rule.type === "update") return ["Cannot update this protected ref."];
  if (rule.type === "required_deployments") return missingDeployments(repo, sha, rule.parameters.required_deployment_environments);
  return [];
}

async function missingReviews(world: World, repo: Repo, issue: PullIssue, rule: PullRule, method?: MergeMethod): Promise<string[]> {
  const missing: string[] = [];
  const wanted = rule.required_approving_review_count;
  const { approved, refused } = approvals(repo, issue);
  if (approved.length < wanted) {
    const noun = wanted === 1 ? "review is" : "reviews are";
    missing.push(`At least ${wanted} approving ${noun} required by reviewers with write access.`);
  } else if (wanted > 0 && refused.length > 0) {
    missing.push(`Changes were requested by ${refused.map((user) => user.login).join(", ")}.`);
  }
  if (rule.require_code_owner_review) missing.push(...(await ownersMissing(world, repo, issue, approved)));
  if (rule.require_last_push_approval) missing.push(...lastPusherMissing(issue, approved));
  const allowed = rule.allowed_merge_methods;
  if (method !== undefined && allowed !== undefined && !allowed.includes(method)) missing.push(METHOD_REFUSALS[method]);
  return missing;
}

export const METHOD_REFUSALS: Record<MergeMethod, string> = {
  merge: "Merge commits are not allowed on this repository.",
  squash: "Squash merges are not allowed on this repository.",
  rebase: "Rebase merges are not allowed on this repository.",
};

async function allVerified(world: World, repo: Repo, issue: PullIssue): Promise<boolean> {
  for (const id of await repo.git.revList(issue.pull.baseSha, issue.pull.headSha, 250)) {
    const commit = await repo.git.commit(id);
    if (commit !== undefined && !verificationOf(world, commit).verified) return false;
  }
  return true;
}

function missingDeployments(repo: Repo, sha: string, environments: readonly string[]): string[] {
  const done = [...repo.deployments.values()].filter((one) => one.sha === sha && one.statuses.at(-1)?.state === "success");
  const names = environments.filter((name) => !done.some((one) => one.environment === name));
  return names.map((name) => `Missing successful active ${name} deployment.`);
}
