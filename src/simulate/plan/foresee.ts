import { targetsOf } from "../../core/plan/plan-types.ts";
import type { Foreseen } from "../../core/report/simulated.ts";
import { clustersOfPlan } from "../../core/run/start.ts";
import { rowsOf } from "./rows.ts";
import { type SimulateInput, simulate } from "./simulate.ts";

type Planned = Pick<SimulateInput, "rollout" | "plan" | "clusters" | "bounds">;

/** Beyond these simulated runs are not worth the wait: rollouts, and their targets together. 200 take about a second. */
const MOST_ROLLOUTS = 5;
const MOST_TARGETS = 200;
/** Of one run. A proposed rollout needs about twenty for a batch. */
const MOST_STEPS = 10_000;
const SEED = 1;

/** Simulates a run of each with its next release, the same for the same plans. undefined: it would take too long. */
export function foreseeAll(planned: readonly Planned[]): (Foreseen | undefined)[] {
  let rollouts = 0;
  let left = MOST_TARGETS;
  return planned.map((one) => {
    const targets = targetsOf(one.plan).length;
    if (rollouts === MOST_ROLLOUTS || targets > left) return undefined;
    rollouts += 1;
    left -= targets;
    return foresee(one);
  });
}

/** As if people had nothing to do: how long they take nobody knows. */
function foresee(planned: Planned): Foreseen | undefined {
  const [first] = planned.plan.stages.flatMap((stage) => stage.clusters);
  const input = { ...planned, rollout: { ...planned.rollout, mode: "Run" as const }, times: undefined, mostSteps: MOST_STEPS };
  const well = simulate({ ...input, faults: [] }, SEED);
  const bad = first === undefined ? well : simulate({ ...input, faults: [{ cluster: first, kind: "degraded", batch: undefined }] }, SEED);
  if (well.violations.length + bad.violations.length > 0) return undefined;
  const { phase, why, endless, tookMs, timeline } = well;
  const clusters = clustersOfPlan(planned.plan).length;
  return { clusters, phase, why, endless, tookMs, rows: rowsOf(timeline), reached: bad.stopped ? bad.blastRadius : undefined };
}
