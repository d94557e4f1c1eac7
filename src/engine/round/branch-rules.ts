import { type BranchRules, ForgeError } from "../../adapters/forge/port.ts";
import { BoundedMap } from "../../core/base/bounded.ts";
import type { BareBranch } from "../../core/reasons/gates.ts";
import { GATE } from "../../core/report/batch/gate-check.ts";
import { PLAN_CHECK } from "../../core/report/plan/plan-check.ts";
import type { RulesNow } from "../../core/report/plan/rules-data.ts";
import { bareBranch } from "../../core/run/gates/protection.ts";
import { branchesOf, printBranch } from "../../core/run/state/branch-name.ts";
import { openBackoff } from "./backoff.ts";
import type { RepoContext } from "./context.ts";

/** Rules change seldom. */
const RULES_FOR_MS = 5 * 60_000;
/** What lacks is soon set, by somebody who waits for it. */
const BARE_FOR_MS = 30_000;
/** Where GitHub does not answer, what it said last counts for so long. */
const LAST_FOR_MS = 15 * 60_000;
/** After failures it is not asked again before. */
const LONGEST_RETRY_MS = 30_000;
const MOST_BRANCHES = 200;

/** What the base branch asks of PRs, and who may write to the branches that are ours. */
export interface Rules {
  /** undefined: the App may not read it. */
  of(branch: string): Promise<BranchRules | undefined>;
  /** As last read. */
  readonly last: BranchRules | undefined;
  /**
   * The journal's branch and those of a rollout's batches, where rules do not keep others from them; none: they do, or the operator does not
   * mind. undefined: GitHub did not say.
   */
  bare(rollout: string): Promise<readonly BareBranch[] | undefined>;
}

type Context = Pick<RepoContext, "forge" | "clock" | "journalBranch" | "allowUnprotected" | "log">;

export function openRules(context: Context): Rules {
  const { forge, clock } = context;
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
    bare: openBare(context),
  };
}

function openBare({ forge, clock, journalBranch, allowUnprotected, log }: Context): Rules["bare"] {
  const kept = new BoundedMap<string, { at: number; bare: BareBranch | undefined }>(MOST_BRANCHES);
  const failures = openBackoff({ clock }, LONGEST_RETRY_MS);

  async function look(branch: string, named: string): Promise<BareBranch | "unread" | undefined> {
    const before = kept.get(branch);
    if (before !== undefined && clock.now() - before.at < (before.bare === undefined ? RULES_FOR_MS : BARE_FOR_MS)) return before.bare;
    if (failures.until(branch) === undefined) {
      try {
        const bare = bareBranch(named, (await forge.rulesOn?.(branch)) ?? []);
        kept.set(branch, { at: clock.now(), bare });
        failures.forget(branch);
        return bare;
      } catch (error) {
        failures.note(branch, error);
        log.warn({ branch, error: String(error) }, "the rules of the bot's own branches could not be read");
      }
    }
    return before !== undefined && clock.now() - before.at < LAST_FOR_MS ? before.bare : "unread";
  }

  return async (rollout) => {
    if (allowUnprotected === true || forge.rulesOn === undefined) return [];
    // Rules are by patterns of names: that of a rollout's first batch stands for all of them.
    const first = printBranch({ rollout, run: 1, stage: 1, batch: 1, attempt: 1 });
    const looked = [await look(journalBranch, journalBranch), await look(first, branchesOf(rollout))];
    const bare = looked.filter((one) => one !== undefined && one !== "unread");
    // What is known to be missing is said, though the other could not be read.
    return bare.length === 0 && looked.includes("unread") ? undefined : bare;
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
