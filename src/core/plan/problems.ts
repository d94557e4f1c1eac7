import type { Problem } from "../base/problem.ts";
import type { Rollout } from "../spec/rollout.ts";
import type { Over } from "./limits.ts";
import type { Target } from "./plan-types.ts";
import type { Unit } from "./units.ts";

/** A problem at a stage of a rollout. The plan knows no positions: lint and plan find the line by `path`. */
function atStage(rollout: Rollout, stage: number, code: string, message: string, hint: string): Problem {
  return { code, severity: "error", message, hint, file: rollout.file, line: 1, column: 1, path: ["spec", "stages", stage] };
}

function describe(unit: Unit): string {
  const names = unit.members.map((member) => member.cluster.name);
  const shown = names.slice(0, 5).join(", ") + (names.length > 5 ? ` and ${names.length - 5} more` : "");
  const pin = unit.sharedPin;
  return pin === undefined ? shown : `${shown} (they share the pin ${pin.path}${pin.file === "" ? "" : ` in ${pin.file}`})`;
}

export function unitSplit(rollout: Rollout, stage: number, unit: Unit): Problem {
  const name = rollout.stages[stage]?.name ?? "";
  return atStage(
    rollout,
    stage,
    "UNIT_SPANS_STAGES",
    `stage "${name}" takes some and not others of ${describe(unit)}`,
    "give each cluster a pin of its own, or select all of them in one stage",
  );
}

export function unitTooLarge(rollout: Rollout, stage: number, unit: Unit, size: number): Problem {
  const name = rollout.stages[stage]?.name ?? "";
  return atStage(
    rollout,
    stage,
    "UNIT_TOO_LARGE",
    `in stage "${name}", ${unit.members.length} clusters must change at once and maxUnavailable is ${size}: ${describe(unit)}`,
    `give each cluster a pin of its own, or raise maxUnavailable to ${unit.members.length}`,
  );
}

/** What cannot be cut any smaller, and is over a limit with nothing else in flight. `more`: units of the stage of which that is so, too. */
export function unitOverLimits(rollout: Rollout, stage: number, unit: Unit, { setting, what, most, have }: Over, more: number): Problem {
  const name = rollout.stages[stage]?.name ?? "";
  const others = more === 0 ? "" : `, and so with ${more} more`;
  return atStage(
    rollout,
    stage,
    "LIMITS_TOO_LOW",
    `in stage "${name}", ${what} must change at once and ${setting} of the repo's settings allows ${most}: ${describe(unit)}${others}`,
    `raise ${setting} so that ${have} may be in flight${unit.members.length > 1 ? ", or give each cluster a pin of its own" : ""}`,
  );
}

export function unitTopology(rollout: Rollout, stage: number, unit: Unit, topologyKey: string): Problem {
  const name = rollout.stages[stage]?.name ?? "";
  return atStage(
    rollout,
    stage,
    "UNIT_TOPOLOGY",
    `in stage "${name}", clusters of one ${topologyKey} must change at once: ${describe(unit)}`,
    "give each cluster a pin of its own, or remove topologyKey",
  );
}

export function strayTarget(rollout: Rollout, target: Target): Problem {
  return {
    code: "UNKNOWN_CLUSTER",
    severity: "error",
    message: `Application ${target.application} is on cluster ${target.cluster}, which is not known`,
    hint: "register the cluster in Argo CD, or add it to the inventory",
    file: rollout.file,
    line: 1,
    column: 1,
    path: [],
  };
}
