import type { Permission } from "../../rollout/world.ts";
import { type Random, random } from "./random.ts";
import { type Behaviour, type Condition, FOREVER, type Happening, type ModelStage, type Scenario } from "./scenario.ts";

const MINUTE = 60_000;
const REGIONS = ["eu", "us", "ap"];

/** A scenario from a seed: small fleets, every kind of trouble, none of it often. */
export function generate(seed: number): Scenario {
  const dice = random(seed);
  const regions = REGIONS.slice(0, dice.int(1, 3));
  const clusters = Array.from({ length: dice.int(1, 9) }, (_, index) => ({
    name: `c${index + 1}`,
    region: dice.pick(regions),
    drained: dice.chance(0.12),
  }));
  const names = clusters.map((cluster) => cluster.name);
  const sharedPins = dice.chance(0.1);
  const behaviours = Object.fromEntries(names.map((name) => [name, behaviour(dice)]));
  const lively = dice.chance(0.75);
  return {
    seed,
    clusters,
    sharedPins,
    stages: stages(dice, regions, sharedPins),
    merge: dice.chance(0.15) ? "Manual" : "Auto",
    mode: dice.chance(0.05) ? "Propose" : "Run",
    maxFailures: dice.chance(0.7) ? 0 : dice.int(1, 2),
    behaviours,
    happenings: lively ? happenings(dice, names) : [],
    chaos: {
      crash: dice.chance(0.5) ? dice.next() * 0.2 : 0,
      lose: dice.chance(0.3) ? dice.next() * 0.2 : 0,
      missing: dice.chance(0.3) ? dice.next() * 0.1 : 0,
      stale: dice.chance(0.5) ? dice.next() * 0.5 : 0,
      deaf: dice.chance(0.5) ? dice.next() * 0.5 : 0,
      lazy: dice.chance(0.5) ? dice.next() : 0,
    },
    queue: dice.chance(0.15),
  };
}

function stages(dice: Random, regions: readonly string[], sharedPins: boolean): ModelStage[] {
  const chosen: (string | null)[] = sharedPins ? [null] : dice.chance(0.5) ? [...regions] : [dice.pick(regions), null];
  return chosen.map((region) => ({
    region,
    maxUnavailable: dice.int(sharedPins ? 2 : 1, 3),
    batching: dice.chance(0.35) ? "Rolling" : "Fixed",
    bakeMs: dice.chance(0.5) ? 0 : dice.int(1, 10) * MINUTE,
    requeue: dice.chance(0.7) ? { attempts: dice.int(1, 4), intervalMs: dice.int(1, 30) * MINUTE } : null,
  }));
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

function behaviour(dice: Random): Behaviour {
  const lagMs = dice.chance(0.03) ? 40 * MINUTE : dice.int(1, 120) * 1000;
  let ticket = dice.next() * SHAPES.reduce((sum, [weight]) => sum + weight, 0);
  let shape: Shape = () => [];
  for (const [weight, one] of SHAPES) {
    shape = one;
    ticket -= weight;
    if (ticket < 0) break;
  }
  const script = shape(dice).map(([state, forMs]) => ({ state, forMs }));
  const last: Condition = dice.chance(0.07) ? dice.pick(ENDLESS) : "Healthy";
  if (last === "Healthy" && dice.chance(0.04)) {
    // Healthy for long, and then not.
    script.push({ state: "Healthy", forMs: dice.int(5, 120) * MINUTE }, { state: "Degraded", forMs: dice.int(1, 30) * MINUTE });
  }
  return { lagMs, script: [...script, { state: last, forMs: FOREVER }] };
}

const PERMISSIONS: readonly Permission[] = ["none", "read", "triage", "write", "write", "maintain", "admin"];

function happenings(dice: Random, names: readonly string[]): Happening[] {
  const list = Array.from({ length: dice.int(0, 6) }, () => happening(dice, names, dice.int(0, 90 * 60) * 1000));
  return list.sort((a, b) => a.at - b.at);
}

function happening(dice: Random, names: readonly string[], at: number): Happening {
  const cluster = dice.pick(names);
  const forMs = dice.int(1, 40) * MINUTE;
  const kinds: (() => Happening)[] = [
    () => command(dice, names, at),
    () => command(dice, names, at),
    () => command(dice, names, at),
    () => ({ at, kind: "mergeByPerson" }),
    () => ({ at, kind: "closeByPerson" }),
    () => ({ at, kind: "pushToHead" }),
    () => ({ at, kind: "draft" }),
    () => ({ at, kind: "commit", cluster: dice.chance(0.5) ? cluster : null }),
    () => ({ at, kind: "toRelease", cluster }),
    () => ({ at, kind: "label", cluster, drained: dice.chance(0.5) }),
    () => ({ at, kind: "label", cluster, drained: false }),
    () => ({ at, kind: "leave", cluster }),
    () => ({ at, kind: "loseApplication", cluster }),
    () => ({ at, kind: "forcePush", keeps: dice.chance(0.5) }),
    () => ({ at, kind: "argoDown", forMs }),
    () => ({ at, kind: "forgeDown", forMs }),
    () => ({ at, kind: "refuse", forMs, answer: dice.pick(["Human", "Wait", "Retry"] as const) }),
    () => ({ at, kind: "guard", forMs, retry: dice.chance(0.5) }),
    () => ({ at, kind: "supersede" }),
  ];
  return dice.pick(kinds)();
}

function command(dice: Random, names: readonly string[], at: number): Happening {
  const name = dice.pick(["promote", "requeue", "skip", "pause", "resume", "abort", "retry", "status", "rollback"] as const);
  const permission = dice.pick(PERMISSIONS);
  const args = name === "requeue" && dice.chance(0.4) ? ["failed"] : name === "requeue" || name === "skip" ? [dice.pick(names)] : [];
  return { at, kind: "command", name, args, permission };
}
