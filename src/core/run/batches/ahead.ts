/**
 * Puts the next batch forward while the one before settles or bakes (docs/adr/0016), so that between *confirmed* and *merged* lie one
 * record and the merge. It is a batch like any other that is marked `ahead`: the gate of turns stands before it, and the mark goes where
 * that batch would have been made without it (`takeUp` in stage-batches.ts), which looks once more at what it holds. Called by `advance`
 * once a round, last of all: it is made with the intention to merge the one before, in one record, and opened once that has merged.
 *
 * Only a batch whose clusters do not hang on how the one before ends is put forward, and only where the bot merges it by itself: nobody is
 * asked to look at a PR before there is something to see. A rollback has no bakes, and leaves alone what somebody has pinned since.
 */
import { wantsApproval } from "../gates/approval.ts";
import { withinBudget } from "../outcome/failures.ts";
import type { Draft } from "../state/draft.ts";
import { isSettled } from "../state/progress.ts";
import type { Batch, Run } from "../state/run.ts";
import { isMidStep } from "../state/steps.ts";
import { makeBatch } from "./build.ts";
import { remaining, withinLimits } from "./choose.ts";
import { quarantineWhy } from "./quarantine.ts";
import { isPutOff, requeuedOf } from "./requeue.ts";

/** Makes the next batch ahead, where one may be. */
export function goAhead(draft: Draft): void {
  const { run } = draft;
  if (!mergesByItself(run) || !isInFlight(run) || !withinBudget(run)) return;
  const stage = nextStage(draft);
  if (stage === undefined || !isFixed(run, stage)) return;
  const clusters = nextClusters(draft, stage);
  if (clusters.length > 0) makeBatch(draft, stage, clusters, "Planned", undefined, true);
}

function mergesByItself({ kind, spec: { mode, delivery } }: Run): boolean {
  return (
    kind !== "Rollback" && mode === "Run" && delivery.merge === "Auto" && delivery.strategy === "PullRequest" && delivery.ahead !== false
  );
}

/** Something merges, settles or bakes, at its whole weight, and nothing else is made, open or being closed. */
function isInFlight(run: Run): boolean {
  const unsettled = run.batches.filter((batch) => !isSettled(batch));
  const moves = ({ merged, intention }: Batch) => merged !== undefined || intention !== undefined;
  return unsettled.length > 0 && unsettled.every((batch) => moves(batch) && !isMidStep(batch));
}

/** The stage of the next batch: the present one, or once that has nothing left to try, the next that has. */
function nextStage(draft: Draft): number | undefined {
  const { stage, plan } = draft.run;
  if (stage >= plan.stages.length) return undefined;
  if (remaining(draft, stage).length > 0) return stage;
  if (requeuedOf(draft, stage).length > 0) return undefined;
  const next = plan.stages.findIndex((_, index) => index > stage && remaining(draft, index).length > 0);
  return next < 0 ? undefined : next;
}

/** Which clusters travel together there, and when, does not hang on how the batch before ends; nor does who approves it have to see that. */
function isFixed(run: Run, stage: number): boolean {
  const { batching, grow, steps, jitterMs } = run.spec.stages[stage] ?? {};
  return (
    batching === "Fixed" &&
    grow === undefined &&
    steps === undefined &&
    jitterMs === undefined &&
    wantsApproval(run, { stage }) === undefined
  );
}

/** What the plan has next, less what would be put off or left out now; none where that cannot be told. */
function nextClusters(draft: Draft, stage: number): string[] {
  const free = new Set(remaining(draft, stage));
  const planned = draft.run.plan.stages[stage]?.batches ?? [];
  const next = planned.map(({ clusters }) => clusters.filter((cluster) => free.has(cluster))).find((clusters) => clusters.length > 0) ?? [];
  const off = next.map((cluster) => quarantineWhy(draft, cluster) !== undefined || isPutOff(draft, stage, cluster));
  if (off.includes(undefined)) return [];
  return withinLimits(
    draft,
    stage,
    next.filter((_, index) => off[index] === false),
  );
}
