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
import { propose } from "./batches/build.ts";
import { end } from "./batches/end.ts";
import { sayFromBatches, sayPaused } from "./batches/explain.ts";
import { mergeOpen } from "./batches/merge.ts";
import { observePulls } from "./batches/pulls.ts";
import { judgeQuarantine, leaveUnreachableOpen } from "./batches/quarantine.ts";
import { settleBatches } from "./batches/settle.ts";
import { moveOn } from "./batches/stage.ts";
import { followAnalyses } from "./checks/analysis.ts";
import { followHooks, judgeHooks } from "./checks/hooks.ts";
import { judgeAnalyses } from "./checks/judge-analyses.ts";
import { measuresAnything } from "./checks/step-analysis.ts";
import { applyCommands } from "./commands/apply-commands.ts";
import { followOrders } from "./commands/rollouts.ts";
import { inBackground } from "./gates/analysis.ts";
import { tellFailures } from "./gates/hooks.ts";
import { judgeFailures } from "./outcome/failures.ts";
import { change, closeDraft, type Draft, openDraft } from "./state/draft.ts";
import { isEnded, isMoving, movingPhase, type Run } from "./state/run.ts";
import type { Advanced, World } from "./state/world.ts";
import { forgetBaselines, noteBaselines } from "./targets/baseline.ts";
import { takeJoiners } from "./targets/joiners.ts";
import { observeTargets } from "./targets/observe.ts";
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
  if (run.phase === "Pending") change(draft, { phase: movingPhase(run), since: draft.at, ...startedFrom(run, world) }, "started");
  noteBaselines(draft);
  observePulls(draft);
  forgetBaselines(draft);
  observeTargets(draft);
  noteUnseen(draft);
  followOrders(draft);
  applyCommands(draft);
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
