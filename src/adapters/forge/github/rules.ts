/**
 * Reads what a base branch asks of a PR, from rulesets, classic protection and settings. What cannot be seen asks nothing.
 */
import type { RestEndpointMethodTypes } from "@octokit/rest";
import { defined } from "../../../core/base/defined.ts";
import type { BranchRules } from "../port.ts";
import { asking, askingOrNone } from "./errors.ts";
import { UPDATE_RULE, type UpdateRule, type UpdateRuleResult } from "./graphql/documents.ts";
import { sendGraphQL } from "./graphql/send.ts";
import type { RepoOctokit } from "./octokit.ts";

type Rule = RestEndpointMethodTypes["repos"]["getBranchRules"]["response"]["data"][number];
type Method = "squash" | "merge" | "rebase";

const METHODS: readonly Method[] = ["squash", "merge", "rebase"];
/** Classic protection is asked for by GraphQL, which knows no "not changed". */
const CLASSIC_FOR_MS = 5 * 60_000;

/**
 * What the base branch asks of a PR: the active rules of repository and organisation rulesets, what classic protection
 * shows without administration, and the merge methods that the repository's settings allow.
 */
export function branchRulesReader(place: RepoOctokit): (branch: string) => Promise<BranchRules> {
  const kept = new Map<string, { at: number; rule: UpdateRule | undefined }>();
  return async (branch) => {
    const rules = noRules();
    for (const rule of await activeRules(place, branch)) applyRule(rules, rule);
    const shown = await protection(place, branch);
    if (shown !== undefined) {
      applyProtection(rules, shown);
      const known = kept.get(branch);
      const fresh = known !== undefined && performance.now() - known.at < CLASSIC_FOR_MS;
      const rule = fresh ? known.rule : await classic(place, branch);
      if (!fresh) kept.set(branch, { at: performance.now(), rule });
      if (rule !== undefined) applyClassic(rules, rule);
    }
    return allowed(place, rules);
  };
}

function noRules(): BranchRules {
  return {
    requiredChecks: [],
    strict: false,
    approvals: 0,
    codeOwners: false,
    lastPushApproval: false,
    mergeQueue: false,
    signatures: false,
  };
}

/** See Forge.rulesOn. */
export async function rulesOn(place: RepoOctokit, branch: string): Promise<string[]> {
  return (await activeRules(place, branch)).map(({ type }) => type);
}

/** Reads the rules of a branch; none where an older Enterprise Server or a free plan has them not. */
export async function activeRules({ octokit, owner, repo }: RepoOctokit, branch: string): Promise<Rule[]> {
  const ask = () => octokit.paginate(octokit.rest.repos.getBranchRules, { owner, repo, branch, per_page: 100 });
  return (await askingOrNone(ask, [403, 404])) ?? [];
}

function applyRule(rules: BranchRules, rule: Rule): void {
  switch (rule.type) {
    case "required_status_checks":
      rules.strict ||= rule.parameters?.strict_required_status_checks_policy === true;
      for (const check of rule.parameters?.required_status_checks ?? []) wantCheck(rules, check.context, check.integration_id);
      return;
    case "pull_request":
      rules.approvals = Math.max(rules.approvals, rule.parameters?.required_approving_review_count ?? 0);
      rules.codeOwners ||= rule.parameters?.require_code_owner_review === true;
      rules.lastPushApproval ||= rule.parameters?.require_last_push_approval === true;
      narrow(rules, rule.parameters?.allowed_merge_methods);
      return;
    case "merge_queue":
      rules.mergeQueue = true;
      return;
    case "required_signatures":
      rules.signatures = true;
      return;
    case "required_linear_history":
      narrow(rules, ["squash", "rebase"]);
      return;
  }
}

type Protection = NonNullable<RestEndpointMethodTypes["repos"]["getBranch"]["response"]["data"]["protection"]>;

/** undefined: the branch is not there or not protected. */
async function protection({ octokit, owner, repo }: RepoOctokit, branch: string): Promise<Protection | undefined> {
  const found = await askingOrNone(() => octokit.rest.repos.getBranch({ owner, repo, branch }));
  return found?.data.protected === true ? (found.data.protection ?? {}) : undefined;
}

function applyProtection(rules: BranchRules, shown: Protection): void {
  const checks = shown.required_status_checks;
  if (checks === undefined || checks.enforcement_level === "off") return;
  rules.strict ||= checks.strict === true;
  for (const check of checks.checks ?? []) wantCheck(rules, check.context, check.app_id ?? undefined);
  for (const context of checks.contexts ?? []) wantCheck(rules, context, undefined);
}

async function classic(place: RepoOctokit, branch: string): Promise<UpdateRule | undefined> {
  const variables = { owner: place.owner, name: place.repo, ref: `refs/heads/${branch}` };
  const { data } = await asking(() => sendGraphQL<UpdateRuleResult>(place, UPDATE_RULE, variables));
  return data.repository?.ref?.refUpdateRule ?? undefined;
}

function applyClassic(rules: BranchRules, rule: UpdateRule): void {
  rules.approvals = Math.max(rules.approvals, rule.requiredApprovingReviewCount ?? 0);
  rules.codeOwners ||= rule.requiresCodeOwnerReviews;
  rules.signatures ||= rule.requiresSignatures;
  if (rule.requiresLinearHistory) narrow(rules, ["squash", "rebase"]);
  for (const context of rule.requiredStatusCheckContexts ?? []) if (context !== null) wantCheck(rules, context, undefined);
}

/** The settings are shown to some tokens only; what is not shown forbids nothing. */
async function allowed({ octokit, owner, repo }: RepoOctokit, rules: BranchRules): Promise<BranchRules> {
  const { data } = await asking(() => octokit.rest.repos.get({ owner, repo }));
  const open: Method[] = [];
  if (data.allow_squash_merge !== false) open.push("squash");
  if (data.allow_merge_commit !== false) open.push("merge");
  if (data.allow_rebase_merge !== false) open.push("rebase");
  // All three false is how a token sees them that may not: every repository allows one.
  if (open.length > 0 && open.length < METHODS.length) narrow(rules, open);
  return rules;
}

function wantCheck(rules: BranchRules, context: string, app: number | undefined): void {
  const known = rules.requiredChecks.find((check) => check.context === context);
  // GitHub says -1 for "whoever reports it".
  const bound = defined({ app: app === undefined || app < 0 ? undefined : app });
  if (known === undefined) rules.requiredChecks.push({ context, ...bound });
  else Object.assign(known, bound);
}

function narrow(rules: BranchRules, methods: readonly string[] | undefined): void {
  if (methods === undefined) return;
  rules.methods = (rules.methods ?? METHODS).filter((method) => methods.includes(method));
}
