import semver from "semver";
import { defined } from "../base/defined.ts";
import { nearest } from "../base/nearest.ts";
import { formatSelector, matcher } from "../base/selector.ts";
import type { SharedUnit } from "../reasons/problems/plan.ts";
import { type Problem, type ProblemReason, problemIn, type Warning } from "../reasons/problems/problem.ts";
import type { Rollout, Stage } from "../spec/rollout.ts";
import { cutBatches, grownSize, type Pick, pick, sizesOfUnits, windowOf } from "./cut-batches.ts";
import { hashPlan, hashStage } from "./hash.ts";
import { apart, unlabelled } from "./kept-apart.ts";
import { inStage, type Limiter, limiter } from "./limits.ts";
import {
  type Plan,
  type PlanInput,
  type PlannedBatch,
  type PlannedStage,
  type PlannedTarget,
  type Release,
  type Target,
  targetsOfStage,
} from "./plan-types.ts";
import { scopeTypos, stagesInBoth, stageTypos } from "./selector-typos.ts";
import { weightsOf } from "./steps.ts";
import { candidates, groupUnits, type Member, type Unit } from "./units.ts";
import { valuesOfEdits } from "./values.ts";
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
    const size = windowOf(stage.maxUnavailable, sizesOfUnits([...taken]).length);
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
  const members = units.flatMap((unit) => unit.members);
  return { clusters: members.map(({ cluster }) => cluster.key), targets: members.flatMap(({ targets }) => targets.map(toPlanned)) };
}

function toPlanned({ key, application, cluster, on, edits }: Target): PlannedTarget {
  return { key, application, cluster, ...defined({ on }), edits };
}

/** docs/spec.md §9.19: GitHub lets about one merge a minute through. */
const LONG_PLAN = 50;

/** Clusters that no stage takes, and why. */
function uncoveredOf(rollout: Rollout, left: readonly Unit[]): Plan["uncovered"] {
  const stages = rollout.stages.map((stage) => ({ name: stage.name, selects: matcher(stage.selector) }));
  const members = left.flatMap((unit) => unit.members);
  return members.map(({ cluster }: Member) => {
    const full = stages.find((stage) => stage.selects(cluster));
    return { cluster: cluster.key, why: full === undefined ? { code: "NotSelected" } : { code: "StageFull", stage: full.name } };
  });
}

/** What a person should know before starting. */
function warningsOf(
  { rollout, release }: { rollout: Rollout; release: Release },
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
  const clusters = members.map(({ cluster }) => cluster);
  const typos = stageTypos(rollout, clusters);
  for (const { stage, key, value, near } of typos) warnings.push({ code: "UNKNOWN_LABEL", stage, key, value, near });
  for (const { setting, key, value, near } of scopeTypos(rollout, clusters))
    warnings.push({ code: "UNKNOWN_LABEL", setting, key, value, near });
  for (const one of unlabelled(rollout.stages, stages, clusters)) warnings.push({ code: "NOT_KEPT_APART", ...one });
  for (const both of stagesInBoth(rollout, clusters)) warnings.push({ code: "STAGES_IN_BOTH", ...both });
  const left = uncovered.map(({ cluster }) => cluster.slice(cluster.indexOf("/") + 1));
  const [slip] = typos;
  if (left.length > 0 && left.length === members.length) {
    const whole = (value: string) => (slip?.value === undefined ? value : `${slip.key}=${value}`);
    const meant = slip && { key: whole(slip.value ?? slip.key), near: whole(slip.near) };
    warnings.push({ code: "REACHES_NOBODY", of: left.length, ...meant });
  } else if (left.length > 0) warnings.push({ code: "COVERAGE", clusters: left, of: members.length });
  const bare = members
    .filter(({ cluster }) => !cluster.registered && Object.keys(cluster.labels).length === 0)
    .map(({ cluster }) => cluster.name);
  if (bare.length > 0) warnings.push({ code: "IN_CLUSTER", clusters: bare });
  for (const one of strangersInPairs(rollout, members)) warnings.push({ code: "UNKNOWN_PAIR", ...one });
  const steps = (index: number) => (rollout.stages[index]?.steps === undefined ? 1 : weightsOf(rollout.stages[index].steps).length);
  const batches = stages.reduce((sum, stage, index) => sum + stage.batches.length * steps(index), 0);
  const older = goingDown(stages, valuesOfEdits(rollout, release));
  if (older.length > 0) warnings.push({ code: "GOES_DOWN", moves: older.slice(0, MOST_STRANGERS), count: older.length });
  if (batches > LONG_PLAN) warnings.push({ code: "MANY_BATCHES", batches, stepped: rollout.weightPins !== undefined });
  return warnings;
}

const MOST_STRANGERS = 10;

/** Two numbers or three, with what may follow; a commit or a branch is neither newer nor older. */
const VERSION = /^v?\d{1,9}\.\d{1,9}(?:\.\d{1,9})?(?:[-+][\w.+-]{1,100})?$/;

/** Where the release is older than what stands there: the first value of each Application that is. */
function goingDown(stages: readonly PlannedStage[], names: ReturnType<typeof valuesOfEdits>) {
  return stages.flatMap(targetsOfStage).flatMap(({ application, edits }) => {
    const at = edits.findIndex(({ from, to, steps }) => from !== null && steps === undefined && isOlder(to, from));
    const down = edits[at];
    return down === undefined ? [] : [{ application, ...defined({ value: names[at] }), from: down.from ?? "", to: down.to }];
  });
}

/** Whether one version comes before another; false where nobody can tell. */
export function isOlder(to: string, from: string): boolean {
  const [next, now] = [to, from].map((text) => (VERSION.test(text) ? (semver.parse(text) ?? semver.coerce(text)) : null));
  return next != null && now != null && semver.lt(next, now);
}

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
