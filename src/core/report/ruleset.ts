/** The rulesets that Stagecoach wants of a repository, ready to be pasted as calls of GitHub's API. Called by onboarding, lint and the attention issue. */
import { WRITE_RULES } from "../reasons/gates.ts";
import { GATE } from "./batch/gate-check.ts";

/** Which App they are for; `appId` undefined: not known, and to be put in by hand. */
interface RulesetScene {
  repository: string;
  appId?: number | undefined;
}

/** What stands for the App's id where that is not known. */
export const THE_APP_ID = "THE_APP_ID";

/** Lets nobody but the App write to the journal's branch and to those of batches. */
export function branchesRuleset({ repository, journalBranch, appId = 0 }: RulesetScene & { journalBranch: string }): string {
  return call(repository, {
    name: "stagecoach branches",
    target: "branch",
    enforcement: "active",
    bypass_actors: [{ actor_id: appId === 0 ? THE_APP_ID : appId, actor_type: "Integration", bypass_mode: "always" }],
    conditions: { ref_name: { include: [`refs/heads/${journalBranch}`, "refs/heads/stagecoach-run/**/*"], exclude: [] } },
    rules: [...WRITE_RULES, "non_fast_forward"].map((type) => ({ type })),
  });
}

/** Requires the gate's check on the base, from the App alone: anybody with write can post a check or status of that name. */
export function gateRuleset({ repository, baseBranch, appId = 0 }: RulesetScene & { baseBranch: string }): string {
  const required_status_checks = [{ context: GATE, integration_id: appId === 0 ? THE_APP_ID : appId }];
  return call(repository, {
    name: "stagecoach gate",
    target: "branch",
    enforcement: "active",
    conditions: { ref_name: { include: [`refs/heads/${baseBranch}`], exclude: [] } },
    rules: [{ type: "required_status_checks", parameters: { strict_required_status_checks_policy: false, required_status_checks } }],
  });
}

function call(repository: string, ruleset: object): string {
  const place = repository.replaceAll(/[^\w./-]/g, "");
  return `gh api repos/${place}/rulesets --input - <<'JSON'\n${JSON.stringify(ruleset, null, 2)}\nJSON`;
}
