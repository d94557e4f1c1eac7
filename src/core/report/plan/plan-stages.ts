import { formatDuration } from "../../base/time.ts";
import { mostAtOnce, type Plan, type PlannedStage } from "../../plan/plan-types.ts";
import { weightsOf } from "../../plan/steps.ts";
import type { Rollout, Stage } from "../../spec/rollout.ts";
import type { ScopedWindow } from "../../spec/windows.ts";
import { countedWords } from "../counted.ts";
import { cell, code } from "../escape.ts";
import { present, table } from "../markdown.ts";
import { stepsTable } from "../steps.ts";
import { shortName } from "../words.ts";
import { type Expected, rough } from "./duration.ts";
import { short } from "./plan-chart.ts";

/** How much of a plan is told. Numbers are the most of each that is listed. */
export interface Level {
  /** A row for each target; else one for each batch. */
  targets: boolean;
  clusters: number;
  batches: number;
  stages: number;
  requeued: number;
}

/** What each stage of the plan waits for, in words. */
export function gatesOfStages(rollout: Rollout, plan: Plan): string[][] {
  return plan.stages.map((_, index) => gatesOf(rollout, rollout.stages[index]));
}

function gatesOf(rollout: Rollout, stage: Stage | undefined): string[] {
  return gatesOfStage(rollout, stage).map(({ text }) => text);
}

/** `isBefore`: a batch waits for it before it merges; `isAfter`: the next one does after that. */
interface StageGate {
  text: string;
  isBefore?: boolean;
  isAfter?: boolean;
}

/** What each batch of a stage waits for, in words. Called by the plan's pages and by the model. */
export function gatesOfStage(rollout: Pick<Rollout, "mode" | "delivery" | "windows" | "dependsOn">, stage: Stage | undefined): StageGate[] {
  const gates: StageGate[] = [{ text: "health", isAfter: true }];
  const before = (text: string) => gates.push({ text, isBefore: true });
  const after = (text: string) => gates.push({ text, isAfter: true });
  const { approval, analysis, hooks, bakeMs = 0, steps, sync, jitterMs = 0 } = stage ?? {};
  if (approval !== undefined) {
    const teams = short(approval.teams.join(", "), 60);
    const not = approval.notBy?.includes("merger") === true ? ", not by who merged it" : "";
    before(`${approval.count > 1 ? `${approval.count} approvals` : "approval"}${teams === "" ? "" : ` of ${teams}`}${not}`);
  }
  const isForStage = ({ stages }: ScopedWindow) => stage === undefined || stages?.includes(stage.name) !== false;
  if ((rollout.windows ?? []).some(isForStage) || (stage?.windows ?? []).length > 0) before("windows");
  for (const other of (rollout.dependsOn ?? []).slice(0, 3)) before(`after ${short(other.rollout, 40)}`);
  if (sync !== undefined) after(sync === "Wait" ? "a person syncs in Argo CD" : "Argo CD is asked to sync");
  if (bakeMs > 0) after(`bake ${formatDuration(bakeMs)}`);
  if (steps !== undefined) after(`steps ${weightsOf(steps).join(" → ")}`);
  if (analysis !== undefined) {
    const { templates, when } = analysis;
    const text = `analysis ${short(templates.map(({ templateName }) => templateName).join(", "), 60)} (${when.join(", ")})`;
    gates.push({ text, isBefore: when.includes("BeforeStage"), isAfter: when.some((one) => one !== "BeforeStage") });
  }
  if ((hooks?.before.length ?? 0) > 0) before("hooks before");
  if ((hooks?.after.length ?? 0) > 0) after("hooks after");
  if (jitterMs > 0) before(`up to ${formatDuration(jitterMs)} apart`);
  if (rollout.mode === "Propose" || rollout.delivery.merge === "Manual") before("a person merges");
  return gates;
}

/** A row for each stage. The expected duration stands there where past runs tell one. */
export function stageTable(rollout: Rollout, plan: Plan, expected: Expected | undefined, level: Level): string {
  const timed = expected?.stages.some((stage) => stage !== undefined) === true;
  const rows = plan.stages.map((stage, index) => {
    const gates = gatesOf(rollout, rollout.stages[index]).map((gate) => cell(gate, 100));
    const { name, clusters, batches } = stage;
    const first = [index + 1, cell(name, 80), clusters.length, batches.length, mostAtOnce(stage), gates.join(", ")];
    return [...first, ...(timed ? [timeOf(expected, index)] : []), requeuedOf(stage, level.requeued)];
  });
  const time = timed ? [expected?.windows === true ? "expected" : "took before"] : [];
  const head = ["", "stage", countedWords(plan), "batches", "at once", "gates", ...time, "requeued to its end"];
  const stages = table(head, rows, level.stages, (left) => `and ${left} more stages.`);
  return present(stages, stepsTable(rollout, plan, level)).join("\n\n");
}

function timeOf(expected: Expected | undefined, index: number): string {
  const time = expected?.stages[index];
  if (time === undefined) return "–";
  const [usual, slow] = [rough(time.p50), rough(time.p90)];
  return `${usual}${usual === slow ? "" : ` – ${slow}`} (${time.runs})`;
}

function requeuedOf({ requeued }: PlannedStage, most: number): string {
  if (requeued.length === 0) return "–";
  const names = requeued.slice(0, most).map((key) => code(short(shortName(key), 60)));
  const more = requeued.length - names.length;
  return `${names.join(" ")}${more > 0 ? `${names.length === 0 ? "" : " and "}${more}${names.length === 0 ? "" : " more"}` : ""}`;
}
