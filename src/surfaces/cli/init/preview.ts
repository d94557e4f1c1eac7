/** What each proposed rollout would do with the next release: its plan, and a run of it in the simulated world. Called by `init.ts`. */
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import { readOrNull } from "../../../core/base/repo-files.ts";
import { formatDuration } from "../../../core/base/time.ts";
import type { Plan } from "../../../core/plan/plan-types.ts";
import { withoutMarkdown } from "../../../core/report/escape.ts";
import { NEXT_VERSION, proposedFiles } from "../../../core/report/onboarding/show.ts";
import type { Proposal } from "../../../core/report/onboarding/types.ts";
import { ruleLines } from "../../../core/report/plan/plan-rules.ts";
import { parseRepoConfig } from "../../../core/spec/parse/parse.ts";
import { SETTINGS_FILE } from "../../../core/spec/repo-config.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import type { Checkout } from "../lint/lint-checkout.ts";
import { readRollouts } from "../lint/lint-run.ts";
import { makePlan, rulesNow } from "../plan/plan-make.ts";
import { toText } from "../plan/plan-show.ts";
import { parseFaults } from "../simulate/simulate-faults.ts";
import { simulate } from "../simulate/simulate-run.ts";

/** A repo of a hundred sets is not shown plan by plan. */
const MOST_SHOWN = 5;
const MOST_LINES = 16;
/** Beyond this a simulated run is not worth the wait. */
const MOST_SIMULATED = 500;

/** Lines by the rollout's name. */
export function previewsOf(proposal: Proposal, checkout: Checkout, inventory: Inventory | undefined): Map<string, string[]> {
  const texts = proposedFiles(proposal);
  const paths = [...new Set([...checkout.paths(), ...texts.keys()])].toSorted();
  const { root, made } = checkout;
  const after: Checkout = { root, made, read: (path) => texts.get(path) ?? checkout.read(path), paths: () => paths };
  const shown = proposal.rollouts.slice(0, MOST_SHOWN).map(({ file }) => file);
  const { rollouts } = readRollouts(after, shown);
  return new Map(rollouts.map((rollout) => [rollout.name, previewOf(rollout, after, inventory)]));
}

function previewOf(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined): string[] {
  const names = rollout.release?.kind === "values" ? Object.keys(rollout.release.values) : ["version"];
  const made = makePlan(rollout, checkout, inventory, Object.fromEntries(names.map((name) => [name, NEXT_VERSION])));
  const { plan, clusters = [] } = made;
  if (plan === undefined) return [];
  const lines = toText(rollout, plan, null, [], { colour: false, columns: undefined }).trimEnd().split("\n").slice(2);
  const cut =
    lines.length > MOST_LINES
      ? [...lines.slice(0, MOST_LINES), `… ${lines.length - MOST_LINES} lines more: stagecoach plan ${rollout.name}`]
      : lines;
  const rules = ruleLines(rollout, rulesNow(checkout)).map((line) => `rule  ${withoutMarkdown(line)}`);
  return [...cut.filter((line) => line !== ""), ...rules, ...simulated({ ...rollout, mode: "Run" }, plan, clusters, checkout)];
}

/** One run in which all goes well, and one whose release is bad everywhere: how long, and how far it comes. */
function simulated(rollout: Rollout, plan: Plan, clusters: Parameters<typeof simulate>[0]["clusters"], checkout: Checkout): string[] {
  const count = plan.stages.reduce((sum, stage) => sum + stage.clusters.length + stage.requeued.length, 0);
  if (count === 0 || count > MOST_SIMULATED) return [];
  const { bounds } = parseRepoConfig(readOrNull(checkout, SETTINGS_FILE), SETTINGS_FILE);
  const input = { rollout, plan, clusters, bounds, times: undefined };
  const well = simulate({ ...input, faults: [] }, 1);
  const first = plan.stages.flatMap((stage) => stage.clusters)[0] ?? "";
  const bad = simulate({ ...input, faults: parseFaults([`${first.slice(first.indexOf("/") + 1)}=degraded`], plan, rollout) }, 1);
  const all =
    well.phase === "Succeeded"
      ? [`simulated: all of it takes ${formatDuration(roundedMs(well.tookMs))}, where each merge waits for nobody`]
      : [];
  const stop = bad.stopped
    ? [`simulated: a release that fails where it first comes reaches ${bad.blastRadius} of ${count}, and pauses`]
    : [];
  return [...all, ...stop];
}

const MINUTE = 60_000;

function roundedMs(ms: number): number {
  return Math.max(MINUTE, Math.round(ms / MINUTE) * MINUTE);
}
