import { defined } from "../../core/base/defined.ts";
import type { Limits } from "../../core/spec/schema-common.ts";
import { type Random, random } from "./random.ts";
import type { Happening, ModelFreeze, ModelRollout, ModelScoped, ModelStage, ModelWindow, Scenario } from "./scenario.ts";

/** Another row of dice than the scenario's own, so that what is drawn here changes nothing of the rest. */
const OTHER_DICE = 0xc7055;

/**
 * What seldom comes together by itself, and hardly ever waits by itself: limits below a batch's size, freezes that lie across windows, and
 * reviews of a stage that becomes another before it merges. The same scenario where none of it is drawn.
 */
export function crossings(scenario: Scenario): Scenario {
  const dice = random(scenario.seed ^ OTHER_DICE);
  if (dice.chance(0.06)) return withNarrowLimits(dice, scenario);
  if (dice.chance(0.04)) return withFreezesAcross(dice, scenario);
  if (dice.chance(0.04)) return withEarlyReview(dice, scenario);
  if (dice.chance(0.06)) return withScopedWindows(dice, scenario);
  if (dice.chance(0.06)) return withOwnScopes(dice, scenario);
  return scenario;
}

function withNarrowLimits(dice: Random, scenario: Scenario): Scenario {
  const most = dice.int(1, 2);
  const limits = dice.chance(0.2)
    ? { label: { key: "region", percent: dice.int(10, 60) } }
    : dice.chance(0.5)
      ? { clusters: most }
      : { targets: most };
  const wide = (stage: ModelStage): ModelStage => ({ ...stage, maxUnavailable: Math.max(stage.maxUnavailable, most + dice.int(1, 2)) });
  const rollouts = scenario.rollouts.map((rollout) => {
    const made: ModelRollout = { ...rollout, stages: rollout.stages.map(wide) };
    // The way back may be wider still.
    return dice.chance(0.4) ? { ...made, action: "Rollback" as const, rollback: { maxUnavailable: most + 2, skipBake: true } } : made;
  });
  return { ...scenario, rollouts, limits };
}

function withFreezesAcross(dice: Random, scenario: Scenario): Scenario {
  const fromMinute = dice.int(0, 95) * 15;
  const forMinutes = dice.int(1, 16) * 15;
  const window: ModelWindow = { fromMinute, forMinutes, kind: "allow" };
  // Over its beginning, its end or all of it.
  const before = dice.int(0, 8) * 15;
  const freeze: ModelWindow = {
    fromMinute: (fromMinute - before + 1440) % 1440,
    forMinutes: before + dice.int(1, 20) * 15,
    kind: "deny",
  };
  const also: ModelWindow[] = dice.chance(0.4)
    ? [{ fromMinute: dice.int(0, 95) * 15, forMinutes: dice.int(1, 8) * 15, kind: "allow" }]
    : [];
  const [first, ...others] = scenario.rollouts;
  if (first === undefined) return scenario;
  return { ...scenario, rollouts: [{ ...first, windows: [window, ...also] }, ...others], freezes: [freeze] };
}

/** Windows of one stage, freezes for one region, stage or rollout, and limits for one region: others go on meanwhile. */
function withScopedWindows(dice: Random, scenario: Scenario): Scenario {
  const fromMinute = dice.int(0, 95) * 15;
  const forMinutes = dice.int(4, 40) * 15;
  const window: ModelWindow = { fromMinute, forMinutes, kind: "allow" };
  const region = dice.pick(scenario.clusters).region;
  const scope = dice.pick([{ region }, { region }, { stage: "stage 1" }, { stage: "stage 2" }, { rollout: "payments" }]);
  const freezes: ModelFreeze[] = [
    {
      fromMinute: (fromMinute + dice.int(-4, 40) * 15 + 1440) % 1440,
      forMinutes: dice.int(4, 40) * 15,
      kind: dice.chance(0.7) ? "deny" : "allow",
      ...scope,
    },
    ...(dice.chance(0.4) ? [{ fromMinute: dice.int(0, 95) * 15, forMinutes: dice.int(1, 8) * 15, kind: "deny" as const }] : []),
  ];
  const rollouts = scenario.rollouts.map((rollout) => {
    const at = dice.int(0, rollout.stages.length - 1);
    const stages = rollout.stages.map((stage, index) => (index === at && dice.chance(0.7) ? { ...stage, windows: [window] } : stage));
    return { ...rollout, stages };
  });
  if (dice.chance(0.6)) return { ...scenario, rollouts, freezes };
  const selected = [{ selector: { matchLabels: { region }, matchExpressions: [] }, clusters: 1 }];
  return { ...scenario, rollouts, freezes, limits: { selected } };
}

/** Windows and limits of rollouts for a stage, for a region, for both; and limits of the settings for a stage or a rollout. */
function withOwnScopes(dice: Random, scenario: Scenario): Scenario {
  const region = dice.pick(scenario.clusters).region;
  const stage = `stage ${dice.int(1, 2)}`;
  const scope = (): Pick<ModelScoped, "region" | "stage"> => dice.pick([{ region }, { region }, { stage }, { region, stage }]);
  const window = (): ModelWindow => ({
    ...{ fromMinute: dice.int(0, 95) * 15, forMinutes: dice.int(4, 40) * 15, kind: dice.chance(0.5) ? "allow" : "deny" },
  });
  const windows = (): ModelScoped[] => [{ ...window(), ...scope() }, ...(dice.chance(0.4) ? [{ ...window(), ...scope() }] : [])];
  const selected = (): NonNullable<Limits["selected"]>[number] => {
    const one = scope();
    const { selector } = { selector: one.region === undefined ? undefined : { matchLabels: { region }, matchExpressions: [] } };
    return defined({
      selector,
      stages: one.stage === undefined ? undefined : [stage],
      ...(dice.chance(0.7) ? { clusters: 1 } : { targets: 2 }),
    });
  };
  const limits = (): Limits => (dice.chance(0.3) ? { clusters: dice.int(1, 2) } : { selected: [selected()] });
  const rollouts = scenario.rollouts.map((rollout) => {
    const stages = rollout.stages.map((one) => (dice.chance(0.2) ? { ...one, windows: [{ ...window(), region }] } : one));
    const made = dice.chance(0.6) ? { ...rollout, stages, windows: windows() } : { ...rollout, stages };
    // What shares a pin may be more than they allow: that is an error of its plan.
    return rollout.sharedPins || dice.chance(0.4) ? made : { ...made, limits: limits() };
  });
  if (dice.chance(0.7)) return { ...scenario, rollouts };
  return { ...scenario, rollouts, limits: { selected: [dice.chance(0.5) ? selected() : { rollouts: ["payments"], clusters: 1 }] } };
}

/** One of the team reviews, somebody leaves a cluster out, and another of the team reviews what it is then; perhaps the first one again. */
function withEarlyReview(dice: Random, scenario: Scenario): Scenario {
  const [first, ...others] = scenario.rollouts;
  const last = scenario.clusters.at(-1);
  if (first === undefined || last === undefined) return scenario;
  const stages = first.stages.map((stage, index) => (index === 0 ? { ...stage, approvals: dice.int(1, 2) } : stage));
  const at = dice.int(5, 60) * 1000;
  const skipAt = at + dice.int(0, 60) * 1000;
  const review = (when: number, actor: string): Happening => ({ at: when, kind: "review", rollout: 0, actor, approves: true });
  const speaker = { actor: "carol", permission: "maintain" as const };
  const skip: Happening = { at: skipAt, kind: "command", rollout: 0, on: "release", name: "skip", args: [last.name], ...speaker };
  const more = [review(at, "bob"), skip, review(skipAt + dice.int(1, 60) * 1000, "carol")];
  if (dice.chance(0.3)) more.push(review(skipAt + dice.int(60, 90) * 1000, "bob"));
  const happenings = [...scenario.happenings, ...more].sort((a, b) => a.at - b.at);
  return { ...scenario, rollouts: [{ ...first, stages }, ...others], happenings };
}
