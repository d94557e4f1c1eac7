import { defined } from "../../base/defined.ts";
import { epoch, iso } from "../../base/time.ts";
import type { RunReason } from "../../reasons/run.ts";
import type { Command } from "../../spec/commands.ts";
import { takeAlong } from "../batches/step-make.ts";
import { retryChecks } from "../checks/judge.ts";
import { failedClusters } from "../outcome/failures.ts";
import { change, type Draft, mapTargets, moveBatch, moveTarget } from "../state/draft.ts";
import { done, type Reply, reasonOf, refuse, tooEarly } from "../state/reply.ts";
import type { Batch, BatchTarget } from "../state/run.ts";
import { isMidStep } from "../state/steps.ts";
import { goBack, has, isUnmerged, movedPlace, mustWait, type Place, placeOf, putToEnd, reopen, withMates } from "./clusters.ts";
import { unpause } from "./steer.ts";

const LOOKED_AT_ANEW: RunReason = { code: "TARGET_LOOKED_AT_ANEW" };

/** `/retry`: every failed cluster is tried again, and every gate that ended badly is asked again. */
export function retryCommand(draft: Draft, command: Command): Reply {
  const { run } = draft;
  const stopped = run.paused?.kind === "Failure" || run.paused?.kind === "Undecided" || run.phase === "Failed";
  if (!stopped) return refuse({ code: "RETRY_OF_GOING_RUN" });
  if (tooEarly(command, run.paused?.at ?? run.since)) return refuse({ code: "COMMAND_TOO_EARLY", before: "failure" });
  const failed = [...failedClusters(run)];
  // At the weight where it failed: the pull request of the next waits until it is there.
  const places = failed.map((cluster) => movedPlace(run, placeOf(run, cluster)));
  const moot = withMates(
    run,
    places.filter((place) => isToBeginAnew(draft, place)).map(({ cluster }) => cluster),
  ).map((cluster) => placeOf(run, cluster));
  if (moot.some(isUnmerged) && mustWait(draft, command, moot)) return "later";
  for (const place of places) if (!moot.some(({ cluster }) => cluster === place.cluster)) lookAgain(draft, place);
  for (const { cluster } of moot) beginAnew(draft, movedPlace(run, placeOf(run, cluster)), command.actor);
  reopen(draft, moot, { code: "BATCH_LOSES_CLUSTER", by: "retry" });
  const gates = retryChecks(draft);
  unpause(
    draft,
    { failedAccepted: run.failedAccepted.filter((cluster) => !failed.includes(cluster)) },
    defined({ code: "RETRIED_BY" as const, by: command.actor, text: reasonOf(command) }),
  );
  return done(defined({ code: "RETRY_DONE" as const, clusters: failed, checks: gates, pausedBy: run.paused?.held?.by }));
}

/** Its pins were changed away meanwhile: it is updated again, at the end of its stage. Any other is looked at where it is. */
function isToBeginAnew(draft: Draft, place: Place): boolean {
  const changed = place.targets.some((target) => {
    const pins = draft.world.targets.get(target.key)?.pins;
    return pins !== undefined && target.edits.some((edit, index) => (pins[index] ?? null) !== edit.to);
  });
  return place.batch === undefined || changed || !has(place, "Failed");
}

function beginAnew(draft: Draft, place: Place, actor: string): void {
  if (place.batch !== undefined) takeAlong(draft, place.batch, place.cluster);
  putToEnd(draft, placeOf(draft.run, place.cluster), { code: "RETRIED_BY", by: actor }, undefined);
}

function lookAgain(draft: Draft, place: Place): void {
  const { batch } = place;
  if (batch === undefined) return;
  mapTargets(draft, batch.number, (target) =>
    target.cluster === place.cluster && target.phase === "Failed" ? rearm(draft, batch, target) : target,
  );
  if (batch.phase !== "Merged") moveBatch(draft, batch.number, "Merged", { bake: undefined, settledAt: undefined });
  takeAlong(draft, batch, place.cluster);
  if (isMidStep(batch)) goBack(draft, batch.stage);
  else if (batch.stage < draft.run.stage) change(draft, { stage: batch.stage });
}

function rearm(draft: Draft, batch: Batch, target: BatchTarget): BatchTarget {
  const { spec } = draft.run;
  const seen = target.firstSeenAt !== undefined;
  const wait = seen ? (spec.stages[batch.stage]?.progressDeadlineMs ?? 0) : spec.seenDeadlineMs;
  const patch = {
    deadlineAt: iso(epoch(draft.at) + wait),
    evidence: undefined,
    confirmedAt: undefined,
    waitingSince: undefined,
    retriedAt: draft.at,
  };
  return moveTarget(draft, target, seen ? "Syncing" : "Merged", LOOKED_AT_ANEW, patch);
}
