import { formatDuration } from "../base/time.ts";
import type { Plan, PlannedStage } from "../plan/plan-types.ts";
import { type Wait, waitsAfter, weightsOf } from "../plan/steps.ts";
import type { Batch, BatchTarget, Run } from "../run/state/run.ts";
import { hasGoneOn, isMidStep } from "../run/state/steps.ts";
import type { Rollout, Step } from "../spec/rollout.ts";
import { countedWord, countedWords } from "./counted.ts";
import { cell, code } from "./escape.ts";
import { present, table } from "./markdown.ts";
import { short } from "./plan/plan-chart.ts";
import { shortName } from "./words.ts";

/** Lists what a batch holds that no later weight of it has taken over, nor was put to the stage's end. Each cluster in one place. */
export function targetsShown(run: Pick<Run, "batches" | "requeued">, batch: Batch): BatchTarget[] {
  if (!isMidStep(batch)) return withoutPutOff(run, batch);
  const later = run.batches.filter((one) => one.number > batch.number && one.stage === batch.stage && one.ofStage === batch.ofStage);
  const taken = new Set(later.flatMap((one) => (one.phase === "Closed" ? [] : one.targets.map(({ key }) => key))));
  return batch.targets.filter((target) => !taken.has(target.key) && !hasGoneOn(batch, target));
}

/** A cluster put off is shown where it is tried again, or where it waits for that. */
function withoutPutOff(run: Pick<Run, "batches" | "requeued">, batch: Batch): BatchTarget[] {
  if (!batch.targets.some(({ phase }) => phase === "Requeued")) return batch.targets;
  const later = run.batches.filter((one) => one.number > batch.number && one.phase !== "Closed");
  const elsewhere = new Set([...run.requeued, ...later.flatMap((one) => one.targets)].map(({ cluster }) => cluster));
  return batch.targets.filter(({ phase, cluster }) => phase !== "Requeued" || !elsewhere.has(cluster));
}

/** Shows the weights of each stage with steps, what follows each, and how a batch's replicas are split. */
export function stepsTable(rollout: Rollout, plan: Plan, most: { stages: number; batches: number; clusters: number }): string {
  const parts = plan.stages.slice(0, most.stages).flatMap((stage, index) => {
    const steps = rollout.stages[index]?.steps;
    return steps === undefined ? [] : [stageSteps(rollout, stage, steps, most)];
  });
  return parts.join("\n\n");
}

function stageSteps(rollout: Rollout, stage: PlannedStage, steps: readonly Step[], most: { batches: number; clusters: number }): string {
  const weights = weightsOf(steps);
  const rows = weights.map((weight, at) => {
    const waits = waitsAfter(steps, at + 1).map(waitWords);
    return [`${at + 1} of ${weights.length}`, weight, cell(waits.join(", then ") || "–", 300)];
  });
  const head = `Steps of ${cell(short(stage.name, 80))}, one pull request each:`;
  return present(head, table(["step", "weight", "then"], rows), replicaSplit(rollout, stage, weights, most)).join("\n\n");
}

export function waitWords(wait: Wait): string {
  if (wait.kind === "analysis") return `analysis ${short(wait.analysis.templates.map(({ templateName }) => templateName).join(", "), 60)}`;
  return wait.durationMs === undefined ? "pause until /promote" : `pause ${formatDuration(wait.durationMs)}`;
}

/** A row for each cluster of the first batches: of the first pin whose replicas are split, else of the first that has a weight. */
function replicaSplit(
  rollout: Rollout,
  stage: PlannedStage,
  weights: readonly number[],
  most: { batches: number; clusters: number },
): string {
  const pins = rollout.weightPins ?? [];
  const pin = Math.max(
    0,
    pins.findIndex(({ replicas }) => replicas !== undefined),
  );
  if (most.batches === 0) return "";
  const index = rollout.pins.length + pin;
  const rows: (string | number)[][] = [];
  for (const [at, batch] of stage.batches.entries()) {
    const seen = new Set<string>();
    for (const { cluster, edits } of batch.targets) {
      const steps = edits[index]?.steps;
      if (steps === undefined || seen.has(cluster)) continue;
      seen.add(cluster);
      rows.push([at + 1, code(short(shortName(cluster), 60)), ...steps.map((step) => code(short(step, 40)))]);
    }
  }
  const head = ["batch", countedWord(rollout), ...weights.map((weight) => `at ${weight}`)];
  if (rows.length === 0) return "";
  const replicas = pins[pin]?.replicas;
  const words =
    replicas === undefined
      ? `What each ${countedWord(rollout)} has at each weight:`
      : `${replicas} replicas over the ${countedWords(rollout)} of each batch:`;
  return `${words}\n\n${table(head, rows, Math.max(1, most.clusters), (left) => `and ${left} more ${countedWords(rollout)}.`)}`;
}
