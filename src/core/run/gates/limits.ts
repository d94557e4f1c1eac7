import { epoch } from "../../base/time.ts";
import { goesByLabels, inStage, isOwnLimit, type Limiter, limiter, type Sized } from "../../plan/limits.ts";
import type { OverLimit } from "../../reasons/problems/plan.ts";
import { runReason } from "../../reasons/run.ts";
import { putsBack } from "../state/batch.ts";
import { type Decision, type Scene, wait } from "../state/decision.ts";
import type { Draft } from "../state/draft.ts";
import { batchRef, clustersOf, hostOf, liveTargets, targetsOf, unitOf } from "../state/names.ts";
import { type Batch, isEnded, type Run } from "../state/run.ts";
import { isMidway } from "../state/steps.ts";

/**
 * `limits` of the repo: what all its runs may have in flight together, this batch included. Batches are cut to what the limits could ever
 * allow as they are made; one that is too large all the same, as the limits were lowered since, is built again smaller.
 */
export function limitsGate(scene: Scene, batch: Batch): Decision | undefined {
  const { limits, others, clustersKnown, elsewhere: seen } = scene.world;
  const own = scene.run.spec.limits;
  const begin = limiterOf(scene);
  if (begin === undefined) return undefined;
  const read = { what: runReason("NEXT_READ") };
  if (others === undefined) return wait(runReason("LIMITS_OTHERS_UNREAD"), read);
  const { flying, coming, elsewhere } = beside(scene, batch, others);
  // The next weight of what is in flight adds nothing to it.
  if (coming.length === 0) return undefined;
  const alone = stageLimiterOf(scene, batch.stage)?.().add(sizesOf(scene.run, batch));
  if (alone !== undefined) return tooLarge(scene.run, batch, alone, whose(scene.run, elsewhere, alone));
  const over = begin().add([...flying, ...coming].map((one) => ({ ...one, targets: 1 })));
  if (over !== undefined)
    return wait(runReason("LIMITS_FULL", { over, now: whose(scene.run, flying, over) }), { what: runReason("NEXT_OTHERS_CONFIRMED") });
  const byLabels = limits !== undefined && goesByLabels(limits);
  const needed = byLabels || (own !== undefined && goesByLabels(own));
  if ((clustersKnown || !needed) && (seen !== "unread" || !byLabels)) return undefined;
  return wait(runReason("LIMITS_LABELS_UNREAD"), read);
}

/**
 * What stands against the size of a batch itself, whatever else is in flight: it is built again smaller, or can never travel. Judged before
 * people are asked, so that nobody approves what is closed. What merges alone waits for that in `limitsGate`.
 */
export function sizeGate(scene: Scene, batch: Batch): Decision | undefined {
  const { run, world } = scene;
  const alone = stageLimiterOf(scene, batch.stage)?.().add(sizesOf(run, batch));
  if (alone === undefined || world.others === undefined) return undefined;
  if (mergesAlone(run, batch) && !canBeCut(run, batch)) return undefined;
  const { coming, elsewhere } = beside(scene, batch, world.others);
  return coming.length === 0 ? undefined : tooLarge(run, batch, alone, whose(run, elsewhere, alone));
}

interface Flying {
  key: string;
  /** A real one, whatever its rollout counts. */
  cluster: string;
  counted: string;
  rollout: string;
  stage: string | undefined;
}

/** All that is in flight, of the batch's targets those that are not, and of what is in flight that which is not the batch's. */
function beside(
  { run: mine, now }: Scene,
  batch: Batch,
  others: readonly Run[],
): { flying: Flying[]; coming: Flying[]; elsewhere: Flying[] } {
  const flying = [mine, ...others].flatMap((run) => (isEnded(run) ? leftBehind(run, now) : inFlight(run)));
  const own = liveTargets(batch).map(({ key, cluster }) => flyingOf(mine, batch, { key, cluster }));
  const ownKeys = new Set(own.map(({ key }) => key));
  const flyingKeys = new Set(flying.map(({ key }) => key));
  return {
    flying,
    coming: own.filter(({ key }) => !flyingKeys.has(key)),
    elsewhere: flying.filter(({ key }) => !ownKeys.has(key)),
  };
}

/** Targets of a run from the merge intention until confirmed, at their whole weight where there are steps, failed or left out (docs/spec.md §9.9). */
function inFlight(run: Run): Flying[] {
  const found = new Map<string, Flying>();
  for (const batch of run.batches) {
    if (batch.merged === undefined && batch.intention === undefined) continue;
    for (const { key, cluster, phase } of batch.targets) {
      if (phase === "Merged" || phase === "Syncing" || phase === "Proposed" || isMidway(batch, { phase }))
        found.set(key, flyingOf(run, batch, { key, cluster }));
    }
  }
  return [...found.values()];
}

function flyingOf(run: Run, { stage }: Batch, { key, cluster }: { key: string; cluster: string }): Flying {
  return { key, cluster: hostOf(run, cluster), counted: cluster, rollout: run.rollout, stage: run.plan.stages[stage]?.name };
}

/** An aborted run looks after nothing any more: what it left in flight counts until its deadline, when it would be there or have failed. */
function leftBehind(run: Run, now: number): Flying[] {
  const waited = new Set<string>();
  for (const batch of run.batches)
    for (const { key, deadlineAt } of batch.targets) if (deadlineAt !== undefined && now < epoch(deadlineAt)) waited.add(key);
  return inFlight(run).filter((target) => waited.has(target.key));
}

/** The rollouts of what is in flight, as far as the limit counts them. */
function whose(mine: Run, flying: readonly Flying[], { setting, only }: OverLimit): string[] {
  const counted = isOwnLimit(setting) ? [mine.rollout] : only?.rollouts;
  return [...new Set(flying.map(({ rollout }) => rollout))].filter((name) => counted?.includes(name) !== false);
}

/** A batch that the limits do not allow though nothing else were in flight: waiting would never end. */
function tooLarge(run: Run, batch: Batch, over: OverLimit, now: string[]): Decision | undefined {
  const why = runReason("BATCH_TOO_LARGE", { over });
  if (canBeCut(run, batch)) return { kind: "rebuild", closing: why, why, next: { what: runReason("NEXT_BUILT_SMALLER") } };
  if (mergesAlone(run, batch)) {
    if (now.length === 0) return undefined;
    return wait(runReason("BATCH_MERGES_ALONE", { over, now }), { what: runReason("NEXT_OTHERS_CONFIRMED") });
  }
  const { setting } = over;
  const reason = runReason("BATCH_NEVER_FITS", { batch: batchRef(run, batch), over, clusters: clustersOf(liveTargets(batch)) });
  const next = { what: runReason("NEXT_LIMIT_RAISED", { setting }) };
  return { kind: "pause", reason, ask: runReason("ASK_RAISE_LIMIT", { setting }), why, next };
}

/** What puts old values back is never held for good, nor what has begun to go from weight to weight. */
function mergesAlone(run: Run, batch: Batch): boolean {
  return run.kind === "Rollback" || putsBack(batch) || (batch.step?.index ?? 1) > 1;
}

/** Parts of it may travel one after the other. */
function canBeCut(run: Run, batch: Batch): boolean {
  if (putsBack(batch) || (batch.step?.index ?? 1) > 1) return false;
  const clusters = clustersOf(liveTargets(batch));
  const [first] = clusters;
  if (first === undefined) return false;
  const unit = new Set(unitOf(run, first));
  return clusters.some((cluster) => !unit.has(cluster));
}

/** What a limit lets through, for an answer. */
export function allowedBy(over: OverLimit) {
  return runReason("LIMIT_ALLOWS", { over });
}

/** The limits in force, by the clusters that are known now; undefined: there are none. */
function limiterOf({ run, world }: Pick<Draft, "run" | "world">): Limiter | undefined {
  const { limits, clusters, clustersKnown, fleet, elsewhere } = world;
  const others = elsewhere === "unread" ? [] : (elsewhere ?? []);
  const bounds = { repo: limits, own: { rollout: run.rollout, limits: run.spec.limits } };
  return limiter(bounds, clustersKnown ? [...(fleet?.values() ?? []), ...clusters.values(), ...others] : undefined);
}

/** The same for what travels in one stage. */
export function stageLimiterOf(draft: Pick<Draft, "run" | "world">, stage: number): Limiter | undefined {
  const begin = limiterOf(draft);
  return begin && inStage(begin, { rollout: draft.run.rollout, stage: draft.run.plan.stages[stage]?.name });
}

/** What travels in a batch, cluster by cluster. */
function sizesOf(run: Run, batch: Batch): Sized[] {
  return liveTargets(batch).map(({ cluster }) => ({ cluster: hostOf(run, cluster), counted: cluster, targets: 1 }));
}

/** What travels where these move. */
export function plannedSizes(run: Run, clusters: readonly string[]): Sized[] {
  return clusters.map((one) => ({ cluster: hostOf(run, one), counted: one, targets: targetsOf(run, one).length }));
}
