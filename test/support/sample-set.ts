import type { Edit, Plan, PlannedTarget } from "../../src/core/plan/plan-types.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import type { Rollout } from "../../src/core/spec/rollout.ts";
import { samplePlan, sampleRollout, sampleRun } from "./sample-run.ts";

/** Values that the samples release together: the chart stays as it is, and the sidecar goes down. */
const NAMES = ["image", "sidecar", "chart"];
const FROM = ["v1.4.1", "1.1.0", "7.0.0"];
export const SET = { image: "v1.4.2", sidecar: "1.0.9", chart: "7.0.0" };

export function rolloutOfSet(change: Partial<Rollout> = {}): Rollout {
  const file = "releases/payments.yaml";
  const values = Object.fromEntries(NAMES.map((name) => [name, { file, path: name }]));
  const pins = NAMES.map((name) => ({
    ...{ kind: "value" as const, file: "{{ cluster.name }}.yaml", path: name, create: false },
    value: `{{ release.values.${name} }}`,
  }));
  return sampleRollout({ release: { kind: "values", values, attempt: 1 }, pins, ...change });
}

/** One edit a value, in the pins' order. */
export function editsOfSet(cluster: string): Edit[] {
  const to = Object.values(SET);
  return NAMES.map((name, i) => ({ kind: "value", file: `${cluster}.yaml`, path: name, from: FROM[i] ?? "", to: to[i] ?? "" }));
}

function withSet<T extends PlannedTarget>(target: T): T {
  return { ...target, edits: editsOfSet(target.cluster.slice(4)) };
}

export function planOfSet(): Plan {
  const plan = samplePlan();
  return {
    ...plan,
    release: { ...plan.release, values: SET },
    stages: plan.stages.map((stage) => ({
      ...stage,
      batches: stage.batches.map((batch) => ({ ...batch, targets: batch.targets.map(withSet) })),
      requeuedTargets: stage.requeuedTargets.map(withSet),
    })),
  };
}

/** The sample run, carrying the set. */
export function runOfSet(change: Partial<Run> = {}): Run {
  const run = sampleRun();
  const plan = planOfSet();
  const batches = run.batches.map((batch) => ({ ...batch, targets: batch.targets.map(withSet) }));
  return { ...run, spec: rolloutOfSet(), release: plan.release, plan, batches, ...change };
}
