import { waitsAfter } from "../../plan/steps.ts";
import type { Stage, StageAnalysis } from "../../spec/rollout.ts";
import type { Run } from "../state/run.ts";

/** What is measured in a place: by a step of the batch where it names one, else by the stage. undefined: nothing, as far as the run knows. */
export function analysisSpec(
  run: Pick<Run, "spec" | "batches">,
  place: { stage: number; batch?: number | undefined; step?: number | undefined },
): StageAnalysis | undefined {
  const stage = run.spec.stages[place.stage];
  if (place.step === undefined) return stage?.analysis;
  const index = run.batches[(place.batch ?? 0) - 1]?.step?.index;
  const wait = index === undefined ? undefined : waitsAfter(stage?.steps, index)[place.step];
  return wait?.kind === "analysis" ? wait.analysis : undefined;
}

/** Whether anything is ever measured in a stage. */
export function measuresAnything({ analysis, steps = [] }: Pick<Stage, "analysis" | "steps">): boolean {
  return analysis !== undefined || steps.some((step) => step.kind === "analysis");
}
