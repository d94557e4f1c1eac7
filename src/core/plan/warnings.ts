import { nearest } from "../base/nearest.ts";
import { formatSelector, matcher } from "../base/selector.ts";
import type { Warning } from "../reasons/problem.ts";
import type { Rollout } from "../spec/rollout.ts";
import type { Plan, PlannedStage } from "./plan-types.ts";
import { weightsOf } from "./steps.ts";
import type { Member, Unit } from "./units.ts";

/** docs/spec.md §9.19: GitHub lets about one merge a minute through. */
const LONG_PLAN = 50;

/** Clusters that no stage takes, and why. */
export function uncoveredOf(rollout: Rollout, left: readonly Unit[]): Plan["uncovered"] {
  const stages = rollout.stages.map((stage) => ({ name: stage.name, selects: matcher(stage.selector) }));
  const members = left.flatMap((unit) => unit.members);
  return members.map(({ cluster }: Member) => {
    const full = stages.find((stage) => stage.selects(cluster));
    return { cluster: cluster.key, why: full === undefined ? { code: "NotSelected" } : { code: "StageFull", stage: full.name } };
  });
}

/** What a person should know before starting. */
export function warningsOf(
  rollout: Rollout,
  stages: readonly PlannedStage[],
  uncovered: Plan["uncovered"],
  members: readonly Member[],
): Warning[] {
  const warnings: Warning[] = [];
  if (members.length === 0) warnings.push({ code: "NO_TARGETS", source: rollout.source });
  for (const [i, stage] of stages.entries()) {
    if (stage.clusters.length + stage.requeued.length > 0 || members.length === 0) continue;
    const selector = rollout.stages[i]?.selector;
    warnings.push({ code: "EMPTY_STAGE", stage: stage.name, selector: selector && formatSelector(selector) });
  }
  const left = uncovered.map(({ cluster }) => cluster.slice(cluster.indexOf("/") + 1));
  if (left.length > 0) warnings.push({ code: "COVERAGE", clusters: left, of: members.length });
  const bare = members.filter(({ cluster }) => !cluster.registered).map(({ cluster }) => cluster.name);
  if (bare.length > 0) warnings.push({ code: "IN_CLUSTER", clusters: bare });
  for (const one of strangersInPairs(rollout, members)) warnings.push({ code: "UNKNOWN_PAIR", ...one });
  const steps = (index: number) => (rollout.stages[index]?.steps === undefined ? 1 : weightsOf(rollout.stages[index].steps).length);
  const batches = stages.reduce((sum, stage, index) => sum + stage.batches.length * steps(index), 0);
  if (batches > LONG_PLAN) warnings.push({ code: "MANY_BATCHES", batches, stepped: rollout.weightPins !== undefined });
  return warnings;
}

const MOST_STRANGERS = 10;

/** Names in `order.pairs` that are nobody's: what is misspelled keeps nothing apart. */
function strangersInPairs(rollout: Rollout, members: readonly Member[]): { stage: string; name: string; near: string | undefined }[] {
  if (members.length === 0 || rollout.stages.every((stage) => stage.pairs === undefined)) return [];
  const names = members.map(({ cluster }) => cluster.name);
  const known = new Set([...names, ...members.map(({ cluster }) => cluster.key)]);
  const strangers = rollout.stages.flatMap((stage) =>
    [...new Set((stage.pairs ?? []).flat())].filter((name) => !known.has(name)).map((name) => ({ stage: stage.name, name })),
  );
  return strangers.slice(0, MOST_STRANGERS).map((one) => ({ ...one, near: nearest(one.name, names) }));
}
