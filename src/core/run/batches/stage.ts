/** Goes from stage to stage and to the run's end; after the last stage clusters that joined, or are back, are caught up. */
import { runReason } from "../../reasons/run.ts";
import { failedChecks } from "../checks/judge.ts";
import { afterStage } from "../checks/stage-checks.ts";
import { budget, unacceptedFailures, withinBudget } from "../outcome/failures.ts";
import { change, type Draft, say, wakeAt } from "../state/draft.ts";
import { liveTargets } from "../state/names.ts";
import { isSettled, waitsOutOfTurn } from "../state/progress.ts";
import { hasGoneOn } from "../state/steps.ts";
import { joinedToTry } from "../targets/joiners.ts";
import { seesClusterOf } from "../targets/unseen.ts";
import { makeBatch } from "./build.ts";
import { listReturned, release, wantsWord } from "./quarantine.ts";
import { requeue } from "./requeue.ts";
import { requeuedAreDone, revive, stageIsDone } from "./stage-batches.ts";
import { makeNextStep } from "./step-make.ts";

/** Makes the next batch, if one may be made now, and moves from stage to stage to the end. */
export function moveOn(draft: Draft): void {
  // One PR at a time: what is being closed is seen closed first.
  if (draft.run.batches.some((batch) => batch.closing !== undefined)) return;
  for (;;) {
    const { stage } = draft.run;
    const planned = draft.run.plan.stages[stage];
    if (planned === undefined) {
      if (lateIsDone(draft)) succeed(draft);
      return;
    }
    if (!stageIsDone(draft, stage) || !withinBudget(draft.run)) return;
    const blocked = afterStage(draft, stage);
    if (blocked !== undefined) {
      say(draft, blocked.why, blocked.next);
      return;
    }
    change(draft, { stage: stage + 1 }, runReason("STAGE_DONE", { stage: planned.name }));
  }
}

/** What the stages left to the run's end: clusters that joined or are back, one batch after the other. */
function lateIsDone(draft: Draft): boolean {
  const stages = [...draft.run.plan.stages.keys()];
  if (stages.some((stage) => revive(draft, stage))) return false;
  const open = draft.run.batches.filter((batch) => !isSettled(batch));
  if (!open.every(waitsOutOfTurn) || !withinBudget(draft.run)) return false;
  if (stages.some((stage) => makeNextStep(draft, stage)) || open.length > 0) return false;
  for (const stage of stages) callLate(draft, stage);
  if (!stages.every((stage) => requeuedAreDone(draft, stage))) return false;
  // With too many in quarantine somebody is asked first.
  return !wantsWord(draft.run) && withinBudget(draft.run) && !isPinMissing(draft) && isRestored(draft);
}

/** Puts clusters that joined, and those that are back from quarantine, to the end of their stage. What is not back by then stays as it is. */
function callLate(draft: Draft, stage: number): void {
  const joined = joinedToTry(draft.run).filter((one) => one.stage === stage);
  const names = joined.map((one) => one.cluster);
  if (names.length > 0) requeue(draft, stage, names, runReason("JOINED_LATE"));
  const clusters = listReturned(draft, stage);
  if (clusters.length === 0) return;
  release(draft, clusters);
  requeue(draft, stage, clusters, runReason("BACK_FROM_QUARANTINE"));
  draft.events.push(runReason("QUARANTINE_OVER", { clusters }));
}

/** How soon what could not be read is looked at again. */
const AGAIN_MS = 30_000;

/**
 * Before a run ends well: a cluster that was confirmed and is registered still, without its pin, is leaving or somebody's mistake,
 * and which of both is waited for. What cannot be read may be either.
 */
function isPinMissing(draft: Draft): boolean {
  const { run, world } = draft;
  for (const batch of run.batches) {
    if (batch.merged === undefined) continue;
    for (const target of liveTargets(batch)) {
      if (target.phase === "Failed" || hasGoneOn(batch, target)) continue;
      const { cluster } = target;
      const pins = world.targets.get(target.key)?.pins;
      if (pins === undefined) {
        say(draft, runReason("PINS_UNREAD", { clusters: [cluster] }), { what: runReason("NEXT_READ") });
        wakeAt(draft, draft.now + AGAIN_MS);
        return true;
      }
      if (!pins.includes(null) || (seesClusterOf(draft, cluster) && !world.clusters.has(cluster))) continue;
      say(draft, runReason("PIN_LEAVING", { cluster }), { what: runReason("NEXT_LOOKED_AGAIN") });
      return true;
    }
  }
  return false;
}

/** The release values are put back by a rollback's last batch; where all of its clusters were left out, by a batch of its own. False: it was just made. */
function isRestored(draft: Draft): boolean {
  const { run } = draft;
  if (run.restore === undefined || run.batches.some((batch) => batch.also !== undefined)) return true;
  makeBatch(draft, run.plan.stages.length - 1, [], "Planned");
  return false;
}

function succeed(draft: Draft): void {
  const { run } = draft;
  const targets = run.batches.flatMap((batch) => batch.targets.filter((target) => target.phase === "Failed"));
  const gone = run.requeued.filter((one) => one.failed);
  const failed = [...new Set([...run.failedAccepted, ...[...targets, ...gone].map((one) => one.cluster)])];
  const checks = failedChecks(run);
  const beyond = run.spec.onFailure.action === "Continue" && (unacceptedFailures(run).length > budget(run) || checks.length > 0);
  const phase = beyond ? "Failed" : run.kind === "Rollback" ? "RolledBack" : "Succeeded";
  const skipped = run.skipped.map((one) => one.cluster);
  const quarantined = (run.quarantined ?? []).map((one) => one.cluster);
  const why = runReason("RUN_THROUGH", { phase, checks, failed, skipped, quarantined });
  change(draft, { phase, since: draft.at, endedAt: draft.at, why, next: null }, runReason("RUN_ENDED", { phase, because: why }));
}
