import { changesNothing, type Edit, type Plan, type PlannedBatch, type PlannedTarget } from "../../plan/plan-types.ts";
import { namedEdits, valueChanges, valuesOfEdits } from "../../plan/values.ts";
import type { Problem, Warning } from "../../reasons/problems/problem.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { countedWord, countedWords, eachOnceNamed, putOffPhrase } from "../counted.ts";
import { cell, code } from "../escape.ts";
import { COMMENT_ROOM, fitting } from "../fit.ts";
import { firstOf, foldText, table } from "../markdown.ts";
import { refusedModel } from "../model/refused.ts";
import { sayProblem, sayWarning } from "../reasons/problems/problems.ts";
import { refusedTable } from "../refused.ts";
import { shownValues, valuesTable } from "../values.ts";
import { copiedWords, editPlace, pinValue, releaseName, shortName } from "../words.ts";
import { durationSentence, type Expected } from "./duration.ts";
import { planChart, short } from "./plan-chart.ts";
import { planRules } from "./plan-rules.ts";
import { gatesOfStages, type Level, stageTable } from "./plan-stages.ts";
import type { RulesNow } from "./rules-data.ts";

/** What a plan's comment says besides the plan. */
export interface PlanExtras {
  /** The PR's head stands for its merge commit, which nobody knows yet: this version is called so. */
  toCome?: string | undefined;
  expected?: Expected | undefined;
  /** What merging does to the run in progress; see overlap. Markdown, harmless. */
  overlap?: string | undefined;
  /** What stands outside of the rollout's file against merging it. */
  errors?: readonly Problem[];
  /** Markdown, harmless: why the PR would pass the stages by. */
  against?: readonly string[];
  /** The PR is merged, and the mode kept a run from starting. */
  merged?: boolean;
  /** What the rollout's rules are as of now; absent: they are not listed. */
  rules?: RulesNow;
  /** Further warnings, such as those of lint. */
  warnings?: readonly (Warning | Problem)[];
}

/** Told in this order until one fits: every target, every cluster by batch, a few of each batch, the stages alone. */
const LEVELS: readonly Level[] = [
  { targets: true, clusters: Number.POSITIVE_INFINITY, batches: Number.POSITIVE_INFINITY, stages: Number.POSITIVE_INFINITY, requeued: 10 },
  { targets: false, clusters: Number.POSITIVE_INFINITY, batches: Number.POSITIVE_INFINITY, stages: Number.POSITIVE_INFINITY, requeued: 10 },
  { targets: false, clusters: 5, batches: Number.POSITIVE_INFINITY, stages: Number.POSITIVE_INFINITY, requeued: 3 },
  { targets: false, clusters: 3, batches: 60, stages: 60, requeued: 1 },
  { targets: false, clusters: 0, batches: 0, stages: 40, requeued: 0 },
];

/** What a release PR would do, before it is merged. Never over GitHub's limit, and never cut: a large plan is summarised. */
export function planComment(rollout: Rollout, plan: Plan, current: string | undefined, extras: PlanExtras = {}): string {
  const instead = `Some of the plan is too long for this place: \`stagecoach plan ${plan.rollout}\` shows all of it.`;
  const comment = fitting(COMMENT_ROOM, LEVELS, (level) => compose(rollout, plan, current, extras, level), instead);
  return extras.toCome === undefined ? comment : comment.replaceAll(extras.toCome, "merge commit");
}

/** Why a release PR cannot start a run, with what to change; of one that is merged, why it started none. */
export function problemsComment(problems: readonly Problem[], { merged = false } = {}): string {
  const all = "`stagecoach lint` lists them all.";
  const say = (most: number) => {
    const model = refusedModel({ problems });
    const head = merged ? ["### ❌ No run started", `${model.waitsFor} A comment here says so then.`] : ["### ❌ No run would start"];
    return [...head, refusedTable(model.problems, most)];
  };
  return fitting(COMMENT_ROOM, [50, 20, 5], say, `Too long for this place: ${all}`);
}

/** In place of problems or a plan that a later push has made pointless. */
export function nothingMore(what: "solved" | "noRelease", rollout?: string): string {
  if (what === "solved") return "### ✅ The problems are solved\n\nWhat was wrong here is put right.";
  return `### No release\n\nThis pull request no longer changes the release of ${rollout === undefined ? "a rollout" : `**${cell(rollout)}**`}: merging it starts no run.`;
}

function compose(rollout: Rollout, plan: Plan, current: string | undefined, extras: PlanExtras, level: Level): string[] {
  const name = extras.toCome === undefined ? code(short(releaseName(plan.release.values), 300)) : "the merge commit of this PR";
  const change = current === undefined ? "" : `${code(short(current, 300))} → `;
  const values = shownValues(valueChanges(rollout, plan));
  const what = values === undefined ? ` ${change}${name}` : `, a release of ${values.length} values`;
  return [
    `### 🗺️ Plan: ${cell(plan.rollout)}${what}`,
    headline(rollout, plan, extras.merged === true),
    valuesTable(values),
    against([...(extras.errors ?? []).map(errorLine), ...(extras.against ?? [])]),
    extras.overlap === undefined ? "" : `> [!NOTE]\n> ${extras.overlap}`,
    warnings([...plan.warnings, ...(extras.warnings ?? [])]),
    stageTable(rollout, plan, extras.expected, level),
    extras.expected === undefined ? "" : durationSentence(extras.expected),
    planChart(plan, gatesOfStages(rollout, plan)),
    extras.rules === undefined ? "" : planRules(rollout, extras.rules, plan),
    planDetails(rollout, plan, level),
    `<sub>${modeSentence(rollout)} \`/plan\` makes this afresh · plan ${code(plan.hash.slice(0, 12))}</sub>`,
  ];
}

/** What merging it does. Markdown, harmless. */
export function headline(rollout: Rollout, plan: Plan, merged: boolean): string {
  const clusters = plan.stages.reduce((sum, stage) => sum + stage.clusters.length + stage.requeued.length, 0);
  const batches = plan.stages.reduce((sum, stage) => sum + stage.batches.length, 0);
  const size = `**${clusters} ${countedWords(plan)}** in **${batches} batches** over **${plan.stages.length} stages**${putOffPhrase(plan.stages)}`;
  const each = rollout.delivery.strategy === "Commit" ? "one push of its branches a batch" : "one pull request a batch";
  if (rollout.mode === "Observe") {
    const first = plan.stages.findIndex((stage) => stage.batches.length > 0);
    const names = (plan.stages[first]?.batches[0]?.clusters ?? []).map((key) => code(short(key.slice(key.lastIndexOf("/") + 1), 100)));
    const opener = names.length === 0 ? "" : ` The first would be for ${names.slice(0, 5).join(", ")}${names.length > 5 ? ", …" : ""}.`;
    const what = merged ? "This PR was merged and started no run" : "Merging this PR starts no run";
    return `${what}, for the rollout's mode is \`Observe\`. A run would open ${each}: ${size}.${opener}`;
  }
  if (changesNothing(plan))
    return `**Nothing to change:** all ${clusters} ${countedWords(plan)} are pinned to it already. Merging this PR starts a run that only looks whether Argo CD shows them live and healthy.`;
  const baked = rollout.stages.some((stage) => stage.bakeMs > 0) ? ", and its bake is over" : "";
  return `Merging this PR starts a run: ${size}, ${each}. A batch goes on only when Argo CD shows its very change live and healthy${baked}.`;
}

function errorLine(problem: Problem): string {
  const { message, hint } = sayProblem(problem);
  return `**${problem.code}** ${cell(message, 400)}: ${cell(hint, 200)}.`;
}

function against(lines: readonly string[]): string {
  if (lines.length === 0) return "";
  const shown = lines.slice(0, 10).map((line) => `> ${line.replace(/\n/g, "\n> ")}`);
  return `> [!CAUTION]\n${shown.join("\n>\n")}`;
}

function modeSentence(rollout: Rollout): string {
  if (rollout.mode === "Observe") return "`mode: Observe`: the bot only comments.";
  const commit = rollout.delivery.strategy === "Commit";
  if (rollout.mode === "Propose") {
    return commit
      ? "`mode: Propose`: the bot says when, a person moves the branches of each batch."
      : "`mode: Propose`: the bot opens the batches' PRs, and each waits for a person to merge it.";
  }
  if (commit) return "The bot moves the branches or tags of each batch.";
  return rollout.delivery.merge === "Manual"
    ? "`merge: Manual`: the bot opens the batches' PRs, and each waits for a person to merge it or to comment `/promote`."
    : "The bot opens and merges the batches' PRs.";
}

function warnings(all: readonly (Warning | Problem)[]): string {
  if (all.length === 0) return "";
  const shown = all.slice(0, 12).map((warning) => `> - **${warning.code}** ${cell(sayWarning(warning), 400)}`);
  const more = all.length > 12 ? [`> - and ${all.length - 12} more: \`stagecoach lint\` lists them all`] : [];
  return `> [!WARNING]\n${[...shown, ...more].join("\n")}`;
}

/** The whole plan, folded: a row for each target, or where those are too many, for each batch. */
function planDetails(rollout: Rollout, plan: Plan, level: Level): string {
  if (level.batches === 0) return `Every batch and ${countedWord(plan)}: \`stagecoach plan ${plan.rollout}\`.`;
  const names = valuesOfEdits(rollout, plan.release);
  return level.targets ? everyTarget(plan, names) : everyBatch(plan, names, level);
}

function titleOf(plan: Plan): string {
  return `Every batch and ${countedWord(plan)}`;
}

function everyTarget(plan: Plan, names: Names): string {
  const row = (batch: string, target: PlannedTarget) => eachOnceNamed([batch, ...targetCells(target, names)], 1, plan);
  const rows = plan.stages.flatMap(({ batches, requeuedTargets }, stage) => [
    ...batches.flatMap(({ targets }, batch) => targets.map((target) => row(`${stage + 1}.${batch + 1}`, target))),
    ...requeuedTargets.map((target) => row(`${stage + 1} later`, target)),
  ]);
  return foldText(titleOf(plan), table(eachOnceNamed(["batch", countedWord(plan), "application", "change", "where"], 1, plan), rows));
}

function targetCells(target: PlannedTarget, names: Names): string[] {
  const [edit, ...others] = target.edits;
  const where = edit === undefined ? "–" : code(short(editPlace(edit), 200));
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return [code(short(shortName(target.cluster), 100)), code(short(target.application, 253)), changeOf(target, names), `${where}${more}`];
}

type Names = ReturnType<typeof valuesOfEdits>;

/** Of a release of several values those that change, each by name. */
function changeOf({ edits }: PlannedTarget, names: Names): string {
  const [edit] = edits;
  if (edit === undefined) return "–";
  const named = namedEdits(edits, names).filter(([, { from, to }]) => from !== to);
  if (named.length > 0) return named.map(([name, one]) => `${cell(name, 60)} ${movesOf(one)}`).join(", ");
  const isThere = edits.every(({ from, to: wanted }) => from === wanted);
  if (isThere && names.length > 0) return "all of it already";
  return isThere ? `${code(short(pinValue(edit, "to"), 100))} already` : movesOf(edit);
}

function movesOf(edit: Edit): string {
  const files = copiedWords(edit);
  const what = files === undefined ? "" : ` (files: ${files})`;
  return `${code(short(pinValue(edit, "from"), 100))} → ${code(short(pinValue(edit, "to"), 100))}${what}`;
}

function everyBatch(plan: Plan, names: Names, { clusters, batches }: Level): string {
  const rows = plan.stages.flatMap((stage, at) =>
    stage.batches.map((batch, index) => [`${at + 1}.${index + 1}`, ...batchCells(batch, names, clusters)]),
  );
  const left = rows.length > batches ? `${rows.length - batches} more batches. ` : "";
  const shown = table(["batch", countedWords(plan), "targets", "changes"], rows.slice(0, batches));
  return foldText(
    titleOf(plan),
    `${shown}\n\n${left}\`stagecoach plan ${plan.rollout}\` shows every ${countedWord(plan)} with its change.`,
  );
}

function batchCells(batch: PlannedBatch, values: Names, most: number): string[] {
  const names = batch.clusters.map((key) => code(short(shortName(key), 60)));
  const changes = [...new Set(batch.targets.slice(0, 1000).map((target) => changeOf(target, values)))];
  const shown = changes.slice(0, 2).join(", ") + (changes.length > 2 ? ", …" : "");
  return [firstOf(names, most, names.length, " "), String(batch.targets.length), shown];
}
