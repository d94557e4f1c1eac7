/**
 * Which clusters may travel next, and together, where no batch of the plan says it (`grow`, `Rolling`, catch-up), and what of a batch the
 * limits let through.
 */
import { apart, keepsApart } from "../../plan/kept-apart.ts";
import type { PlannedStage } from "../../plan/plan-types.ts";
import { runReason } from "../../reasons/run.ts";
import { plannedSizes, stageLimiterOf } from "../gates/limits.ts";
import { putsBack } from "../state/batch.ts";
import { type Draft, say } from "../state/draft.ts";
import { clustersOf, clustersOut, isOut, unitOf } from "../state/names.ts";
import { listOccupied } from "../state/progress.ts";
import type { Batch, BatchTarget, Run } from "../state/run.ts";

/** Clusters of the stage's planned batches that no batch has taken yet. */
export function remaining({ run }: Draft, stage: number): string[] {
  const gone = clustersOut(run);
  for (const batch of run.batches)
    if (batch.stage === stage && batch.phase !== "Settled") for (const target of batch.targets) gone.add(target.cluster);
  return untouched(run, stage).filter((cluster) => !gone.has(cluster));
}

/** What is out of the settled batches' hands, by planned stage: they become more only now and then. */
const leftBySettled = new WeakMap<PlannedStage, { settled: Batch[]; left: string[] }>();

/** The stage's clusters that no settled batch has. */
function untouched({ plan, batches }: Run, stage: number): string[] {
  const planned = plan.stages[stage];
  if (planned === undefined) return [];
  const settled = batches.filter((batch) => batch.stage === stage && batch.phase === "Settled");
  const known = leftBySettled.get(planned);
  if (known !== undefined && known.settled.length === settled.length && settled.every((batch, at) => batch === known.settled[at]))
    return known.left;
  const gone = new Set(settled.flatMap((batch) => batch.targets.map((target) => target.cluster)));
  const left = planned.clusters.filter((cluster) => !gone.has(cluster));
  leftBySettled.set(planned, { settled, left });
  return left;
}

/** Chooses at most `free` clusters in order, units whole, and none kept apart from one in flight. */
export function choose(draft: Draft, stage: number, left: readonly string[], free: number): string[] {
  const valuesOf = apartIn(draft, stage);
  const inFlight = listOccupied(draft.run, stage);
  const values = new Set([...inFlight].flatMap(valuesOf));
  const chosen: string[] = [];
  for (const cluster of left) {
    if (chosen.includes(cluster)) continue;
    const unit = unitOf(draft.run, cluster).filter((member) => left.includes(member));
    // Order is kept: a unit that has no room yet is not overtaken for ever by smaller ones.
    if (chosen.length > 0 && chosen.length + unit.length > free) break;
    // A window that grows begins smaller than a unit may be: it travels alone then.
    if (unit.length > free && (draft.run.spec.stages[stage]?.grow === undefined || inFlight.size > 0)) break;
    const own = unit.flatMap(valuesOf);
    if (own.some((value) => values.has(value))) continue;
    for (const value of own) values.add(value);
    chosen.push(...unit);
  }
  return chosen;
}

/** Two of these clusters that never travel in one batch; undefined: there are none, as far as is known. */
export function keptApart(draft: Draft, stage: number, clusters: readonly string[]): [string, string] | undefined {
  const valuesOf = apartIn(draft, stage);
  const held = new Map<string, string>();
  for (const cluster of clusters) {
    for (const value of valuesOf(cluster)) {
      const other = held.get(value);
      if (other !== undefined) return [other, cluster];
      held.set(value, cluster);
    }
  }
  return undefined;
}

/** Whether clusters are kept apart by labels that cannot be read now: which may travel together is not known then. */
export function isUnreadable(draft: Draft, stage: number): boolean {
  if (draft.world.clustersKnown || draft.run.spec.stages[stage]?.topologyKey === undefined) return false;
  sayUnread(draft, "apart");
  return true;
}

/** Says that the run waits for the clusters to be read, and what about them it wants to know. */
export function sayUnread(draft: Draft, about: "apart" | "putOff" | "requeued"): void {
  say(draft, runReason("CLUSTERS_UNREAD", { about }), { what: runReason("NEXT_READ") });
}

function apartIn(draft: Draft, stage: number): (cluster: string) => string[] {
  const spec = draft.run.spec.stages[stage];
  if (spec === undefined || !keepsApart(spec)) return () => [];
  const from = apart(spec);
  // Labels that cannot be read now keep nothing apart; names still do.
  return (key) => from(draft.world.clusters.get(key) ?? { key, name: key.slice(key.indexOf("/") + 1), labels: {}, server: "" });
}

/**
 * Takes of these clusters, in order, as many as limits would let travel in one batch with nothing else in flight. A larger one would
 * wait for ever. What has to travel together stays together, and of the first that is never less.
 */
export function withinLimits(draft: Draft, stage: number, clusters: readonly string[]): string[] {
  const tally = stageLimiterOf(draft, stage)?.();
  if (tally === undefined) return [...clusters];
  const given = new Set(clusters);
  const kept: string[] = [];
  const seen = new Set<string>();
  for (const cluster of clusters) {
    if (seen.has(cluster)) continue;
    const unit = unitOf(draft.run, cluster).filter((member) => given.has(member));
    for (const member of unit) seen.add(member);
    const over = tally.add(plannedSizes(draft.run, unit));
    if (kept.length > 0 && over !== undefined) break;
    kept.push(...unit);
  }
  return kept;
}

/** Splits a batch that is built again: targets that may still travel together, and clusters left for a later one. */
export function fitting(draft: Draft, batch: Batch, targets: BatchTarget[]): { targets: BatchTarget[]; dropped: string[] } {
  // The later weights of what is in flight, and what puts old values back, stay whole.
  if (putsBack(batch) || (batch.step?.index ?? 1) > 1) return { targets, dropped: [] };
  const live = clustersOf(targets.filter((target) => !isOut(target)));
  const fits = new Set(withinLimits(draft, batch.stage, live));
  const kept = targets.filter((target) => isOut(target) || fits.has(target.cluster));
  return { targets: kept, dropped: live.filter((cluster) => !fits.has(cluster)) };
}
