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
import { mergeOpen } from "./gates.ts";
import { isEnded, isMoving, movingPhase, type Run } from "./run.ts";
import { change, closeDraft, type Draft, openDraft } from "./run-draft.ts";
import { end } from "./run-end.ts";
import { sayFromBatches, sayPaused } from "./run-explain.ts";
import { judgeFailures } from "./run-failures.ts";
import { obey } from "./run-obey.ts";
import { followOrders } from "./run-rollouts.ts";
import { moveOn } from "./run-stage.ts";
import { noteBaselines } from "./target-baseline.ts";
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
  if (run.phase === "Pending") change(draft, { phase: movingPhase(run), since: draft.at }, "started");
  noteBaselines(draft);
  observePulls(draft);
  observeTargets(draft);
  noteUnseen(draft);
  followOrders(draft);
  obey(draft);
  if (!isEnded(draft.run)) decide(draft);
  return closeDraft(draft);
}

function decide(draft: Draft): void {
  watchMoved(draft);
  judgeFailures(draft);
  settleBatches(draft);
  if (draft.run.ending !== undefined) {
    end(draft);
    return;
  }
  if (isMoving(draft.run)) moveOn(draft);
  if (isMoving(draft.run)) judgeFailures(draft);
  if (isMoving(draft.run)) propose(draft);
  if (isMoving(draft.run)) mergeOpen(draft);
  if (isMoving(draft.run)) sayFromBatches(draft);
  if (draft.run.phase === "Paused") sayPaused(draft);
}
