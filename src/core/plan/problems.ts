import type { Problem, ProblemReason } from "../reasons/problem.ts";
import type { SharedUnit } from "../reasons/problems-plan.ts";
import type { Rollout } from "../spec/rollout.ts";
import type { Over } from "./limits.ts";
import type { Target } from "./plan-types.ts";
import type { Unit } from "./units.ts";

/** A problem at a stage of a rollout. The plan knows no positions: lint and plan find the line by `path`. */
function atStage(rollout: Rollout, stage: number, reason: ProblemReason): Problem {
  return { ...reason, severity: "error", file: rollout.file, line: 1, column: 1, path: ["spec", "stages", stage] };
}

function stageName(rollout: Rollout, stage: number): string {
  return rollout.stages[stage]?.name ?? "";
}

function describe({ members, sharedPin }: Unit): SharedUnit {
  const names = members.slice(0, 5).map((member) => member.cluster.name);
  return { names, count: members.length, ...(sharedPin === undefined ? {} : { pin: { path: sharedPin.path, file: sharedPin.file } }) };
}

export function unitSplit(rollout: Rollout, stage: number, unit: Unit): Problem {
  return atStage(rollout, stage, { code: "UNIT_SPANS_STAGES", stage: stageName(rollout, stage), unit: describe(unit) });
}

export function unitTooLarge(rollout: Rollout, stage: number, unit: Unit, size: number): Problem {
  return atStage(rollout, stage, { code: "UNIT_TOO_LARGE", stage: stageName(rollout, stage), unit: describe(unit), size });
}

/** What cannot be cut any smaller, and is over a limit with nothing else in flight. `others`: units of the stage of which that is so, too. */
export function unitOverLimits(rollout: Rollout, stage: number, unit: Unit, over: Over, others: number): Problem {
  return atStage(rollout, stage, { code: "LIMITS_TOO_LOW", stage: stageName(rollout, stage), unit: describe(unit), over, others });
}

export function unitTopology(rollout: Rollout, stage: number, unit: Unit, topologyKey: string): Problem {
  return atStage(rollout, stage, { code: "UNIT_TOPOLOGY", stage: stageName(rollout, stage), unit: describe(unit), topologyKey });
}

export function strayTarget(rollout: Rollout, { application, cluster }: Target): Problem {
  const reason = { code: "UNKNOWN_CLUSTER", kind: "Target", application, cluster } as const;
  return { ...reason, severity: "error", file: rollout.file, line: 1, column: 1, path: [] };
}
