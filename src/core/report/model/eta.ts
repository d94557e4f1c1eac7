/** When something is expected to be over, as past batches of this run and past runs of its rollout went. Called by the builders of the model. */
import { epoch, iso } from "../../base/time.ts";
import { type Batch, isMoving, type Run } from "../../run/state/run.ts";
import { isMidStep } from "../../run/state/steps.ts";
import { bindingOf, hangsOnLabels } from "../../spec/windows-binding.ts";
import { projectAll, type WindowSet } from "../../spec/windows-together.ts";
import { percentiles } from "../plan/duration.ts";
import { entryOf } from "../reasons/say.ts";
import type { Context } from "./context.ts";
import type { Eta } from "./types.ts";

/** It goes on without anybody: how long a person takes nobody knows, so nothing is said to be done at a time. */
function goesOn(run: Run): boolean {
  return isMoving(run) && run.ending === undefined && !(run.next && entryOf(run.next.what)?.by === "person");
}

interface Share {
  p50: number;
  p90: number;
}

/**
 * Of each stage, which begins once those before it are over; the run ends with the last. undefined: the run does not go on by
 * itself, the stage is over, or nothing is known of how long that takes.
 */
export function etasOfStages(context: Context): (Eta | undefined)[] {
  const { run, now, history } = context;
  const { freezes = [], clusters } = history;
  const setsOf = bindingOf(run.spec, freezes, (key) => clusters?.get(key));
  const shares: Share[] = [];
  const sets: (readonly WindowSet[])[] = [];
  let isKnown = goesOn(run);
  return run.plan.stages.map((planned, stage) => {
    if (!isKnown || stage < run.stage) return undefined;
    const open = batchesLeft(run, stage);
    if (open === 0) return etaOf(sets, shares, now);
    const each = perBatch(context, stage);
    // Whom a freeze binds is not known.
    isKnown = each !== undefined && (clusters !== undefined || !hangsOnLabels({ rollout: run.spec, stage }, freezes));
    if (!isKnown || each === undefined) return undefined;
    for (const batch of planned.batches.slice(-open)) sets.push(setsOf(stage, batch.clusters));
    shares.push({ p50: each.p50 * open, p90: each.p90 * open });
    return etaOf(sets, shares, now);
  });
}

/** The work of all shares, spread over the batches that `sets` bind. */
function etaOf(sets: readonly (readonly WindowSet[])[], shares: readonly Share[], now: number): Eta | undefined {
  if (sets.length === 0) return undefined;
  const at = (work: (share: Share) => number) => {
    const ms = shares.reduce((sum, share) => sum + work(share), 0) / sets.length;
    return projectAll(
      sets.map((own) => ({ sets: own, ms })),
      now,
    );
  };
  const [half, most] = [at(({ p50 }) => p50), at(({ p90 }) => p90)];
  return half.opens && most.opens ? { p50: iso(half.doneAt), p90: iso(most.doneAt) } : undefined;
}

/** Of a batch in flight: as long as batches of this run took from their pull request on; a bake that is under way ends when it does. */
export function etaOfBatch(context: Context, batch: Batch): Eta | undefined {
  if (!isMoving(context.run) || batch.phase === "Settled" || batch.phase === "Closed") return undefined;
  const certain = batch.phase === "Baking" ? batch.bake?.until : undefined;
  if (certain !== undefined) return { p50: certain, p90: certain };
  const begun = batch.merged?.at;
  const each = perBatch(context, batch.stage);
  if (begun === undefined || each === undefined) return undefined;
  const at = (ms: number) => iso(Math.max(context.now, epoch(begun) + ms));
  return { p50: at(each.p50), p90: at(each.p90) };
}

function batchesLeft(run: Run, stage: number): number {
  const all = run.plan.stages[stage]?.batches.length ?? 0;
  const done = run.batches.filter((batch) => batch.stage === stage && batch.phase === "Settled" && !isMidStep(batch)).length;
  return Math.max(0, all - done);
}

/** By the batches of this stage in this run, else those of past runs, else all of this run; never less than its bake and settling. */
function perBatch({ run, history }: Context, stage: number): Share | undefined {
  const planned = run.plan.stages[stage];
  const least = (run.spec.stages[stage]?.bakeMs ?? 0) + run.spec.settleMs;
  const bake = run.spec.stages[stage]?.bakeMs ?? 0;
  const past = (history.stages.get(planned?.name ?? "") ?? []).map((ms) => ms / Math.max(1, planned?.batches.length ?? 1));
  const own = tookOf(run.batches.filter((batch) => batch.stage === stage));
  const rest = (): number[] => {
    const others = run.batches.map((batch) => ({ batch, bake: run.spec.stages[batch.stage]?.bakeMs ?? 0 }));
    return others.flatMap(({ batch, bake: theirs }) => tookOf([batch]).map((ms) => Math.max(0, ms - theirs) + bake));
  };
  // What a weight took says nothing of all weights together.
  const weighed = run.spec.stages[stage]?.steps !== undefined;
  const known = percentiles(own.length > 0 && !weighed ? own : past.length > 0 || weighed ? past : rest());
  return known && { p50: Math.max(least, known.p50), p90: Math.max(least, known.p90) };
}

function tookOf(batches: readonly Batch[]): number[] {
  return batches.flatMap(({ settledAt, pull, merged, step }) => {
    if (step !== undefined) return [];
    const begun = merged?.at ?? pull?.openedAt;
    return settledAt === undefined || begun === undefined ? [] : [Math.max(0, epoch(settledAt) - epoch(begun))];
  });
}
