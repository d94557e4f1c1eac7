/** What a person should know of a plan before it starts. */
import semver from "semver";
import { defined } from "../base/defined.ts";
import { rankIn } from "../base/environments.ts";
import { nearest } from "../base/nearest.ts";
import { formatSelector, matcher, type Selectable, type Selector } from "../base/selector.ts";
import type { Warning } from "../reasons/problems/problem.ts";
import type { Rollout } from "../spec/rollout.ts";
import { unlabelled } from "./kept-apart.ts";
import { type Edit, type Plan, type PlannedStage, type Release, targetsOfStage } from "./plan-types.ts";
import { MOST_LOOKS, MOST_TYPOS, scopeTypos, stageTypos, wantsOf } from "./selector-typos.ts";
import { weightsOf } from "./steps.ts";
import type { Member } from "./units.ts";
import { valuesOfEdits } from "./values.ts";

/** docs/spec.md §9.19: GitHub lets about one merge a minute through. */
const LONG_PLAN = 50;

export function warningsOf(
  { rollout, release }: { rollout: Rollout; release: Release },
  stages: readonly PlannedStage[],
  uncovered: Plan["uncovered"],
  members: readonly Member[],
): Warning[] {
  const warnings: Warning[] = [];
  if (members.length === 0) warnings.push({ code: "NO_TARGETS", source: rollout.source });
  const reached = new Set(stages.flatMap((stage) => (stage.clusters.length + stage.requeued.length > 0 ? [stage.name] : [])));
  for (const [i, stage] of stages.entries()) {
    if (reached.has(stage.name) || members.length === 0) continue;
    const selector = rollout.stages[i]?.selector;
    warnings.push({ code: "EMPTY_STAGE", stage: stage.name, selector: selector && formatSelector(selector) });
  }
  const clusters = members.map(({ cluster }) => cluster);
  const typos = stageTypos(rollout, clusters, reached);
  for (const { path: _p, atKey: _k, ...typo } of [...typos, ...scopeTypos(rollout, clusters)])
    warnings.push({ code: "UNKNOWN_LABEL", ...typo });
  for (const one of unlabelled(rollout.stages, stages, clusters)) warnings.push({ code: "NOT_KEPT_APART", ...one });
  for (const both of stagesInBoth(rollout, clusters)) warnings.push({ code: "STAGES_IN_BOTH", ...both });
  const left = uncovered.map(({ cluster }) => cluster.slice(cluster.indexOf("/") + 1));
  const slip = typos.find(({ stage }) => stage !== undefined);
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
  const known = new Map<string, boolean>();
  const goesDown = ({ from, to, steps }: Edit) => {
    if (from === null || steps !== undefined || from === to) return false;
    // Most clusters stand at one of a few versions.
    const move = `${from}\n${to}`;
    const older = known.get(move) ?? isOlder(to, from);
    known.set(move, older);
    return older;
  };
  return stages.flatMap(targetsOfStage).flatMap(({ application, edits }) => {
    const at = edits.findIndex(goesDown);
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

/** Two stages of different environments that select the same items: those travel with the first. */
interface InBoth {
  /** The first and the second. */
  stages: readonly [string, string];
  names: readonly string[];
}

/**
 * Returns pairs of stages whose labels say different environments, `dev` and `prod`, and match one item all the same: in one of them it is by
 * mistake. A canary ahead of its environment, or a pilot ahead of regions, is none of these.
 */
export function stagesInBoth({ stages }: Pick<Rollout, "stages">, items: readonly Selectable[]): InBoth[] {
  const known = stages.flatMap(({ name, selector }) => {
    const rank = environmentOf(selector);
    return rank === undefined ? [] : [{ name, rank, selects: matcher(selector) }];
  });
  const found: InBoth[] = [];
  let left = MOST_LOOKS;
  for (const [i, first] of known.entries()) {
    const others = known.slice(i + 1).filter(({ rank }) => rank !== first.rank);
    if (others.length === 0) continue;
    const own = items.filter(first.selects);
    left -= items.length;
    for (const second of others) {
      if (left <= 0 || found.length === MOST_TYPOS) return found;
      const names = own.filter(second.selects).map(({ name }) => name);
      left -= own.length;
      if (names.length > 0) found.push({ stages: [first.name, second.name], names });
    }
  }
  return found;
}

/** The one environment that a selector names, each value of a label; of a canary none: it is a part of another. */
function environmentOf(selector: Selector): number | undefined {
  const wants = wantsOf(selector).filter(({ value }) => value !== undefined);
  const keys = [...Map.groupBy(wants, ({ key }) => key).values()];
  const ranks = keys.map((own) => [...new Set(own.map(({ value = "" }) => rankIn(value)))]);
  const named = new Set(ranks.flatMap(([rank, ...others]) => (rank === undefined || others.length > 0 ? [] : [rank])));
  const [rank, ...others] = named;
  return others.length > 0 || rank === CANARY ? undefined : rank;
}

const CANARY = rankIn("canary");
