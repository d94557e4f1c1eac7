import { applicationOf } from "../world/fleet.ts";
import { crossings } from "./crossings.ts";
import { generateHappenings } from "./happenings.ts";
import { type Random, random } from "./random.ts";
import { generateRollouts } from "./rollouts.ts";
import {
  type Behaviour,
  type Chaos,
  type Condition,
  FOREVER,
  type Measure,
  type ModelOutside,
  type ModelRollout,
  type Reply,
  type Scenario,
  type Script,
} from "./scenario.ts";

const MINUTE = 60_000;
const REGIONS = ["eu", "us", "ap"];

/** A scenario from a seed: small fleets, every feature and every kind of trouble, none of it often. */
export function generate(seed: number): Scenario {
  const dice = random(seed);
  const regions = REGIONS.slice(0, dice.int(1, 3));
  const clusters = Array.from({ length: dice.int(1, dice.chance(0.2) ? 9 : 6) }, (_, index) => ({
    name: `c${index + 1}`,
    region: dice.pick(regions),
    drained: dice.chance(0.1),
  }));
  const names = clusters.map((cluster) => cluster.name);
  const rollouts = generateRollouts(dice, names, regions);
  const scenario: Scenario = {
    seed,
    clusters,
    rollouts,
    behaviours: behaviours(dice, rollouts, names),
    happenings: generateHappenings(dice, rollouts, names, regions),
    chaos: chaos(dice),
    queue: dice.chance(0.12),
  };
  if (dice.chance(0.12)) scenario.limits = limits(dice);
  if (dice.chance(0.6)) scenario.outside = outside(dice);
  if (dice.chance(0.06)) scenario.freezes = [{ fromMinute: dice.int(0, 1439), forMinutes: dice.int(10, 600), kind: "deny" }];
  // By the seed alone: nothing else of a scenario is drawn otherwise for it.
  if (seed % 4 !== 0) for (const one of rollouts) one.ahead = true;
  if (seed % 7 === 3) {
    const own = random(seed ^ 0x7a6);
    const at = own.int(1, 40) * MINUTE;
    scenario.happenings = [...scenario.happenings, { at, kind: "moveTag" as const, rollout: 0 }].sort((a, b) => a.at - b.at);
  }
  if (seed % 5 === 2) {
    const counted = { by: seed % 2 === 0 ? ("application" as const) : ("namespace" as const), hosts: 1 + (seed % 3) };
    for (const one of rollouts) one.counted = counted;
  }
  if (seed % 10 === 8) for (const one of rollouts) syncByHand(random(seed ^ 0x51c), one);
  return crossings(scenario);
}

function syncByHand(dice: Random, rollout: ModelRollout): void {
  rollout.byHand = { personMs: dice.int(1, 40) * MINUTE };
  for (const stage of rollout.stages) stage.sync = dice.chance(0.7) ? "Request" : "Wait";
}

function limits(dice: Random): NonNullable<Scenario["limits"]> {
  if (dice.chance(0.3)) return { label: { key: "region", percent: dice.int(20, 100) } };
  return dice.chance(0.5) ? { clusters: dice.int(1, 4) } : { targets: dice.int(1, 5) };
}

function chaos(dice: Random): Chaos {
  return {
    crash: dice.chance(0.5) ? dice.next() * 0.2 : 0,
    lose: dice.chance(0.3) ? dice.next() * 0.2 : 0,
    missing: dice.chance(0.3) ? dice.next() * 0.1 : 0,
    stale: dice.chance(0.5) ? dice.next() * 0.5 : 0,
    deaf: dice.chance(0.5) ? dice.next() * 0.5 : 0,
    doubled: dice.chance(0.2) ? dice.next() * 0.2 : 0,
    lazy: dice.chance(0.5) ? dice.next() * 0.8 : 0,
  };
}

/** Mostly well, and of everything else something. */
function outside(dice: Random): ModelOutside {
  const bad = dice.chance(0.5) ? 0.15 : 0.5;
  const measure = (): Measure => ({
    forMs: dice.chance(0.2) ? dice.int(5, 60) * MINUTE : dice.int(0, 120) * 1000,
    ends: dice.chance(bad) ? dice.pick(["Failed", "Failed", "Inconclusive", "Error", "Endless", "Endless"] as const) : "Successful",
  });
  const reply = (): Reply => ({
    afterMs: dice.int(0, 9000),
    says: dice.chance(bad) ? dice.pick(["hold", "hold", "fail", "error", "silent"] as const) : "go",
  });
  return { measures: Array.from({ length: 8 }, measure), replies: Array.from({ length: 8 }, reply), forgets: dice.chance(0.5) };
}

function behaviours(dice: Random, rollouts: readonly ModelRollout[], names: readonly string[]): Record<string, Behaviour> {
  const all: Record<string, Behaviour> = {};
  for (const [index, rollout] of rollouts.entries()) {
    // Some whole releases are bad: what a way back is for.
    const bad = dice.chance(0.06);
    for (const name of names) all[applicationOf(rollout, index, name)] = behaviour(dice, bad);
  }
  return all;
}

type Shape = (dice: Random) => [Condition, number][];

const SHAPES: readonly [number, Shape][] = [
  [60, (dice) => [["Progressing", dice.int(0, 4) * MINUTE]]],
  // Healthy before the new objects exist, for less than the settle time.
  [
    12,
    (dice) => [
      ["Healthy", dice.int(1, 8) * 1000],
      ["Progressing", dice.int(1, 4) * MINUTE],
    ],
  ],
  [
    6,
    (dice) => [
      ["Progressing", dice.int(0, MINUTE)],
      ["Degraded", dice.int(1, 100) * 1000],
    ],
  ],
  [
    6,
    (dice) => [
      ["Progressing", MINUTE],
      ["Waiting", dice.int(1, 90) * MINUTE],
    ],
  ],
  [
    5,
    (dice) => [
      ["Progressing", MINUTE],
      ["Unreachable", dice.int(1, 20) * MINUTE],
    ],
  ],
  [
    5,
    (dice) => [
      ["Healthy", dice.int(1, 5) * MINUTE],
      ["Progressing", dice.int(1, 60) * 1000],
    ],
  ],
  [4, (dice) => flapping(dice)],
];

const ENDLESS: readonly Condition[] = ["Degraded", "Progressing", "Unreachable", "Waiting"];

function flapping(dice: Random): [Condition, number][] {
  return Array.from({ length: 2 * dice.int(2, 6) }, (_, index) => [index % 2 === 0 ? "Healthy" : "Degraded", dice.int(10, 90) * 1000]);
}

function behaviour(dice: Random, bad: boolean): Behaviour {
  const lagMs = dice.chance(0.03) ? 40 * MINUTE : dice.int(1, 120) * 1000;
  const script = scriptOf(dice);
  const last: Condition = dice.chance(bad ? 0.6 : 0.07) ? dice.pick(ENDLESS) : "Healthy";
  if (last === "Healthy" && dice.chance(0.04)) {
    // Healthy for long, and then not.
    script.push({ state: "Healthy", forMs: dice.int(5, 120) * MINUTE }, { state: "Degraded", forMs: dice.int(1, 30) * MINUTE });
  }
  script.push({ state: last, forMs: FOREVER });
  const made: Behaviour = { lagMs, script };
  // The old version is what worked, as a rule.
  if (dice.chance(0.9)) made.back = [{ state: "Progressing", forMs: dice.int(0, 60) * 1000 }];
  if (dice.chance(0.05)) made.before = dice.pick(["Degraded", "Unreachable", "Progressing"] as const);
  return made;
}

function scriptOf(dice: Random): Script {
  let ticket = dice.next() * SHAPES.reduce((sum, [weight]) => sum + weight, 0);
  let shape: Shape = () => [];
  for (const [weight, one] of SHAPES) {
    shape = one;
    ticket -= weight;
    if (ticket < 0) break;
  }
  return shape(dice).map(([state, forMs]) => ({ state, forMs }));
}
