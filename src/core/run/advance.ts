/**
 * The heart: what one run does next, from what was observed and the time. Pure and total: the same input gives the same
 * answer, and what is not known is waited for.
 *
 * Order of a round, and why:
 * 1. PRs: what has merged or closed is a fact, whatever the run wants.
 * 2. Commands: people come before anything the run would do by itself.
 * 3. Targets, then what must not be forgotten of those moved before, then failures: each can only stop what follows.
 * 4. Batches settle; the next is made or its turn has come, is proposed and merged, if the run is still Progressing; and with its merge
 *    the one after is made ahead.
 * 5. Syncs are asked for, if nothing of this round has stopped the run.
 * Everything an effect depends on is in the returned run, which the caller records before it acts. An effect may be tried
 * twice, or after a crash not at all: it is wanted again until its outcome is observed.
 */
import { runReason } from "../reasons/run.ts";
import { goAhead } from "./batches/ahead.ts";
import { end } from "./batches/end.ts";
import { mergeOpen } from "./batches/merge.ts";
import { propose } from "./batches/propose.ts";
import { observePulls } from "./batches/pulls.ts";
import { judgeQuarantine, leaveUnreachableOpen } from "./batches/quarantine.ts";
import { settleBatches } from "./batches/settle.ts";
import { moveOn } from "./batches/stage.ts";
import { followAnalyses } from "./checks/analysis.ts";
import { followHooks } from "./checks/hooks.ts";
import { judgeChecks } from "./checks/judge.ts";
import { inBackground, tellFailures } from "./checks/stage-checks.ts";
import { measuresAnything } from "./checks/step-analysis.ts";
import { applyCommands } from "./commands/apply-commands.ts";
import { noteShown } from "./commands/promotable.ts";
import { followOrders } from "./commands/rollouts.ts";
import { judgeFailures } from "./outcome/failures.ts";
import { change, closeDraft, type Draft, openDraft, say } from "./state/draft.ts";
import { isSettled } from "./state/progress.ts";
import { isEnded, isMoving, movingPhase, type Run } from "./state/run.ts";
import type { Advanced, World } from "./state/world.ts";
import { forgetBaselines, noteBaselines } from "./targets/baseline.ts";
import { takeJoiners } from "./targets/joiners.ts";
import { observeTargets } from "./targets/observe.ts";
import { judgeRevisions, observeRevisions } from "./targets/revisions.ts";
import { askSyncs } from "./targets/sync.ts";
import { noteUnseen } from "./targets/unseen.ts";
import { watchMoved } from "./targets/watch.ts";

/** One round. `now` in epoch milliseconds; `run` is not changed. Never throws for a run that startRun made. */
export function advance(run: Run, world: World, now: number): Advanced<Run> {
  const draft = openDraft(run, world, now);
  if (isEnded(run)) {
    followOrders(draft);
    applyCommands(draft);
    return closeDraft(draft);
  }
  if (run.phase === "Pending")
    change(draft, { phase: movingPhase(run), since: draft.at, ...startedFrom(run, world) }, runReason("RUN_STARTED"));
  noteBaselines(draft);
  observePulls(draft);
  forgetBaselines(draft);
  observeRevisions(draft);
  observeTargets(draft);
  noteUnseen(draft);
  noteShown(draft);
  followOrders(draft);
  applyCommands(draft);
  if (!isEnded(draft.run)) decide(draft);
  askSyncs(draft);
  return closeDraft(draft);
}

/** Where its analysis templates are read: what is edited during the run does not change it. */
function startedFrom({ spec }: Run, { base }: World): Partial<Run> {
  return spec.stages.some(measuresAnything) ? { startedFrom: base.commit } : {};
}

function decide(draft: Draft): void {
  judgeRevisions(draft);
  watchMoved(draft);
  judgeFailures(draft);
  followAnalyses(draft);
  followHooks(draft);
  judgeChecks(draft);
  settleBatches(draft);
  inBackground(draft);
  tellFailures(draft);
  if (draft.run.ending !== undefined) {
    end(draft);
    return;
  }
  takeJoiners(draft);
  if (isMoving(draft.run)) leaveUnreachableOpen(draft);
  if (isMoving(draft.run)) moveOn(draft);
  judgeQuarantine(draft);
  if (isMoving(draft.run)) judgeFailures(draft);
  // Of a run that is paused, too: reverts.
  propose(draft);
  mergeOpen(draft);
  if (isMoving(draft.run)) goAhead(draft);
  explain(draft);
}

/** A paused run says why, and what is asked of people; another stands where its first batch does that is not settled, if any. */
function explain(draft: Draft): void {
  const { paused, stage, batches } = draft.run;
  const batch = batches.find((one) => one.stage <= stage && one.phase !== "Closed" && !isSettled(one));
  if (batch !== undefined && isMoving(draft.run)) say(draft, batch.why, batch.next);
  if (paused !== undefined && draft.run.phase === "Paused") say(draft, paused.reason, { what: paused.ask });
}
