import type { AnalysisWhen } from "../../core/spec/rollout.ts";
import { ANALYSIS_WHEN } from "../../core/spec/schema-stage.ts";
import { isOpenAt } from "../world/windows.ts";
import type { Random } from "./random.ts";
import type { Measured, ModelRollout, ModelStage, ModelStep, ModelWindow } from "./scenario.ts";

const MINUTE = 60_000;

/** One rollout, or two on the same clusters, of which the second may wait for the first. */
export function generateRollouts(dice: Random, names: readonly string[], regions: readonly string[]): ModelRollout[] {
  const first = rollout(dice, "payments", names, regions);
  if (!dice.chance(0.25)) return [first];
  const second = rollout(dice, "ledger", names, regions);
  if (dice.chance(0.5)) second.dependsOn = [{ rollout: "payments", atLeast: "SameVersion" }];
  return [first, second];
}

function rollout(dice: Random, name: string, names: readonly string[], regions: readonly string[]): ModelRollout {
  const sharedPins = dice.chance(0.1);
  const made: ModelRollout = {
    name,
    sharedPins,
    stages: stages(dice, names, regions, sharedPins),
    merge: dice.chance(0.1) ? "Manual" : "Auto",
    mode: dice.chance(0.04) ? "Propose" : "Run",
    maxFailures: dice.chance(0.7) ? 0 : dice.int(1, 2),
    action: dice.chance(0.6) ? "Pause" : dice.pick(["Rollback", "Rollback", "Continue"] as const),
    onNewRelease: dice.chance(0.5) ? "Supersede" : dice.pick(["Queue", "Reject"] as const),
    baseline: dice.chance(0.2) ? "Tolerate" : "Strict",
  };
  if (dice.chance(0.1)) made.windows = windows(dice);
  if (dice.chance(0.4)) made.joiners = dice.pick(["Append", "Ignore", "Hold"] as const);
  if (dice.chance(0.2))
    made.quarantine = { max: dice.int(0, 3), onReturn: dice.chance(0.8) ? "CatchUp" : "Skip", drained: dice.chance(0.3) };
  if (dice.chance(0.15)) made.flap = { ignoreMs: dice.int(10, 60) * 1000, most: dice.int(1, 3), windowMs: 10 * MINUTE };
  if (dice.chance(0.3)) {
    made.rollback = { skipBake: dice.chance(0.7) };
    if (dice.chance(0.5)) made.rollback.maxUnavailable = dice.int(sharedPins ? 2 : 1, 4);
  }
  return made;
}

/** Some that open: what never does is an error that lint tells. */
function windows(dice: Random): ModelWindow[] {
  const list = anyWindows(dice);
  const minutes = Array.from({ length: 1440 }, (_, minute) => minute * MINUTE);
  return minutes.some((at) => isOpenAt(list, at)) ? list : windows(dice);
}

function anyWindows(dice: Random): ModelWindow[] {
  const allow = (): ModelWindow => ({ fromMinute: dice.int(0, 95) * 15, forMinutes: dice.int(1, 40) * 15, kind: "allow" });
  const deny = (): ModelWindow => ({ fromMinute: dice.int(0, 1439), forMinutes: dice.int(5, 300), kind: "deny" });
  const list = dice.chance(0.7) ? [allow()] : [];
  if (list.length === 0 || dice.chance(0.4)) list.push(deny());
  if (dice.chance(0.2)) list.push(allow());
  return list;
}

function stages(dice: Random, names: readonly string[], regions: readonly string[], sharedPins: boolean): ModelStage[] {
  const chosen: (string | null)[] = sharedPins
    ? [null]
    : dice.chance(0.4)
      ? [...regions]
      : dice.chance(0.6)
        ? [dice.pick(regions), null]
        : [null];
  return chosen.map((region) => stage(dice, region, names, sharedPins));
}

function stage(dice: Random, region: string | null, names: readonly string[], sharedPins: boolean): ModelStage {
  const made: ModelStage = {
    region,
    maxUnavailable: dice.int(sharedPins ? 2 : 1, 4),
    batching: dice.chance(0.3) ? "Rolling" : "Fixed",
    bakeMs: dice.chance(0.5) ? 0 : dice.int(1, 10) * MINUTE,
    requeue: dice.chance(0.6) ? { attempts: dice.int(1, 4), intervalMs: dice.int(1, 30) * MINUTE } : null,
  };
  if (dice.chance(0.15)) made.grow = { start: dice.int(1, 2), factor: dice.pick([1, 1.5, 2, 3]) };
  if (dice.chance(0.1)) made.jitterMs = dice.int(1, 600) * 1000;
  if (dice.chance(0.12)) made.approvals = dice.int(1, 2);
  if (dice.chance(0.1)) made.seeded = `${dice.int(1, 99)}`;
  if (dice.chance(0.14)) made.analysis = { when: whens(dice), of: measured(dice) };
  if (dice.chance(0.12)) made.hooks = { before: dice.int(0, 2), after: dice.int(0, 1), onFailure: dice.int(0, 1) };
  // The clusters of a batch go from weight to weight together.
  if (made.batching === "Fixed" && dice.chance(0.12)) made.steps = steps(dice);
  // What shares a pin cannot be kept apart.
  if (sharedPins) return made;
  if (dice.chance(0.12) && names.length > 1) made.pairs = [[dice.pick(names), dice.pick(names)]].filter(([a, b]) => a !== b);
  if (dice.chance(0.08)) made.topology = true;
  return made;
}

function whens(dice: Random): AnalysisWhen[] {
  const some = ANALYSIS_WHEN.filter(() => dice.chance(0.5));
  return some.length > 0 ? some : ["AfterBatch"];
}

function measured(dice: Random): Measured {
  return dice.chance(0.5) ? "all" : "each";
}

/** Weights that grow, each with what is waited for after it. */
function steps(dice: Random): ModelStep[] {
  const list: ModelStep[] = [];
  for (let weight = dice.int(1, 40); weight < 100; weight += dice.int(15, 60)) {
    list.push({ weight });
    for (let waits = dice.int(0, 2); waits > 0; waits--) list.push(wait(dice));
  }
  if (dice.chance(0.2)) list.push({ weight: 100 }, wait(dice));
  return list;
}

function wait(dice: Random): ModelStep {
  if (dice.chance(0.35)) return { analysis: measured(dice) };
  return { pauseMs: dice.chance(0.4) ? null : dice.int(1, 15) * MINUTE };
}
