import { type BranchRules, ForgeError } from "../../adapters/forge/port.ts";
import { GATE } from "../../core/report/batch/gate-check.ts";
import { PLAN_CHECK } from "../../core/report/plan/plan-check.ts";
import type { RulesNow } from "../../core/report/plan/plan-rules.ts";
import type { RepoContext } from "./context.ts";

/** Rules change seldom. */
const RULES_FOR_MS = 5 * 60_000;

/** What the base branch asks of PRs. */
export interface Rules {
  /** undefined: the App may not read it. */
  of(branch: string): Promise<BranchRules | undefined>;
  /** As last read. */
  readonly last: BranchRules | undefined;
}

export function openRules({ forge, clock }: Pick<RepoContext, "forge" | "clock">): Rules {
  let known: { branch: string; at: number; rules: BranchRules | undefined } | undefined;
  return {
    async of(branch) {
      const now = clock.now();
      if (known?.branch === branch && now - known.at < RULES_FOR_MS) return known.rules;
      const rules = await forge.branchRules(branch).catch((error: unknown) => {
        if (error instanceof ForgeError && (error.kind === "Forbidden" || error.kind === "NotFound")) return undefined;
        throw error;
      });
      known = { branch, at: now, rules };
      return rules;
    },
    get last() {
      return known?.rules;
    },
  };
}

/** How a branch takes merges of PRs; undefined: in every way, or it is not known. A merge queue has a method of its own. */
export function methodsOf(rules: BranchRules | undefined): readonly string[] | undefined {
  return rules?.mergeQueue === true ? undefined : rules?.methods;
}

/** What the base branch asks of every batch without a person's doing, as a plan shows it. */
export function baseAsks(branch: string, rules: BranchRules | undefined): RulesNow["base"] {
  if (rules === undefined) return undefined;
  const checks = rules.requiredChecks.map(({ context }) => context).filter((name) => name !== GATE && name !== PLAN_CHECK);
  return { branch, checks, queue: rules.mergeQueue, strict: rules.strict };
}
