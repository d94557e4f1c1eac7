import type { Problem, Warning } from "../reasons/problem.ts";
import type { Rollout, Stage } from "../spec/rollout.ts";
import { apart, keepsApart } from "./apart.ts";
import { candidates } from "./candidates.ts";
import { hashPlan, hashStage } from "./hash.ts";
import { type Limiter, limiter } from "./limits.ts";
import { cutBatches, grownSize, type Pick, pick, sizesOfUnits, windowOf } from "./pick.ts";
import type { Plan, PlanInput, PlannedBatch, PlannedStage, PlannedTarget, Target } from "./plan-types.ts";
import { strayTarget, unitOverLimits, unitSplit, unitTooLarge, unitTopology } from "./problems.ts";
import { groupUnits, type Unit } from "./units.ts";
import { limited, uncoveredOf, warningsOf } from "./warnings.ts";
import { sharedWeights, weighBatch, weighLate } from "./weigh.ts";

export type PlanResult = { ok: true; plan: Plan } | { ok: false; problems: Problem[] };

/**
 * docs/spec.md §2: which clusters each stage takes, in which batches, and what is written for each target. Pure and
 * deterministic: the order of the input does not matter. It does not look at status, so a plan stays the same while a run
 * moves through it; `nextBatch` says where it stands.
 *
 * Problems (not a plan): a unit of clusters that share a pin and is larger than `maxUnavailable`, spans stages or holds two
 * clusters of one topology value; one that is over the repo's limits by itself; a target on a cluster that is not given.
 */
export function plan({ rollout, release, clusters, targets, limits }: PlanInput): PlanResult {
  const { units, strays } = groupUnits(clusters, targets);
  const problems: Problem[] = strays.map((target) => strayTarget(rollout, target));
  const stages: PlannedStage[] = [];
  const cuts: Warning[] = [];
  const begin = limits === undefined ? undefined : limiter(limits, clusters);
  const available = candidates(units);
  for (const [i, stage] of rollout.stages.entries()) {
    const picked = pick(stage, available.of(stage.selector));
    const taken = new Set([...picked.batched, ...picked.requeued]);
    const size = windowOf(stage.maxUnavailable, count(taken));
    problems.push(...check(rollout, i, stage, picked, size));
    if (begin !== undefined) problems.push(...checkLimits(rollout, i, picked, begin));
    const planned = planStage(stage, picked, size, begin);
    if (begin !== undefined) cuts.push(...cutWarning(stage, planned, batchesOf(stage, picked, size), begin));
    problems.push(...sharedWeights(rollout, i, planned));
    stages.push(planned);
    // A split unit is reported once, not again by every later stage.
    available.take([...taken, ...picked.split]);
  }
  if (problems.length > 0) return { ok: false, problems };
  const uncovered = uncoveredOf(rollout, available.left());
  const members = units.flatMap((unit) => unit.members);
  return {
    ok: true,
    plan: {
      rollout: rollout.name,
      release,
      hash: hashPlan(stages),
      stages,
      uncovered,
      warnings: [...cuts, ...warningsOf(rollout, stages, uncovered, members)],
    },
  };
}

function count(units: Iterable<Unit>): number {
  let sum = 0;
  for (const unit of units) sum += unit.members.length;
  return sum;
}

function check(rollout: Rollout, index: number, stage: Stage, picked: Pick, size: number): Problem[] {
  const problems = picked.split.map((unit) => unitSplit(rollout, index, unit));
  const valuesOf = keepsApart(stage) ? apart(stage) : undefined;
  for (const unit of [...picked.batched, ...picked.requeued]) {
    if (unit.members.length === 1) continue;
    if (unit.members.length > size) problems.push(unitTooLarge(rollout, index, unit, size));
    if (valuesOf === undefined) continue;
    const values = unit.members.flatMap(({ cluster }) => valuesOf(cluster));
    if (new Set(values).size < values.length) problems.push(unitTopology(rollout, index, unit, stage.topologyKey ?? "order.pairs"));
  }
  return problems;
}

/** What is over the limits by itself would wait for ever. */
function checkLimits(rollout: Rollout, index: number, picked: Pick, begin: Limiter): Problem[] {
  const found = [...picked.batched, ...picked.requeued].flatMap((unit) => {
    const alone = begin().add(sizesOfUnits([unit]));
    return alone === undefined ? [] : [{ unit, alone }];
  });
  const [first] = found;
  return first === undefined ? [] : [unitOverLimits(rollout, index, first.unit, first.alone, found.length - 1)];
}

function batchesOf(stage: Stage, picked: Pick, size: number, begin?: Limiter): Unit[][] {
  const { grow } = stage;
  const sizeOf = grow === undefined ? () => size : (batch: number) => grownSize(grow, batch, size);
  return cutBatches(picked.batched, sizeOf, stage, begin);
}

/** `uncut`: its batches, were there no limits. */
function cutWarning(stage: Stage, planned: PlannedStage, uncut: readonly Unit[][], begin: Limiter): Warning[] {
  const tooLarge = uncut.map((units) => begin().add(sizesOfUnits(units))).find((one) => one !== undefined);
  return tooLarge === undefined ? [] : [limited(stage.name, planned.batches.length, uncut.length, tooLarge)];
}

function planStage(stage: Stage, picked: Pick, size: number, begin: Limiter | undefined): PlannedStage {
  const batches = batchesOf(stage, picked, size, begin).map((units) => weighBatch(toBatch(units), stage.steps));
  const late = toBatch(picked.requeued);
  const planned: Omit<PlannedStage, "hash"> = {
    name: stage.name,
    maxUnavailable: size,
    clusters: batches.flatMap((batch) => batch.clusters),
    requeued: late.clusters,
    batches,
    requeuedTargets: weighLate(late, size, stage.steps),
  };
  return { ...planned, hash: hashStage(planned, stage) };
}

function toBatch(units: readonly Unit[]): PlannedBatch {
  const clusters: string[] = [];
  const targets: PlannedTarget[] = [];
  for (const { members } of units) {
    for (const member of members) {
      clusters.push(member.cluster.key);
      for (const target of member.targets) targets.push(toPlanned(target));
    }
  }
  return { clusters, targets };
}

function toPlanned({ key, application, cluster, edits }: Target): PlannedTarget {
  return { key, application, cluster, edits };
}
