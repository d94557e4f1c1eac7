/** Lint looks on GitHub, too, with the person's own token: which rules keep others from the bot's branches, and who may pass them by. */
import type { RestEndpointMethodTypes } from "@octokit/rest";
import { activeRules, branchRulesReader } from "../../../adapters/forge/github/rules.ts";
import { JOURNAL_BRANCH } from "../../../adapters/git/journal/journal.ts";
import type { BareBranch } from "../../../core/reasons/gates.ts";
import type { Finding, Problem, ProblemReason } from "../../../core/reasons/problems/problem.ts";
import { branchesRuleset, gateRuleset } from "../../../core/report/ruleset.ts";
import { bareBranch } from "../../../core/run/gates/protection.ts";
import { branchesOf, printBranch } from "../../../core/run/state/branch-name.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { unboundWarning } from "../../../engine/release-pr/plan-warnings.ts";
import { locateIn } from "../../../engine/resolve/plan-over.ts";
import { asking, type GitHubPlace } from "../steer/github-place.ts";
import type { Checkout } from "./lint-checkout.ts";

/** What is wrong on GitHub, and the calls of its API that an owner mends it by. */
interface OnlineReport {
  problems: Problem[];
  calls: string[];
}

/** Asks GitHub what protects the branches of the bot's that these rollouts need; those that people merge need nothing. */
export async function lintOnline(place: GitHubPlace, checkout: Checkout, rollouts: readonly Rollout[]): Promise<OnlineReport> {
  const { octokit, owner, repo } = place;
  const repository = `${owner}/${repo}`;
  const { data } = await asking(`reading ${repository}`, () => octokit.rest.repos.get({ owner, repo }));
  const baseBranch = data.default_branch;
  const base = await asking(`reading the rules of ${baseBranch}`, () => branchRulesReader(place)(baseBranch));
  const unbound = unboundWarning(baseBranch, base).flatMap((one): Finding[] => [{ ...one, path: [] }]);
  const running = rollouts.filter(({ mode }) => mode === "Run");
  const problems: Problem[] = [];
  let isBare = false;
  for (const rollout of running) {
    const first = printBranch({ rollout: rollout.name, run: 1, stage: 1, batch: 1, attempt: 1 });
    const looked = [await lookAt(place, JOURNAL_BRANCH, JOURNAL_BRANCH), await lookAt(place, first, branchesOf(rollout.name))];
    const bare = looked.flatMap((one) => one.bare ?? []);
    isBare ||= bare.length > 0;
    const findings: Finding[] = bare.length === 0 ? [] : [{ code: "BRANCHES_UNPROTECTED", bare, path: ["spec", "mode"] }];
    for (const { passing } of looked) findings.push(...passing.map((one): Finding => ({ ...one, path: ["spec", "mode"] })));
    for (const { atKey: _, ...finding } of [...findings, ...unbound])
      problems.push(locateIn(rollout, checkout, { severity: "warning", ...finding, file: rollout.file, line: 1, column: 1 }));
  }
  const calls = [
    ...(isBare ? [branchesRuleset({ repository, journalBranch: JOURNAL_BRANCH })] : []),
    ...(running.length > 0 && unbound.length > 0 ? [gateRuleset({ repository, baseBranch })] : []),
  ];
  return { problems, calls };
}

type Rule = Awaited<ReturnType<typeof activeRules>>[number];
type Actors = NonNullable<RestEndpointMethodTypes["repos"]["getRepoRuleset"]["response"]["data"]["bypass_actors"]>;
type Passing = Extract<ProblemReason, { code: "RULES_PASSED_BY" | "APP_PASSES_NOT" }>;

async function lookAt(place: GitHubPlace, branch: string, named: string): Promise<{ bare: BareBranch | undefined; passing: Passing[] }> {
  const rules = await asking(`reading the rules of ${branch}`, () => activeRules(place, branch));
  const bare = bareBranch(
    named,
    rules.map(({ type }) => type),
  );
  const actors = bare === undefined ? await actorsOn(place, rules) : undefined;
  return { bare, passing: actors === undefined ? [] : passedBy(named, actors) };
}

/** Who may pass each of the rulesets by that keep people from pushing to the branch. undefined: GitHub shows it to administrators only. */
async function actorsOn({ octokit, owner, repo }: GitHubPlace, rules: readonly Rule[]): Promise<Actors[] | undefined> {
  const ids = new Set(rules.flatMap((rule) => (rule.type === "update" && rule.ruleset_id !== undefined ? [rule.ruleset_id] : [])));
  const all: Actors[] = [];
  for (const ruleset_id of ids) {
    const { data } = await asking(`reading ruleset ${ruleset_id}`, () => octokit.rest.repos.getRepoRuleset({ owner, repo, ruleset_id }));
    if (data.bypass_actors === undefined) return undefined;
    all.push(data.bypass_actors);
  }
  return all;
}

/** Who passes by every one of them. Administrators could change the rules as well, and are not told. */
export function passedBy(branch: string, rulesets: readonly Actors[]): Passing[] {
  const [first = [], ...rest] = rulesets.map((actors) => actors.filter((one) => one.bypass_mode !== "pull_request").map(nameOf));
  const everywhere = [...new Set(first)].filter((name) => rest.every((names) => names.includes(name)));
  const others = everywhere.filter((name) => !name.startsWith("App ") && name !== ADMINISTRATORS);
  return [
    ...(everywhere.some((name) => name.startsWith("App ")) ? [] : [{ code: "APP_PASSES_NOT" as const, branch }]),
    ...(others.length === 0 ? [] : [{ code: "RULES_PASSED_BY" as const, branch, who: others }]),
  ];
}

const ADMINISTRATORS = "administrators";
const ROLES: Readonly<Record<number, string>> = { 2: "everybody with maintain", 4: "everybody with write", 5: ADMINISTRATORS };

function nameOf({ actor_type: type, actor_id: id }: Actors[number]): string {
  if (type === "Integration") return `App ${id}`;
  if (type === "OrganizationAdmin") return ADMINISTRATORS;
  if (type === "DeployKey") return "deploy keys";
  if (type === "RepositoryRole") return ROLES[id ?? 0] ?? `everybody with role ${id}`;
  return `${String(type).toLowerCase()} ${id}`;
}
