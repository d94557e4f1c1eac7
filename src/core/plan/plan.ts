import { defined } from "../base/defined.ts";
import { matcher } from "../base/selector.ts";
import type { SharedUnit } from "../reasons/problems/plan.ts";
import { type Problem, type ProblemReason, problemIn, type Warning } from "../reasons/problems/problem.ts";
import type { Rollout, Stage } from "../spec/rollout.ts";
import { cutBatches, grownSize, type Pick, pick, sizesOfUnits, windowOf } from "./cut-batches.ts";
import { hashPlan, hashStage } from "./hash.ts";
import { apart } from "./kept-apart.ts";
import { inStage, type Limiter, limiter } from "./limits.ts";
import type { Plan, PlanInput, PlannedBatch, PlannedStage, PlannedTarget, Target } from "./plan-types.ts";
import { candidates, groupUnits, type Member, type Unit } from "./units.ts";
import { warningsOf } from "./warnings.ts";
import { sharedWeights, weighBatch, weighLate } from "./weigh.ts";

type PlanResult = { ok: true; plan: Plan } | { ok: false; problems: Problem[] };

/**
 * docs/spec.md §2: which clusters each stage takes, in which batches, and what is written for each target. Pure and
 * deterministic: the order of the input does not matter. It does not look at status, so a plan stays the same while a run
 * moves through it; `nextBatch` says where it stands.
 *
 * Problems (not a plan): a unit of clusters that share a pin and is larger than `maxUnavailable`, spans stages or holds two
 * clusters of one topology value; one that is over the repo's limits by itself; a target on a cluster that is not given.
 */
export function plan({ rollout, release, clusters, targets, limits, fleet = clusters }: PlanInput): PlanResult {
  const { units, strays } = groupUnits(clusters, targets);
  const problems = strays.map(({ application, cluster }) =>
    problemIn(rollout.file, { code: "UNKNOWN_CLUSTER", kind: "Target", application, cluster }),
  );
  const stages: PlannedStage[] = [];
  const cuts: Warning[] = [];
  const bounds = { repo: limits, own: { rollout: rollout.name, limits: rollout.limits } };
  const limited = limiter(bounds, fleet === clusters ? clusters : [...fleet, ...clusters]);
  const available = candidates(units);
  for (const [i, stage] of rollout.stages.entries()) {
    const picked = pick(stage, available.of(stage.selector));
    const begin = limited && inStage(limited, { rollout: rollout.name, stage: stage.name });
    const taken = new Set([...picked.batched, ...picked.requeued]);
    const size = windowOf(stage.maxUnavailable, countOf(taken));
    const found = [...check(stage, picked, size), ...checkLimits(stage, picked, begin)];
    problems.push(...found.map((reason) => problemIn(rollout.file, reason, ["spec", "stages", i])));
    const planned = planStage(stage, picked, size, begin);
    if (begin !== undefined) cuts.push(...cutWarning(stage, planned, batchesOf(stage, picked, size), begin));
    problems.push(...sharedWeights(rollout, i, planned));
    stages.push(planned);
    // A split unit is reported once, not again by every later stage.
    available.take([...taken, ...picked.split]);
  }
  const counting = defined({ targetBy: rollout.targetBy });
  if (problems.length > 0) return { ok: false, problems: problems.map((problem) => ({ ...problem, ...counting })) };
  const uncovered = uncoveredOf(rollout, available.left());
  const members = units.flatMap((unit) => unit.members);
  return {
    ok: true,
    plan: {
      rollout: rollout.name,
      ...counting,
      release,
      hash: hashPlan(stages),
      stages,
      uncovered,
      warnings: [...cuts, ...warningsOf({ rollout, release }, stages, uncovered, members)].map((warning) => ({ ...warning, ...counting })),
    },
  };
}

function countOf(units: Iterable<Unit>): number {
  let count = 0;
  for (const { members } of units) count += members.length;
  return count;
}

function check({ name: stage, topologyKey, pairs }: Stage, { split, batched, requeued }: Pick, size: number): ProblemReason[] {
  const problems: ProblemReason[] = split.map((unit) => ({ code: "UNIT_SPANS_STAGES", stage, unit: sharedUnit(unit) }));
  const valuesOf = apart({ topologyKey, pairs });
  for (const unit of [...batched, ...requeued].filter(({ members }) => members.length > 1)) {
    if (unit.members.length > size) problems.push({ code: "UNIT_TOO_LARGE", stage, unit: sharedUnit(unit), size });
    const values = unit.members.flatMap(({ cluster }) => valuesOf(cluster));
    if (new Set(values).size < values.length)
      problems.push({ code: "UNIT_TOPOLOGY", stage, unit: sharedUnit(unit), topologyKey: topologyKey ?? "order.pairs" });
  }
  return problems;
}

/** What cannot be cut any smaller and is over the limits with nothing else in flight would wait for ever. */
function checkLimits({ name: stage }: Stage, { batched, requeued }: Pick, begin: Limiter | undefined): ProblemReason[] {
  if (begin === undefined) return [];
  const found = [...batched, ...requeued].flatMap((unit) => {
    const over = begin().add(sizesOfUnits([unit]));
    return over === undefined ? [] : [{ unit: sharedUnit(unit), over }];
  });
  return found.slice(0, 1).map((first) => ({ code: "LIMITS_TOO_LOW", stage, ...first, others: found.length - 1 }));
}

function sharedUnit({ members, sharedPin }: Unit): SharedUnit {
  return { names: members.slice(0, 5).map(({ cluster }) => cluster.name), count: members.length, pin: sharedPin };
}

function batchesOf(stage: Stage, picked: Pick, size: number, begin?: Limiter): Unit[][] {
  const { grow } = stage;
  const sizeOf = grow === undefined ? () => size : (batch: number) => grownSize(grow, batch, size);
  return cutBatches(picked.batched, sizeOf, stage, begin);
}

/** Batches are smaller than the stage would have them. `uncut`: its batches, were there no limits. */
function cutWarning({ name: stage }: Stage, { batches }: PlannedStage, uncut: readonly Unit[][], begin: Limiter): Warning[] {
  const over = uncut.map((units) => begin().add(sizesOfUnits(units))).find((one) => one !== undefined);
  return over === undefined ? [] : [{ code: "BATCHES_CUT", stage, over, batches: batches.length, uncut: uncut.length }];
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
  const batch: { clusters: string[]; targets: PlannedTarget[] } = { clusters: [], targets: [] };
  for (const { members } of units) {
    for (const { cluster, targets } of members) {
      batch.clusters.push(cluster.key);
      for (const target of targets) batch.targets.push(toPlanned(target));
    }
  }
  return batch;
}

function toPlanned({ key, application, cluster, on, edits }: Target): PlannedTarget {
  // No spread: a plan makes one for each of perhaps 100,000 targets.
  return on === undefined ? { key, application, cluster, edits } : { key, application, cluster, on, edits };
}

/** Clusters that no stage takes, and why. */
function uncoveredOf(rollout: Rollout, left: readonly Unit[]): Plan["uncovered"] {
  const stages = rollout.stages.map((stage) => ({ name: stage.name, selects: matcher(stage.selector) }));
  const members = left.flatMap((unit) => unit.members);
  return members.map(({ cluster }: Member) => {
    const full = stages.find((stage) => stage.selects(cluster));
    return { cluster: cluster.key, why: full === undefined ? { code: "NotSelected" } : { code: "StageFull", stage: full.name } };
  });
}
