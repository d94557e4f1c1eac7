import { stepAt } from "../../plan/steps.ts";
import { runReason } from "../../reasons/run.ts";
import { change, type Draft, mapTargets, moveTarget } from "../state/draft.ts";
import { clustersOf, clustersOut, isOut, targetsOf, unitOf } from "../state/names.ts";
import { isSettled } from "../state/progress.ts";
import type { Batch, BatchTarget, Run } from "../state/run.ts";
import { isMidStep } from "../state/steps.ts";
import { addBatch } from "./build.ts";
import { makeRoom } from "./close.ts";
import { leaveBehind } from "./step-left.ts";

/**
 * Makes the batch of the next weight for clusters that are through with the one before, pauses and analyses included. True: one was
 * made, or will be as soon as nothing of another stage is open. Only those go on that are confirmed; who failed, was put off or left
 * out stays where it is.
 */
export function makeNextStep(draft: Draft, stage: number): boolean {
  const due = dueSteps(draft.run, stage);
  for (const { batch, clusters, behind } of due) {
    const { step } = batch;
    const next = step === undefined ? undefined : stepAt(draft.run.spec.stages[stage]?.steps ?? [], step.index + 1);
    if (next === undefined) continue;
    leaveBehind(draft, batch, behind);
    if (clusters.length === 0) {
      stay(draft, batch);
      continue;
    }
    if (!makeRoom(draft, stage)) return true;
    const { ofStage, kind } = batch;
    const targets = clusters.flatMap((cluster) => [...targetsOf(draft.run, cluster)]);
    addBatch(draft, { stage, ofStage, kind, attempt: attemptOf(draft.run, stage, ofStage, next.index), step: next }, targets);
    return true;
  }
  return false;
}

/** Settled weights that are not the whole one, oldest first, with the clusters that no later batch of the stage has taken; `behind`: those that got through alone. */
function dueSteps(run: Run, stage: number): { batch: Batch; clusters: string[]; behind: string[] }[] {
  if (!run.batches.some((batch) => batch.stage === stage && isMidStep(batch))) return [];
  const gone = clustersOut(run);
  const due: ReturnType<typeof dueSteps> = [];
  for (const batch of run.batches.toReversed()) {
    if (batch.stage !== stage) continue;
    if (isMidStep(batch) && batch.merged !== undefined && isSettled(batch)) {
      const through = clustersOf(batch.targets).filter((cluster) => !gone.has(cluster) && isThrough(batch, cluster));
      const whole = through.filter((cluster) => unitOf(run, cluster).every((member) => through.includes(member) || gone.has(member)));
      due.push({ batch, clusters: whole, behind: through.filter((cluster) => !whole.includes(cluster)) });
    }
    // Left out at a later weight, or left by itself: it does not begin again from an earlier one.
    for (const target of batch.targets) if (!isOut(target) || target.phase === "Skipped") gone.add(target.cluster);
  }
  // Whoever is to stay is named, though it was taken along once, and failed again, since.
  return due.reverse().filter(({ batch, clusters, behind }) => clusters.length + behind.length > 0 || batch.targets.some(isHealthy));
}

function isHealthy({ phase }: BatchTarget): boolean {
  return phase === "Healthy";
}

function isThrough(batch: Batch, cluster: string): boolean {
  const own = batch.targets.filter((target) => target.cluster === cluster && !isOut(target));
  const done = (target: BatchTarget) => target.phase === "Healthy" || target.phase === "Baked" || target.excused === true;
  return own.length > 0 && own.every(done);
}

/** A step that is brought to some clusters later, after a retry, has the branch of another attempt. */
function attemptOf(run: Run, stage: number, ofStage: number, index: number): number {
  const others = run.batches.filter((batch) => batch.stage === stage && batch.ofStage === ofStage && batch.step?.index === index);
  return Math.max(0, ...others.map((batch) => batch.attempt)) + 1;
}

/** A cluster is looked at anew at its weight: those that stayed there for its sake go on with it. */
export function takeAlong(draft: Draft, batch: Batch, cluster: string): void {
  if (!isMidStep(batch)) return;
  const unit = unitOf(draft.run, cluster);
  const stayed = clustersOf(batch.targets.filter(({ phase }) => phase === "Healthy" || phase === "Baked"));
  const skipped = draft.run.skipped.filter((one) => !unit.includes(one.cluster) || !stayed.includes(one.cluster));
  if (skipped.length < draft.run.skipped.length) change(draft, { skipped });
}

/** Nobody of it goes on: what is there stays at its weight, and is in flight no more. */
function stay(draft: Draft, { number, step }: Batch): void {
  mapTargets(draft, number, (target) =>
    isHealthy(target) ? moveTarget(draft, target, "Baked", runReason("STAYS_AT_WEIGHT", { weight: step?.weight ?? 0 })) : target,
  );
  draft.transition = true;
}
