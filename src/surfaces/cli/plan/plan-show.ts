import { styleText } from "node:util";
import { defined } from "../../../core/base/defined.ts";
import { formatSelector } from "../../../core/base/selector.ts";
import { formatDuration } from "../../../core/base/time.ts";
import type { NextBatch } from "../../../core/plan/next.ts";
import { changesNothing, type Edit, type Plan, type PlannedTarget, targetsOf } from "../../../core/plan/plan-types.ts";
import { pinsOf } from "../../../core/plan/steps.ts";
import type { Problem } from "../../../core/reasons/problem.ts";
import { sayProblem, sayWarning } from "../../../core/report/reasons/problems.ts";
import { sayUncovered } from "../../../core/report/reasons/problems-plan.ts";
import type { PinTemplate, Quantity, Rollout } from "../../../core/spec/rollout.ts";
import { visible } from "../print.ts";
import { stepLines } from "./plan-steps.ts";

/** One target in JSON. A target with several pins has the first in `from`, `to`, `file` and `path`, and all of them in `edits`. */
interface TargetRow {
  cluster: string;
  application: string;
  from: string | null;
  to: string | null;
  file: string | null;
  path: string | null;
  edits?: { from: string | null; to: string; file: string; path: string }[];
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
  warnings: ShownWarning[];
}

interface ShownWarning {
  code: string;
  message: string;
}

/** Short names of keys (`controlPlane/cluster`), where they are unique. */
function shortNames(keys: readonly string[]): (key: string) => string {
  const count = new Map<string, number>();
  const short = (key: string) => key.slice(key.lastIndexOf("/") + 1);
  for (const key of new Set(keys)) count.set(short(key), (count.get(short(key)) ?? 0) + 1);
  return (key) => (count.get(short(key)) === 1 ? short(key) : key);
}

function clusterKeys(plan: Plan): string[] {
  return [...plan.stages.flatMap((stage) => [...stage.clusters, ...stage.requeued]), ...plan.uncovered.map((one) => one.cluster)];
}

export function toJson(plan: Plan, next: NextBatch | null, problems: readonly Problem[]): PlanJson {
  const cluster = shortNames(clusterKeys(plan));
  const application = shortNames(targetsOf(plan).map((target) => target.key));
  const row = (target: Pick<PlannedTarget, "key" | "cluster" | "edits">): TargetRow => ({
    cluster: cluster(target.cluster),
    application: application(target.key),
    ...first(target.edits),
    ...defined({ edits: target.edits.length > 1 ? target.edits.map(({ from, to, file, path }) => ({ from, to, file, path })) : undefined }),
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
        return { code: problem.code, message: `${message}; ${hint}` };
      }),
  ];
}

type Style = (format: "bold" | "dim" | "yellow" | "cyan" | "green", text: string) => string;

/** For the terminal: a table of stages, batches and targets. Colour only where it is shown on one. */
export function toText(rollout: Rollout, plan: Plan, next: NextBatch | null, problems: readonly Problem[], colour: boolean): string {
  const style: Style = (format, text) => (colour ? styleText(format, visible(text), { validateStream: false }) : visible(text));
  const short = shortNames(clusterKeys(plan));
  const cluster = (key: string) => visible(short(key));
  const clusters = plan.stages.reduce((sum, stage) => sum + stage.clusters.length + stage.requeued.length, 0);
  const batches = plan.stages.reduce((sum, stage) => sum + stage.batches.length, 0);
  const release = releaseOf(plan);
  const version =
    release === null
      ? "(no release)"
      : typeof release === "string"
        ? release
        : Object.entries(release)
            .map(([name, value]) => `${name} ${value}`)
            .join(", ");
  const lines = [
    `${style("bold", plan.rollout)} → ${style("bold", version)}   ${count(clusters, "cluster")} in ${count(batches, "batch")} over ${count(plan.stages.length, "stage")}   ${style("dim", plan.hash.slice(0, 12))}`,
  ];
  if (release !== null) lines.push(...pinsOf(rollout).map((pin) => style("dim", `  writes ${pinPlace(pin)}`)));
  lines.push("");
  const widths: Widths = {
    cluster: widest(clusterKeys(plan).map(cluster)),
    application: widest(targetsOf(plan).map((target) => target.application)),
  };
  for (const [i, stage] of plan.stages.entries()) lines.push(...stageLines(rollout, i, stage, cluster, widths, style));
  if (next !== null)
    lines.push(
      `${style("green", "next")}  ${visible(next.stage)}, batch ${next.batch}: ${next.targets.map((target) => cluster(target.cluster)).join(", ")}`,
      "",
    );
  if (changesNothing(plan))
    lines.push(`${style("green", "nothing to do")}  every cluster has it already; --to VERSION plans for another`, "");
  for (const { cluster: key, why } of plan.uncovered)
    lines.push(`${style("yellow", "never")}  ${cluster(key)}: ${visible(sayUncovered(why))}`);
  if (plan.uncovered.length > 0) lines.push("");
  for (const warning of allWarnings(plan, problems))
    lines.push(`${style("yellow", "warning")} ${warning.code}: ${visible(warning.message)}`);
  return `${lines.join("\n").trimEnd()}\n`;
}

function stageLines(
  rollout: Rollout,
  index: number,
  stage: Plan["stages"][number],
  cluster: (key: string) => string,
  widths: Widths,
  style: Style,
): string[] {
  const spec = rollout.stages[index];
  const taken = stage.clusters.length + stage.requeued.length;
  const facts = [count(taken, "cluster"), `${stage.maxUnavailable} at once`];
  if (spec !== undefined) {
    facts.unshift(formatSelector(spec.selector));
    if (isLimited(spec.maxClusters)) facts.push(`at most ${quantity(spec.maxClusters)}`);
    if (spec.topologyKey !== undefined) facts.push(`one per ${spec.topologyKey}`);
    if (spec.batching === "Rolling") facts.push("rolling");
    if (spec.bakeMs > 0) facts.push(`bake ${formatDuration(spec.bakeMs)}`);
  }
  const lines = [`${style("cyan", String(index + 1))}  ${style("bold", stage.name)}   ${style("dim", facts.join(" · "))}`];
  for (const [b, batch] of stage.batches.entries()) {
    for (const [t, target] of batch.targets.entries()) {
      const label = t === 0 ? `${index + 1}.${b + 1}` : "";
      lines.push(
        `   ${style("cyan", label.padEnd(6))} ${cluster(target.cluster).padEnd(widths.cluster)}  ${visible(target.application).padEnd(widths.application)}  ${visible(change(target))}`.trimEnd(),
      );
    }
  }
  if (stage.requeued.length > 0 && spec?.requeue !== undefined) {
    const { selector, attempts, intervalMs } = spec.requeue;
    lines.push(
      `   ${style("yellow", "later".padEnd(6))} ${stage.requeued.map(cluster).join(", ")}  ${style("dim", `${formatSelector(selector)}: looked at every ${formatDuration(intervalMs)}, ${attempts} times`)}`,
    );
  }
  for (const line of stepLines(rollout, index, stage, cluster)) lines.push(style("dim", line));
  return [...lines, ""];
}

interface Widths {
  cluster: number;
  application: number;
}

function widest(texts: readonly string[]): number {
  let width = 0;
  for (const text of texts) width = Math.max(width, text.length);
  return width;
}

function pinPlace(pin: PinTemplate): string {
  if (pin.kind === "branch") return `branch ${pin.branch}`;
  if (pin.kind === "clusterGenerator") return `${pin.file}  ${pin.old} → ${pin.new}, ${pin.path}`;
  return `${pin.file}  ${pin.path}${pin.part === undefined ? "" : ` (${pin.part})`}`;
}

function change({ edits }: PlannedTarget): string {
  return edits.map((edit) => (edit.from === edit.to ? `${edit.to} already` : `${edit.from ?? "–"} → ${edit.to}`)).join(", ");
}

function isLimited(limit: Quantity): boolean {
  return "count" in limit || limit.percent < 100;
}

function quantity(limit: Quantity): string {
  return "count" in limit ? String(limit.count) : `${limit.percent}%`;
}

export function count(n: number, noun: string): string {
  const plural = noun.endsWith("ch") ? `${noun}es` : `${noun}s`;
  return `${n} ${n === 1 ? noun : plural}`;
}
