import type { Rollout, Stage } from "../spec/rollout.ts";
import { apart } from "./kept-apart.ts";
import { type Cluster, type Edit, editKey, type Plan, type PlannedStage, type Target } from "./plan-types.ts";

/** The batch that would be opened now. */
export interface NextBatch {
  /** Name of its stage. */
  stage: string;
  /** Number of the planned batch in its stage, from 1; with `Rolling`, of the first cluster's. */
  batch: number;
  targets: Target[];
}

type State = "done" | "inFlight" | "pending";

/**
 * Where a plan stands, by an inventory with status (docs/spec.md §2.3). A cluster whose every target holds the release is *done*
 * where all are healthy and synced, else *in flight*: whoever moved it, it may be unavailable, so it counts against the
 * stage's window first. Every other cluster is *pending*.
 *
 * - `Fixed`: of the first planned batch that is not done, its pending clusters, as many as the window has room for. While
 *   the batch has nothing pending it is waited for, whatever room there is.
 * - `Rolling`: the first pending clusters of the stage's batches, as many as there is room for.
 * - Requeued clusters are not waited for by the stage's batches, but the next stage waits for them: once only they are
 *   left there is nothing to open until one stops matching `requeue` (a plan made then has it in a batch) or is given up.
 * - Clusters that share a pin go together or not at all; with `topologyKey` or `pairs` none joins one in flight that it is kept apart from.
 *
 * null: nothing to open now, or no target has a status.
 */
export function nextBatch(plan: Plan, rollout: Rollout, targets: readonly Target[], clusters: readonly Cluster[] = []): NextBatch | null {
  if (!targets.some((target) => target.status !== undefined)) return null;
  const byCluster = Map.groupBy(targets, (target) => target.cluster);
  const labels = new Map(clusters.map((cluster) => [cluster.key, cluster]));
  for (const [i, planned] of plan.stages.entries()) {
    const stage = rollout.stages[i];
    if (stage === undefined) return null;
    const states = new Map([...planned.clusters, ...planned.requeued].map((key) => [key, stateOf(byCluster.get(key) ?? [])]));
    if ([...states.values()].every((state) => state === "done")) continue;
    const current = planned.batches.findIndex((batch) => batch.clusters.some((key) => states.get(key) !== "done"));
    if (current < 0) return null;
    const chosen = choose(planned, stage, current, states, byCluster, labels);
    const [first] = chosen;
    if (first === undefined) return null;
    const batch = planned.batches.findIndex(({ clusters: keys }) => keys.includes(first)) + 1;
    return { stage: planned.name, batch, targets: chosen.flatMap((key) => byCluster.get(key) ?? []) };
  }
  return null;
}

function stateOf(targets: readonly Target[]): State {
  const moved = targets.every((target) => target.edits.length > 0 && target.edits.every(isWritten));
  if (targets.length === 0 || !moved) return "pending";
  return targets.every((target) => target.status?.healthy === true && target.status.synced) ? "done" : "inFlight";
}

/** A share of replicas is known with the batch only: what is planned tells it then, and the version does here. */
function isWritten({ from, to, weigh }: Edit): boolean {
  return from === to || weigh?.replicas !== undefined;
}

function choose(
  planned: PlannedStage,
  stage: Stage,
  current: number,
  states: ReadonlyMap<string, State>,
  byCluster: ReadonlyMap<string, Target[]>,
  labels: ReadonlyMap<string, Cluster>,
): string[] {
  const inFlight = [...states].filter(([, state]) => state === "inFlight").map(([key]) => key);
  let room = planned.maxUnavailable - inFlight.length;
  const apartFrom = apart(stage);
  const valuesOf = (key: string) => {
    const cluster = labels.get(key);
    return cluster === undefined ? [] : apartFrom(cluster);
  };
  const taken = new Set(inFlight.flatMap(valuesOf));
  const candidates = stage.batching === "Rolling" ? planned.clusters : (planned.batches[current]?.clusters ?? []);
  const chosen: string[] = [];
  for (const unit of unitsOf(
    candidates.filter((key) => states.get(key) === "pending"),
    byCluster,
  )) {
    const values = unit.flatMap(valuesOf);
    if (unit.length > room) break;
    if (values.some((value) => taken.has(value))) continue;
    room -= unit.length;
    for (const value of values) taken.add(value);
    chosen.push(...unit);
  }
  return chosen;
}

/** Clusters next to each other that share a pin; planning puts them next to each other. */
function unitsOf(keys: readonly string[], byCluster: ReadonlyMap<string, Target[]>): string[][] {
  const units: string[][] = [];
  let pins = new Set<string>();
  for (const key of keys) {
    const own = (byCluster.get(key) ?? []).flatMap((target) => target.edits.map(editKey));
    const last = units.at(-1);
    if (last !== undefined && own.some((pin) => pins.has(pin))) last.push(key);
    else {
      units.push([key]);
      pins = new Set();
    }
    for (const pin of own) pins.add(pin);
  }
  return units;
}
