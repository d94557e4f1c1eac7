import { count } from "../../base/count.ts";
import { formatSelector } from "../../base/selector.ts";
import { formatDuration } from "../../base/time.ts";
import type { Plan } from "../../plan/plan-types.ts";
import type { Quantity } from "../../spec/rollout.ts";
import { inventoryFiles, type Rollout } from "../../spec/rollout.ts";
import type { Limits } from "../../spec/schema-common.ts";
import { countedWords, inCounted } from "../counted.ts";
import { cell, code } from "../escape.ts";
import { firstOf, foldText, present } from "../markdown.ts";
import { clockTime } from "../words.ts";
import { short } from "./plan-chart.ts";
import { limitsFor, type RuleScope, type RulesNow, type WindowRule, windowRules } from "./rules-data.ts";

const MOST_LISTED = 5;
const MOST_WINDOWS = 20;

/** The rules that a run would go by besides its stages' gates: only those that the rollout or the repo sets. Markdown, folded. */
export function planRules(rollout: Rollout, rules: RulesNow, plan?: Pick<Plan, "warnings">): string {
  const rows = ruleLines(rollout, rules, plan);
  return rows.length === 0 ? "" : foldText("What the run goes by", rows.map((row) => `- ${row}`).join("\n"));
}

/** The same one by one. `plan`: what it warns of is not promised. Markdown, harmless. */
export function ruleLines(rollout: Rollout, rules: RulesNow, plan?: Pick<Plan, "warnings">): string[] {
  return present(
    ...windowLines(rollout, rules),
    ...dependencies(rollout),
    limitsOf("In flight at once over all rollouts of the repo", limitsFor(rules.limits, rollout)),
    limitsOf("In flight at once of this rollout", rollout.limits),
    baseOf(rollout, rules.base),
    ...ordering(rollout, plan),
    ...growing(rollout),
    health(rollout),
    ...failure(rollout),
    ...membership(rollout),
    rollout.delivery.ahead === false && "A batch's pull request is opened in its turn, never ahead.",
    rollout.onNewRelease !== "Supersede" && `A release merged meanwhile: \`onNewRelease: ${rollout.onNewRelease}\`.`,
  );
}

const WHOSE = { rollout: "Windows", stage: "", repo: "Freezes of the repo", server: "Freezes of the server" };

function windowLines(rollout: Rollout, rules: RulesNow): string[] {
  return windowRules(rollout, rules)
    .slice(0, MOST_WINDOWS)
    .map((rule) => {
      const whose = rule.stage === undefined ? WHOSE[rule.of] : `Windows of ${cell(short(rule.stage, 60))}, besides`;
      return windowLine(`${whose}${forWhom(rule.scope)}`, rule, rules.now);
    });
}

function windowLine(whose: string, { windows, open, changesAt }: WindowRule, now: number): string {
  const listed = windows.map(
    (one) => `${one.kind} ${code(short(one.schedule, 60))} for ${formatDuration(one.durationMs)} (${cell(short(one.timeZone, 60))})`,
  );
  const at = changesAt === undefined ? undefined : clockTime(new Date(changesAt).toISOString(), now);
  const state = open
    ? `open now${at === undefined ? "" : `, until ${at} at the earliest`}`
    : at === undefined
      ? "closed, and not open within a year"
      : `closed now, next open ${at}`;
  return `${whose}: ${firstOf(listed, MOST_LISTED)}; ${state}.`;
}

function dependencies({ dependsOn = [], targetBy }: Rollout): string[] {
  return dependsOn.slice(0, MOST_LISTED).map(({ rollout, atLeast }) => {
    const version = atLeast === "SameVersion" ? "this version" : `least ${code(short(atLeast, 60))}`;
    const where = targetBy === undefined ? "there" : "on its cluster, in the stage of the same name if it has one there";
    return inCounted(`Each <cluster> waits for ${code(short(rollout, 60))} ${where}, at ${version}.`, { targetBy });
  });
}

function limitsOf(where: string, limits: Limits = {}): string {
  const parts = [atMost(limits), ...(limits.selected ?? []).map((one) => (atMost(one) === "" ? "" : `${atMost(one)}${forWhom(one)}`))];
  const said = present(...parts);
  return said.length === 0 ? "" : `${where}: at most ${firstOf(said, MOST_LISTED, said.length, "; ")}.`;
}

/** Whom a window or a limit is for: ` where env=prod in stage prod`; nothing: everybody. */
function forWhom({ selector, stages, rollouts }: RuleScope): string {
  const named = (what: string, names: readonly string[] | undefined) =>
    names !== undefined &&
    ` ${what}${names.length === 1 ? "" : "s"} ${firstOf(
      names.map((name) => cell(short(name, 60))),
      MOST_LISTED,
    )}`;
  return present(
    selector && ` where ${code(short(formatSelector(selector), 60))}`,
    named("in stage", stages),
    named("of rollout", rollouts),
  ).join("");
}

function atMost({ clusters, targets, label }: Omit<Limits, "selected">): string {
  return present(
    clusters !== undefined && count(clusters, "cluster"),
    targets !== undefined && count(targets, "Application"),
    label !== undefined && `${label.percent}% of the clusters of one ${code(short(label.key, 60))}`,
  ).join(", ");
}

/** Nothing that waits for a person, or never comes: of that the plan warns. */
function baseOf({ delivery }: Rollout, base: RulesNow["base"]): string {
  if (base === undefined || delivery.strategy !== "PullRequest") return "";
  const { branch, checks, queue, strict } = base;
  const parts = present(
    checks.length > 0 &&
      `waits for ${checks.length === 1 ? "the check" : "the checks"} ${firstOf(
        checks.map((name) => code(short(name, 60))),
        MOST_LISTED,
      )}`,
    queue && "goes through the merge queue, which merges by a method of its own",
    strict && !queue && "is built again whenever the branch moves, since it has to be up to date",
  );
  return parts.length === 0 ? "" : `Each batch, by the rules of ${code(short(branch, 60))}: ${parts.join("; ")}.`;
}

function growing({ stages }: Rollout): string[] {
  const grown = stages.map(
    ({ name, grow, maxUnavailable }) =>
      grow &&
      `Batches of ${cell(short(name, 60))} grow: ${grow.start}, then times ${grow.factor} after each in which nothing failed, up to ${amount(maxUnavailable)}.`,
  );
  return present(...grown).slice(0, MOST_LISTED);
}

/** How clusters of a stage follow each other, where it is not by name, batch after batch. */
function ordering({ stages, targetBy }: Rollout, plan: Pick<Plan, "warnings"> | undefined): string[] {
  const ordered = stages.map(({ name, order, pairs, topologyKey, batching }) => {
    const parts = present(
      order.by === "label" && `by label ${code(short(order.key ?? "", 60))}`,
      order.by === "seeded" && "in an order that looks random, the same for one seed",
      topologyKey !== undefined && keepsByLabel(name, plan) && `never two of one ${code(short(topologyKey, 60))} at once`,
      pairs !== undefined && `never two of a pair at once (${pairs.length} of them)`,
      batching === "Rolling" && "the next as soon as there is room (`batching: Rolling`)",
    );
    return parts.length > 0 && `${manyOf({ targetBy })} of ${cell(short(name, 60))}: ${parts.join("; ")}.`;
  });
  return present(...ordered).slice(0, MOST_LISTED);
}

/** Whether a stage's `topologyKey` is a label that its clusters have, as far as a plan tells. */
export function keepsByLabel(stage: string, plan: Pick<Plan, "warnings"> | undefined): boolean {
  return plan?.warnings.every((one) => one.code !== "NOT_KEPT_APART" || one.stage !== stage || one.names.length < one.of) ?? true;
}

const USUAL = { settleMs: 10_000, graceMs: 60_000, seenDeadlineMs: 900_000, waitingDeadlineMs: 86_400_000 };

/** When a cluster counts as live and as failed, where the rollout says something else than usual. */
function health(rollout: Rollout): string {
  const { settleMs, graceMs, seenDeadlineMs, waitingDeadlineMs, flap, suspended, proof } = rollout;
  const late = rollout.stages.filter(({ progressDeadlineMs }) => progressDeadlineMs !== 900_000).slice(0, MOST_LISTED);
  const parts = present(
    settleMs !== USUAL.settleMs && `live once it held still for ${formatDuration(settleMs)}`,
    graceMs !== USUAL.graceMs && `failing after ${formatDuration(graceMs)} in a bad state`,
    seenDeadlineMs !== USUAL.seenDeadlineMs && `failed where its change is not seen within ${formatDuration(seenDeadlineMs)}`,
    ...late.map(({ name, progressDeadlineMs }) => `in ${cell(short(name, 60))} healthy within ${formatDuration(progressDeadlineMs)}`),
    waitingDeadlineMs !== USUAL.waitingDeadlineMs && `a person is asked after ${formatDuration(waitingDeadlineMs)} of waiting`,
    flap && `dips under ${formatDuration(flap.ignoreMs)} are passed over, ${flap.most} within ${formatDuration(flap.windowMs)}`,
    suspended === "Accept" && "what is paused counts as healthy",
    proof === "revision" && "the revision that Argo CD shows is proof enough",
    proof === "content" && "its objects must show the change",
  );
  return parts.length === 0 ? "" : inCounted(`<A cluster> is ${parts.join("; ")}.`, rollout);
}

function failure({ onFailure, rollback, baseline, targetBy }: Rollout): string[] {
  const { action, maxFailures } = onFailure;
  const most = amount(maxFailures);
  const does = { Pause: "the run pauses and asks", Rollback: "it is rolled back", Continue: "it goes on, and ends as Failed" }[action];
  const back = rollback?.maxUnavailable === undefined ? "in the batches as they moved" : `by ${amount(rollback.maxUnavailable)} at once`;
  return present(
    (action !== "Pause" || most !== "0") && `More than ${most} failed ${countedWords({ targetBy })}: ${does}.`,
    rollback && `A rollback goes ${back}, ${rollback.skipBake ? "without" : "with"} bakes.`,
    baseline === "Tolerate" &&
      inCounted("<A cluster> that is unhealthy already, and no worse afterwards, is outside of the budget.", { targetBy }),
  );
}

const JOINING = { Append: "caught up after the last stage", Ignore: "named, and left as they are", Hold: "asked about" };

function membership({ joiners, quarantine, inventory, targetBy }: Rollout): string[] {
  const back = quarantine?.onReturn === "CatchUp" ? "caught up once they are back" : "also where they come back";
  const out = targetBy === undefined ? "Clusters" : `${manyOf({ targetBy })} on clusters`;
  const files = inventoryFiles({ inventory }).map((file) => code(short(file, 100)));
  return present(
    inventory &&
      `Clusters are those of ${firstOf(files, 5)}, as ${files.length > 1 ? "they are" : "it is"} on the base branch at the time.`,
    joiners && `${manyOf({ targetBy })} that appear during the run are ${JOINING[joiners]}.`,
    quarantine && `${out} that cannot be reached are left out, at most ${amount(quarantine.max)}; ${back}.`,
  );
}

function manyOf(counting: Pick<Rollout, "targetBy">): string {
  const words = countedWords(counting);
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

/** `3`, or `25%`. */
export function amount(quantity: Quantity): string {
  return "count" in quantity ? String(quantity.count) : `${quantity.percent}%`;
}
