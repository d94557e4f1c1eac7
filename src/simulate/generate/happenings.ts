import { defined } from "../../core/base/defined.ts";
import type { CommandName, Permission } from "../../core/spec/commands.ts";
import type { Random } from "./random.ts";
import type { Happening, ModelRollout } from "./scenario.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The releases, and whatever else happens, in order. */
export function generateHappenings(
  dice: Random,
  rollouts: readonly ModelRollout[],
  names: readonly string[],
  regions: readonly string[],
): Happening[] {
  const list: Happening[] = [{ at: 0, kind: "release", rollout: 0, version: "v2" }];
  if (rollouts.length > 1) list.push({ at: dice.chance(0.6) ? 0 : dice.int(0, 60) * MINUTE, kind: "release", rollout: 1, version: "v2" });
  if (dice.chance(0.25)) for (let number = 3; number < 3 + dice.int(1, 4); number++) list.push(release(dice, rollouts, `v${number}`));
  const lively = dice.chance(0.75);
  const most = lively ? dice.int(0, 6) : 0;
  for (let i = 0; i < most; i++) list.push(happening(dice, rollouts, names, regions, dice.int(0, 90 * 60) * 1000));
  list.push(...membership(dice, rollouts, names, regions));
  // A way back from a run long over, and others after the calm.
  if (dice.chance(0.05)) list.push(wayBack(dice, rollouts));
  return list.sort((a, b) => a.at - b.at);
}

/** Clusters that appear, are relabelled or cannot be reached for a while, and some put off after they have moved. */
function membership(dice: Random, rollouts: readonly ModelRollout[], names: readonly string[], regions: readonly string[]): Happening[] {
  const list: Happening[] = [];
  const at = () => dice.int(0, 60 * 60) * 1000;
  if (dice.chance(0.12)) {
    for (let number = dice.int(1, 3); number > 0; number--) {
      const joins = { name: `new${number}`, region: dice.pick(regions), drained: dice.chance(0.1) };
      list.push({ at: at(), kind: "join", joins, version: dice.chance(0.8) ? "v1" : "v2" });
      if (dice.chance(0.2)) list.push({ at: at() + 20 * MINUTE, kind: "leave", cluster: joins.name });
    }
  }
  const apart = rollouts.some(({ stages }) => stages.some((stage) => stage.topology === true));
  if (!apart && dice.chance(0.06)) list.push({ at: at(), kind: "relabel", cluster: dice.pick(names), region: dice.pick(regions) });
  const often = rollouts.some((rollout) => rollout.quarantine !== undefined) ? 0.7 : 0.05;
  if (dice.chance(often))
    for (let number = dice.int(1, 3); number > 0; number--)
      list.push({ at: dice.int(0, 30 * 60) * 1000, kind: "unreach", cluster: dice.pick(names), forMs: dice.int(1, 90) * MINUTE });
  if (dice.chance(0.08)) for (let number = dice.int(1, 3); number > 0; number--) list.push(putOff(dice, rollouts, names));
  return list;
}

function putOff(dice: Random, rollouts: readonly ModelRollout[], names: readonly string[]): Happening {
  const at = dice.int(1, 20 * 60) * 1000;
  const flags: Record<string, string | true> = dice.chance(0.3) ? { for: `${dice.int(1, 8) * 15}m` } : {};
  const args = [dice.pick(names)];
  const rollout = dice.int(0, rollouts.length - 1);
  return { at, kind: "command", rollout, on: "release", name: "requeue", args, flags, actor: "carol", permission: "maintain" };
}

function release(dice: Random, rollouts: readonly ModelRollout[], version: string): Happening {
  const at = dice.chance(0.8) ? dice.int(1, 120) * MINUTE : dice.int(2, 20) * HOUR;
  return { at, kind: "release", rollout: dice.int(0, rollouts.length - 1), version };
}

function wayBack(dice: Random, rollouts: readonly ModelRollout[]): Happening {
  const flags: Record<string, string | true> = dice.chance(0.3) ? { to: dice.pick(["v0", "v1"]) } : {};
  const rollout = dice.int(0, rollouts.length - 1);
  return {
    at: dice.int(1, 30) * HOUR,
    kind: "command",
    rollout,
    on: "release",
    name: "rollback",
    args: [],
    flags,
    actor: "carol",
    permission: "maintain",
  };
}

function happening(
  dice: Random,
  rollouts: readonly ModelRollout[],
  names: readonly string[],
  regions: readonly string[],
  at: number,
): Happening {
  const cluster = dice.pick(names);
  const forMs = dice.int(1, 40) * MINUTE;
  const rollout = dice.int(0, rollouts.length - 1);
  const kinds: [weight: number, make: () => Happening][] = [
    [9, () => command(dice, rollout, names, at)],
    [2, () => ({ at, kind: "review", rollout, actor: dice.pick(PEOPLE), approves: dice.chance(0.7) })],
    [1, () => ({ at, kind: "mergeByPerson", rollout })],
    [1, () => ({ at, kind: "closeByPerson", rollout })],
    [1, () => ({ at, kind: "pushToHead", rollout })],
    [1, () => ({ at, kind: "draft", rollout })],
    [1, () => ({ at, kind: "commit", rollout, cluster: dice.chance(0.5) ? cluster : null })],
    [1, () => ({ at, kind: "toRelease", rollout, cluster })],
    [2, () => ({ at, kind: "label", cluster, drained: dice.chance(0.3) })],
    [1, () => ({ at, kind: "leave", cluster })],
    [1, () => ({ at, kind: "loseApplication", rollout, cluster })],
    [1, () => ({ at, kind: "forcePush", rollout, keeps: dice.chance(0.5) })],
    [1, () => ({ at, kind: "argoDown", forMs })],
    [1, () => ({ at, kind: "forgeDown", forMs })],
    [1, () => ({ at, kind: "refuse", forMs, answer: dice.pick(["Human", "Wait", "Retry"] as const) })],
    [1, () => ({ at, kind: "guard", forMs, retry: dice.chance(0.5) })],
    [
      2,
      () => ({
        at,
        kind: "freeze",
        forMs: 3 * forMs,
        window: { fromMinute: dice.int(530, 700), forMinutes: dice.int(5, 120), kind: "deny" },
      }),
    ],
    [1, () => ({ at, kind: "limits", limits: dice.chance(0.4) ? null : { clusters: dice.int(1, 4) } })],
    [1, () => ({ at, kind: dice.chance(0.5) ? "settingsBroken" : "unprotected", forMs })],
  ];
  let ticket = dice.next() * kinds.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, make] of kinds) {
    ticket -= weight;
    if (ticket < 0) return make();
  }
  return { at, kind: "label", cluster, drained: regions.length > 9 };
}

const PERMISSIONS: readonly Permission[] = ["none", "read", "triage", "write", "write", "maintain", "maintain", "admin"];
/** Alice released everything; bob and carol are of her team, dave and eve are not. */
const PEOPLE = ["alice", "bob", "carol", "dave", "eve"];
const NAMES: readonly CommandName[] = [
  "promote",
  "promote",
  "requeue",
  "skip",
  "pause",
  "resume",
  "abort",
  "retry",
  "status",
  "rollback",
  "halt",
  "halt",
  "hotfix",
];

function command(dice: Random, rollout: number, names: readonly string[], at: number): Happening {
  const name = dice.pick(NAMES);
  const speaker = { actor: dice.pick(PEOPLE), permission: dice.pick(PERMISSIONS) };
  const on = dice.chance(0.6) ? "release" : "batch";
  return { at, kind: "command", rollout, on, name, ...speaker, ...wordsOf(dice, name, names) };
}

function wordsOf(dice: Random, name: CommandName, names: readonly string[]): { args: string[]; flags?: Record<string, string | true> } {
  const cluster = dice.pick(names);
  const halfHours = `${dice.int(1, 8) * 30}m`;
  switch (name) {
    case "promote":
      return defined({ args: [], flags: dice.chance(0.3) ? { full: true as const } : undefined });
    case "requeue":
      if (dice.chance(0.3)) return { args: ["failed"] };
      return defined({ args: [cluster], flags: dice.chance(0.3) ? { for: halfHours } : undefined });
    case "skip":
      return { args: [cluster] };
    case "hotfix":
      return { args: dice.chance(0.2) ? [cluster, dice.pick(names), "customer", "down"] : [cluster, "customer", "down"] };
    case "halt": {
      if (dice.chance(0.2)) return { args: [], flags: { off: true } };
      const args = dice.chance(0.7) ? [`cluster=${cluster}`, "maintenance"] : ["maintenance"];
      return defined({ args, flags: dice.chance(0.7) ? { for: halfHours } : undefined });
    }
    case "rollback":
      return defined({ args: [], flags: dice.chance(0.2) ? { to: "v1" } : undefined });
    default:
      return { args: [] };
  }
}
