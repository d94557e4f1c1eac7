/** What each proposed rollout would do with the next release: its plan, and a run of it in the simulated world. Called by `init.ts`. */
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { readOrNull } from "../../../core/base/repo-files.ts";
import { withoutMarkdown } from "../../../core/report/escape.ts";
import { NEXT_VERSION, proposedFiles } from "../../../core/report/onboarding/show.ts";
import type { Proposal } from "../../../core/report/onboarding/types.ts";
import { ruleLines } from "../../../core/report/plan/plan-rules.ts";
import { type Foreseen, foreseenLines } from "../../../core/report/simulated.ts";
import { parseRepoConfig } from "../../../core/spec/parse/parse.ts";
import { SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import type { Planned } from "../../../engine/onboarding/types.ts";
import { foreseeAll } from "../../../simulate/plan/foresee.ts";
import type { Checkout } from "../lint/lint-checkout.ts";
import { readRollouts } from "../lint/lint-run.ts";
import { makePlan, rulesNow } from "../plan/plan-make.ts";
import { toText } from "../plan/plan-show.ts";

/** A repo of a hundred sets is not shown plan by plan. */
const MOST_SHOWN = 5;
const MOST_LINES = 16;

/** Lines by the rollout's name. */
export function previewsOf(proposal: Proposal, checkout: Checkout, inventory: Inventory | undefined): Map<string, string[]> {
  const texts = proposedFiles(proposal);
  const paths = [...new Set([...checkout.paths(), ...texts.keys()])].toSorted();
  const { root, made } = checkout;
  const after: Checkout = { root, made, read: (path) => texts.get(path) ?? checkout.read(path), paths: () => paths };
  const shown = proposal.rollouts.slice(0, MOST_SHOWN).map(({ file }) => file);
  const { rollouts } = readRollouts(after, shown);
  const planned = rollouts.flatMap((rollout) => plannedOf(rollout, after, inventory) ?? []);
  const foreseen = foreseeAll(planned);
  return new Map(planned.map((one, at) => [one.rollout.name, previewOf(one, after, foreseen[at])]));
}

function plannedOf(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined): Planned | undefined {
  const names = rollout.release?.kind === "values" ? Object.keys(rollout.release.values) : ["version"];
  const made = makePlan(rollout, checkout, inventory, Object.fromEntries(names.map((name) => [name, NEXT_VERSION])));
  const { plan, clusters = [] } = made;
  const { bounds } = parseRepoConfig(readOrNull(checkout, SETTINGS_FILE), SETTINGS_FILE);
  return plan && { rollout, plan, clusters, bounds };
}

function previewOf({ rollout, plan }: Planned, checkout: Checkout, foreseen: Foreseen | undefined): string[] {
  const text = toText(rollout, plan, null, [], { colour: false, columns: undefined });
  // Its title, and where it writes, stand above; each of several values does not.
  const lines = text
    .trimEnd()
    .split("\n")
    .slice(1)
    .filter((line) => !line.startsWith("  writes "));
  const cut =
    lines.length > MOST_LINES
      ? [...lines.slice(0, MOST_LINES), `… ${lines.length - MOST_LINES} lines more: stagecoach plan ${rollout.name}`]
      : lines;
  const rules = ruleLines(rollout, rulesNow(checkout), plan).map((line) => `rule  ${withoutMarkdown(line)}`);
  return [...cut.filter((line) => line !== ""), ...rules, ...foreseenLines(foreseen, rollout.name, rollout)];
}
