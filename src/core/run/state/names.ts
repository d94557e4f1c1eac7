import { editKey, type Plan, type PlannedStage, type PlannedTarget, targetsOfStage } from "../../plan/plan-types.ts";
import type { BatchRef, PullRef } from "../../reasons/refs.ts";
import type { RunReason } from "../../reasons/run.ts";
import type { Batch, BatchTarget, Joined, Run } from "./run.ts";

/** What names are looked up in: the frozen plan, and the clusters that joined beside it. */
export type Planned = Pick<Run, "plan" | "joined">;

/** What a frozen plan says of its clusters, worked out once a plan: a plan never changes, so this is a memory, not a state. */
interface PlanIndex {
  /** Names people use for a cluster → keys that bear it. */
  byName: Map<string, string[]>;
  stageOf: Map<string, number>;
  targetsOf: Map<string, PlannedTarget[]>;
  /** Cluster → clusters whose pins it shares, itself included; only where more than one. */
  unitOf: Map<string, string[]>;
  targets: number;
}

const indexes = new WeakMap<Plan, PlanIndex>();
/** With those that joined: each list of them is new where one is added. */
const amended = new WeakMap<readonly Joined[], { plan: Plan; index: PlanIndex }>();

function indexOf({ plan, joined }: Planned): PlanIndex {
  if (joined === undefined || joined.length === 0) {
    const known = indexes.get(plan);
    if (known !== undefined) return known;
    const index = makeIndex(plan.stages);
    indexes.set(plan, index);
    return index;
  }
  const known = amended.get(joined);
  if (known !== undefined && known.plan === plan) return known.index;
  const late = joined.map(({ cluster, stage, targets }) => ({
    stage,
    clusters: [cluster],
    requeued: [],
    batches: [],
    requeuedTargets: targets,
  }));
  const index = makeIndex([...plan.stages, ...late]);
  amended.set(joined, { plan, index });
  return index;
}

type Indexed = Pick<PlannedStage, "clusters" | "requeued" | "requeuedTargets"> & {
  /** Where it is not the place in the list. */
  stage?: number;
  batches: { targets: PlannedTarget[] }[];
};

function makeIndex(stages: readonly Indexed[]): PlanIndex {
  const index: PlanIndex = { byName: new Map(), stageOf: new Map(), targetsOf: new Map(), unitOf: new Map(), targets: 0 };
  const sharers = new Map<string, Set<string>>();
  for (const [place, stage] of stages.entries()) {
    const number = stage.stage ?? place;
    for (const cluster of [...stage.clusters, ...stage.requeued]) {
      index.stageOf.set(cluster, number);
      push(index.byName, shortOf(cluster), cluster);
    }
    for (const target of targetsOfStage(stage)) {
      index.targets += 1;
      push(index.targetsOf, target.cluster, target);
      for (const edit of target.edits) {
        const key = editKey(edit);
        const set = sharers.get(key) ?? new Set();
        sharers.set(key, set.add(target.cluster));
      }
    }
  }
  joinUnits(index, sharers);
  return index;
}

/** Clusters that share a pin, directly or over others, are one unit: they can only move together (docs/spec.md §9.2). */
function joinUnits(index: PlanIndex, sharers: Map<string, Set<string>>): void {
  for (const clusters of sharers.values()) {
    if (clusters.size < 2) continue;
    const unit = new Set<string>();
    for (const cluster of clusters) {
      for (const member of index.unitOf.get(cluster) ?? [cluster]) unit.add(member);
    }
    const members = [...unit];
    for (const member of members) index.unitOf.set(member, members);
  }
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** Without its control plane. */
export function shortOf(cluster: string): string {
  return cluster.slice(cluster.indexOf("/") + 1);
}

/** A cluster as people call it: its name, or `controlPlane/name` where two control planes have one of that name. */
export function clusterName(run: Planned, cluster: string): string {
  const short = shortOf(cluster);
  return (indexOf(run).byName.get(short)?.length ?? 0) > 1 ? cluster : short;
}

/** The key of the cluster a person means, or why it is not clear which. */
export function clusterKey(run: Planned, name: string): { key: string } | { error: RunReason } {
  const index = indexOf(run);
  if (index.stageOf.has(name)) return { key: name };
  const keys = index.byName.get(name) ?? [];
  const [key] = keys;
  if (key === undefined) return { error: { code: "CLUSTER_UNKNOWN", name } };
  if (keys.length > 1) return { error: { code: "CLUSTER_AMBIGUOUS", name, keys } };
  return { key };
}

/** Index of the plan's stage that has the cluster; undefined: none. */
export function stageOf(run: Planned, cluster: string): number | undefined {
  return indexOf(run).stageOf.get(cluster);
}

export function targetsOf(run: Planned, cluster: string): readonly PlannedTarget[] {
  return indexOf(run).targetsOf.get(cluster) ?? [];
}

/** Key of the cluster that it is on: of a cluster its own. */
export function hostOf(run: Planned, cluster: string): string {
  return targetsOf(run, cluster)[0]?.on ?? cluster;
}

/** Keys of one cluster: Argo CD's own, or a namespace there, is called by its control plane where a rollout names several. */
export function keysOf(cluster: string): string[] {
  const [, plane = "", name = "", rest = ""] = /^([^/]*)\/([^:]*)(.*)$/s.exec(cluster) ?? [];
  if (name !== "in-cluster" && name !== plane) return [cluster];
  return [cluster, `${plane}/${name === plane ? "in-cluster" : plane}${rest}`];
}

/** The clusters that have to move together with this one, itself included. */
export function unitOf(run: Planned, cluster: string): readonly string[] {
  return indexOf(run).unitOf.get(cluster) ?? [cluster];
}

export function clusterKeys(run: Planned): string[] {
  return [...indexOf(run).stageOf.keys()];
}

export function clusterCount(run: Planned): number {
  return indexOf(run).stageOf.size;
}

/** Out of its batch: left out, or put off to a later batch of its stage. */
export function isOut(target: Pick<BatchTarget, "phase">): boolean {
  return target.phase === "Skipped" || target.phase === "Requeued" || target.phase === "RolledBack";
}

/** The targets a batch's PR changes or watches. */
export function liveTargets(batch: Batch): BatchTarget[] {
  return batch.targets.filter((target) => !isOut(target));
}

export function clustersOf(targets: Iterable<Pick<BatchTarget, "cluster">>): string[] {
  const clusters = new Set<string>();
  for (const target of targets) clusters.add(target.cluster);
  return [...clusters];
}

/** Clusters that were left out, put off, or are in quarantine. */
export function clustersOut({ skipped, requeued, quarantined = [] }: Run): Set<string> {
  return new Set([...skipped, ...requeued, ...quarantined].map((one) => one.cluster));
}

/** Every edit is at its value already: the target takes part without a change. */
export function isThere(target: Pick<BatchTarget, "edits">): boolean {
  return target.edits.every((edit) => edit.from === edit.to);
}

/** Returns a batch as reasons name it. */
export function batchRef(run: Run, { stage, ofStage, kind, step }: Pick<Batch, "stage" | "ofStage" | "kind" | "step">): BatchRef {
  const name = run.plan.stages[stage]?.name ?? String(stage + 1);
  return { stage: name, number: ofStage, kind, step: step && { index: step.index, of: step.of, weight: step.weight } };
}

/** Returns a batch's PR as reasons name it. */
export function pullRef(pull: { number: number } | undefined): PullRef {
  return pull === undefined || pull.number === 0 ? null : pull.number;
}
