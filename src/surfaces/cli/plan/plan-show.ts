import { styleText } from "node:util";
import { count } from "../../../core/base/count.ts";
import { defined } from "../../../core/base/defined.ts";
import { sayRef } from "../../../core/base/ref-name.ts";
import { formatSelector } from "../../../core/base/selector.ts";
import { formatDuration } from "../../../core/base/time.ts";
import type { NextBatch } from "../../../core/plan/next.ts";
import { changesNothing, type Edit, mostAtOnce, type Plan, type PlannedTarget, targetsOf } from "../../../core/plan/plan-types.ts";
import { pinsOf } from "../../../core/plan/steps.ts";
import { namedEdits, valueChanges, valuesOfEdits } from "../../../core/plan/values.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import { countedWord, countPhrase, putOffPhrase } from "../../../core/report/counted.ts";
import { withoutMarkdown } from "../../../core/report/escape.ts";
import { amount, keepsByLabel, ruleLines } from "../../../core/report/plan/plan-rules.ts";
import { type RulesJson, type RulesNow, rulesJson } from "../../../core/report/plan/rules-data.ts";
import { sayUncovered } from "../../../core/report/reasons/problems/plan.ts";
import { sayProblem, sayWarning } from "../../../core/report/reasons/problems/problems.ts";
import { shownValues, valueRows } from "../../../core/report/values.ts";
import { changeWords, releaseName, shortName } from "../../../core/report/words.ts";
import type { PinTemplate, Quantity, Rollout } from "../../../core/spec/rollout.ts";
import { isRolloutFile } from "../../../engine/config-repo/project.ts";
import { alignColumns, foldLine, visible } from "../print.ts";
import type { PlanMade } from "./plan-make.ts";
import { stepLines } from "./plan-steps.ts";

/** One target in JSON. A target with several pins has the first in `from`, `to`, `file` and `path`, and all of them in `edits`. */
interface TargetRow {
  cluster: string;
  application: string;
  from: string | null;
  to: string | null;
  file: string | null;
  path: string | null;
  /** `value`: which of several values of the release. */
  edits?: { value?: string; from: string | null; to: string; file: string; path: string }[];
}

/** The documented JSON of `stagecoach plan -o json`. */
export interface PlanJson {
  rollout: string;
  /** The version; an object where the release has values by name; null without one. */
  release: string | Record<string, string> | null;
  hash: string;
  stages: { name: string; clusters: string[]; requeued: string[]; batches: { targets: TargetRow[] }[] }[];
  next: { stage: string; batch: number; targets: TargetRow[] } | null;
  uncovered: string[];
  /** What the run would go by besides its stages. */
  rules: RulesJson;
  warnings: ShownWarning[];
}

interface ShownWarning {
  code: string;
  message: string;
}

/** Short names of keys (`controlPlane/cluster`), where they are unique. */
function shortNames(keys: readonly string[]): (key: string) => string {
  const known = Map.groupBy(new Set(keys), shortName);
  return (key) => (known.get(shortName(key))?.length === 1 ? shortName(key) : key);
}

function clusterKeys(plan: Plan): string[] {
  return [...plan.stages.flatMap((stage) => [...stage.clusters, ...stage.requeued]), ...plan.uncovered.map((one) => one.cluster)];
}

export function toJson(rollout: Rollout, plan: Plan, { next, problems }: Pick<PlanMade, "next" | "problems">, rules: RulesNow): PlanJson {
  const names = valuesOfEdits(rollout, plan.release);
  const cluster = shortNames(clusterKeys(plan));
  const application = shortNames(targetsOf(plan).map((target) => target.key));
  const row = (target: Pick<PlannedTarget, "key" | "cluster" | "edits">): TargetRow => ({
    cluster: cluster(target.cluster),
    application: application(target.key),
    ...first(target.edits),
    ...defined({
      edits:
        target.edits.length > 1
          ? target.edits.map(({ from, to, file, path }, i) => ({ ...defined({ value: names[i] }), from, to, file, path }))
          : undefined,
    }),
  });
  return {
    rollout: plan.rollout,
    release: releaseOf(plan),
    hash: plan.hash,
    stages: plan.stages.map((stage) => ({
      name: stage.name,
      clusters: stage.clusters.map(cluster),
      requeued: stage.requeued.map(cluster),
      batches: stage.batches.map((batch) => ({ targets: batch.targets.map(row) })),
    })),
    next: next === null ? null : { stage: next.stage, batch: next.batch, targets: next.targets.map(row) },
    uncovered: plan.uncovered.map((one) => cluster(one.cluster)),
    rules: rulesJson(rollout, rules, ruleLines(rollout, rules, plan).map(withoutMarkdown)),
    warnings: allWarnings(plan, problems),
  };
}

function first(edits: readonly Edit[]): Pick<TargetRow, "from" | "to" | "file" | "path"> {
  const [edit] = edits;
  return edit === undefined
    ? { from: null, to: null, file: null, path: null }
    : { from: edit.from, to: edit.to, file: edit.file, path: edit.path };
}

function releaseOf({ release }: Plan): PlanJson["release"] {
  const names = Object.keys(release.values);
  if (names.length === 0) return null;
  return names.length === 1 && names[0] === "version" ? (release.values["version"] ?? null) : release.values;
}

/** The plan's own, and what was noticed on the way to it. */
export function allWarnings(plan: Plan, problems: readonly Problem[]): ShownWarning[] {
  return [
    ...plan.warnings.map((warning) => ({ code: warning.code, message: sayWarning(warning) })),
    ...problems
      .filter((problem) => problem.severity === "warning")
      .map((problem) => {
        const { message, hint } = sayProblem(problem);
        // Of the rollout itself the plan shows more than its line would.
        const where = isRolloutFile(problem.file) ? "" : `${problem.file}:${problem.line}: `;
        return { code: problem.code, message: `${where}${message}; ${hint}` };
      }),
  ];
}

type Style = (format: "bold" | "dim" | "yellow" | "cyan" | "green", text: string) => string;

/** For the terminal: a table of stages, batches and targets. Colour only where it is shown on one. */
export function toText(
  rollout: Rollout,
  plan: Plan,
  next: NextBatch | null,
  problems: readonly Problem[],
  { colour, columns, rules }: { colour: boolean; columns?: number | undefined; rules?: RulesNow | undefined },
): string {
  const style: Style = (format, text) => (colour ? styleText(format, visible(text), { validateStream: false }) : visible(text));
  const named = shortNames(clusterKeys(plan));
  const cluster = (key: string) => visible(named(key));
  const clusters = plan.stages.reduce((sum, stage) => sum + stage.clusters.length + stage.requeued.length, 0);
  const batches = plan.stages.reduce((sum, stage) => sum + stage.batches.length, 0);
  const release = releaseOf(plan);
  const values = shownValues(valueChanges(rollout, plan));
  const version = release === null ? "(no release)" : values === undefined ? releaseName(plan.release.values) : `${values.length} values`;
  const size = `${countPhrase(clusters, plan)} in ${count(batches, "batch")} over ${count(plan.stages.length, "stage")}${putOffPhrase(plan.stages)}`;
  const lines = [`${style("bold", plan.rollout)} → ${style("bold", version)}   ${size}   ${style("dim", plan.hash.slice(0, 12))}`];
  lines.push(...alignColumns(valueRows(values ?? [])).map((line) => `  ${visible(line)}`));
  if (release !== null) lines.push(...pinsOf(rollout).map((pin) => style("dim", `  writes ${pinPlace(pin)}`)));
  lines.push("");
  const widths = [clusterKeys(plan).map(cluster), targetsOf(plan).map((target) => target.application)].map((texts) =>
    texts.reduce((most, text) => Math.max(most, text.length), 0),
  );
  for (const i of plan.stages.keys()) lines.push(...stageLines(rollout, i, plan, cluster, widths, style));
  const ruled =
    rules === undefined ? [] : ruleLines(rollout, rules, plan).map((line) => `${style("cyan", "rule")}  ${visible(withoutMarkdown(line))}`);
  if (ruled.length > 0) lines.push(...ruled, "");
  if (next !== null) {
    const who = next.targets.map((target) => cluster(target.cluster)).join(", ");
    lines.push(`${style("green", "next")}  ${visible(next.stage)}, batch ${next.batch}: ${who}`, "");
  }
  if (changesNothing(plan))
    lines.push(`${style("green", "nothing to do")}  every ${countedWord(plan)} has it already; --to VERSION plans for another`, "");
  for (const { cluster: key, why } of plan.uncovered)
    lines.push(`${style("yellow", "never")}  ${cluster(key)}: ${visible(sayUncovered(why))}`);
  if (plan.uncovered.length > 0) lines.push("");
  for (const warning of allWarnings(plan, problems))
    lines.push(`${style("yellow", "warning")} ${warning.code}: ${visible(warning.message)}`);
  const shown = lines.flatMap((line) => foldLine(line, columns));
  return `${shown.join("\n").trimEnd()}\n`;
}

function stageLines(
  rollout: Rollout,
  index: number,
  plan: Plan,
  cluster: (key: string) => string,
  [wide = 0, wider = 0]: readonly number[],
  style: Style,
): string[] {
  const stage = plan.stages[index];
  if (stage === undefined) return [];
  const names = valuesOfEdits(rollout, plan.release);
  const spec = rollout.stages[index];
  const taken = stage.clusters.length + stage.requeued.length;
  const facts = [countPhrase(taken, rollout), `${mostAtOnce(stage)} at once`];
  if (spec !== undefined) {
    facts.unshift(formatSelector(spec.selector));
    if (isLimited(spec.maxClusters)) facts.push(`at most ${amount(spec.maxClusters)}`);
    if (spec.topologyKey !== undefined && keepsByLabel(stage.name, plan)) facts.push(`one per ${spec.topologyKey}`);
    if (spec.batching === "Rolling") facts.push("rolling");
    if (spec.bakeMs > 0) facts.push(`bake ${formatDuration(spec.bakeMs)}`);
  }
  const lines = [`${style("cyan", String(index + 1))}  ${style("bold", stage.name)}   ${style("dim", facts.join(" · "))}`];
  for (const [b, batch] of stage.batches.entries()) {
    for (const [t, target] of batch.targets.entries()) {
      const label = t === 0 ? style("cyan", `${index + 1}.${b + 1}`.padEnd(6)) : " ".repeat(6);
      const place = `${cluster(target.cluster).padEnd(wide)}  ${visible(target.application).padEnd(wider)}`;
      lines.push(`   ${label} ${place}  ${visible(change(target, names))}`.trimEnd());
    }
  }
  if (stage.requeued.length > 0 && spec?.requeue !== undefined) {
    const { selector, attempts, intervalMs } = spec.requeue;
    const looks = `${formatSelector(selector)}: looked at every ${formatDuration(intervalMs)}, ${attempts} times`;
    lines.push(`   ${style("yellow", "later".padEnd(6))} ${stage.requeued.map(cluster).join(", ")}  ${style("dim", looks)}`);
  }
  for (const line of stepLines(rollout, index, stage, cluster)) lines.push(style("dim", line));
  return [...lines, ""];
}

function pinPlace(pin: PinTemplate): string {
  if (pin.kind === "branch") return sayRef(pin.branch);
  if (pin.kind === "copy") return `${pin.from}/ → ${pin.to}/`;
  if (pin.kind === "clusterGenerator") return `${pin.file}  ${pin.old} → ${pin.new}, ${pin.path}`;
  return `${pin.file}  ${pin.path}${pin.part === undefined ? "" : ` (${pin.part})`}`;
}

/** Of a release of several values those that change, each by name. */
function change({ edits }: PlannedTarget, names: ReturnType<typeof valuesOfEdits>): string {
  const named = namedEdits(edits, names);
  const moving = named.filter(([, { from, to }]) => from !== to);
  if (moving.length > 0) return moving.map(([name, { from, to }]) => `${name} ${from ?? "–"} → ${to}`).join(", ");
  if (named.length > 0 && edits.every(({ from, to }) => from === to)) return "all of it already";
  return edits.map(changeWords).join(", ");
}

function isLimited(limit: Quantity): boolean {
  return "count" in limit || limit.percent < 100;
}
