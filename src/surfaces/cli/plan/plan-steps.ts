import type { PlannedStage } from "../../../core/plan/plan-types.ts";
import { waitsAfter, weightsOf } from "../../../core/plan/steps.ts";
import { short } from "../../../core/report/plan/plan-chart.ts";
import { waitWords } from "../../../core/report/steps.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { alignColumns } from "../print.ts";

/**
 * The canary steps of a stage for a terminal: a line for each weight with what follows it, then what is written for each cluster at each of
 * them. Empty for a stage without steps. `cluster` gives a cluster's name as it is shown.
 */
export function stepLines(rollout: Rollout, index: number, stage: PlannedStage, cluster: (key: string) => string): string[] {
  const steps = rollout.stages[index]?.steps;
  if (steps === undefined) return [];
  const weights = weightsOf(steps);
  const rows = weights.map((weight, at) => {
    const waits = waitsAfter(steps, at + 1).map(waitWords);
    return [`step ${at + 1} of ${weights.length}`, `weight ${weight}`, waits.length === 0 ? "" : `then ${waits.join(", then ")}`];
  });
  return [...table(rows), ...table(weightRows(rollout, stage, weights, cluster))];
}

function weightRows(rollout: Rollout, stage: PlannedStage, weights: readonly number[], cluster: (key: string) => string): string[][] {
  const pins = rollout.weightPins ?? [];
  const pin = Math.max(
    0,
    pins.findIndex(({ replicas }) => replicas !== undefined),
  );
  const replicas = pins[pin]?.replicas;
  const rows: string[][] = [];
  for (const [at, batch] of stage.batches.entries()) {
    const seen = new Set<string>();
    for (const target of batch.targets) {
      const written = target.edits[rollout.pins.length + pin]?.steps;
      if (written === undefined || seen.has(target.cluster)) continue;
      seen.add(target.cluster);
      rows.push([`batch ${at + 1}`, cluster(target.cluster), ...written.map((value) => short(value, 40))]);
    }
  }
  if (rows.length === 0) return [];
  const what = replicas === undefined ? "weights" : `${replicas} replicas`;
  return [[what, "", ...weights.map((weight) => `at ${weight}`)], ...rows];
}

function table(rows: readonly string[][]): string[] {
  return alignColumns(rows).map((line) => `          ${line}`);
}
