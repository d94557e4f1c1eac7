/**
 * The heart: what one run does next, from what was observed and the time. Pure and total: the same input gives the same
 * answer, and what is not known is waited for.
 *
 * Order of a round, and why:
 * 1. PRs: what has merged or closed is a fact, whatever the run wants.
 * 2. Commands: people come before anything the run would do by itself.
 * 3. Targets, then what must not be forgotten of those moved before, then failures: each can only stop what follows.
 * 4. Batches settle; the next is made, proposed and merged, if the run is still Progressing.
 * Everything an effect depends on is in the returned run, which the caller records before it acts. An effect may be tried
 * twice, or after a crash not at all: it is wanted again until its outcome is observed.
 */
import { propose } from "./batch-build.ts";
import { observePulls } from "./batch-pulls.ts";
import { settleBatches } from "./batch-settle.ts";
import { inBackground } from "./gate-analysis.ts";
import { tellFailures } from "./gate-hooks.ts";
import { mergeOpen } from "./gates.ts";
import { takeJoiners } from "./joiners.ts";
import { judgeQuarantine, leaveUnreachableOpen } from "./quarantine.ts";
import { isEnded, isMoving, movingPhase, type Run } from "./run.ts";
import { followAnalyses } from "./run-analysis.ts";
import { judgeAnalyses } from "./run-analysis-judge.ts";
import { change, closeDraft, type Draft, openDraft } from "./run-draft.ts";
import { end } from "./run-end.ts";
import { sayFromBatches, sayPaused } from "./run-explain.ts";
import { judgeFailures } from "./run-failures.ts";
import { followHooks, judgeHooks } from "./run-hooks.ts";
import { obey } from "./run-obey.ts";
import { followOrders } from "./run-rollouts.ts";
import { moveOn } from "./run-stage.ts";
import { measuresAnything } from "./step-analysis.ts";
import { forgetBaselines, noteBaselines } from "./target-baseline.ts";
import { observeTargets } from "./target-observe.ts";
import { noteUnseen } from "./target-unseen.ts";
import { watchMoved } from "./target-watch.ts";
import type { Advanced, World } from "./world.ts";

/** One round. `now` in epoch milliseconds; `run` is not changed. Never throws for a run that startRun made. */
export function advance(run: Run, world: World, now: number): Advanced<Run> {
  const draft = openDraft(run, world, now);
  if (isEnded(run)) {
    followOrders(draft);
    obey(draft);
    return closeDraft(draft);
  }
  if (run.phase === "Pending") change(draft, { phase: movingPhase(run), since: draft.at, ...startedFrom(run, world) }, "started");
  noteBaselines(draft);
  observePulls(draft);
  forgetBaselines(draft);
  observeTargets(draft);
  noteUnseen(draft);
  followOrders(draft);
  obey(draft);
  if (!isEnded(draft.run)) decide(draft);
  return closeDraft(draft);
}

/** Where its analysis templates are read: what is edited during the run does not change it. */
function startedFrom({ spec }: Run, { base }: World): Partial<Run> {
  return spec.stages.some(measuresAnything) ? { startedFrom: base.commit } : {};
}

function decide(draft: Draft): void {
  watchMoved(draft);
  judgeFailures(draft);
  followAnalyses(draft);
  followHooks(draft);
  judgeAnalyses(draft);
  judgeHooks(draft);
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
  if (isMoving(draft.run)) sayFromBatches(draft);
  if (draft.run.phase === "Paused") sayPaused(draft);
}
