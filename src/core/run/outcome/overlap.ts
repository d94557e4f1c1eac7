import type { Rollout } from "../../spec/rollout.ts";
import type { Run } from "../state/run.ts";

/** After so many runs in a row that never got to their end, one is let through: releases that come faster than a run takes must not starve it. */
export const MOST_SUPERSEDED = 3;

/**
 * What a release does that was merged while a run of its rollout is in progress (docs/spec.md §9.8). A run that is paused on a failure is in
 * nobody's way: what is queued takes its place. A rollback is never cut short by a release, unless it has failed itself.
 */
export function onOverlap(
  policy: Rollout["onNewRelease"],
  inProgress: Pick<Run, "kind" | "paused" | "superseded">,
): "Supersede" | "Queue" | "Reject" {
  const failed = inProgress.paused?.kind === "Failure";
  if (policy === "Reject") return "Reject";
  if (failed) return "Supersede";
  if (policy === "Queue" || inProgress.kind === "Rollback") return "Queue";
  return (inProgress.superseded ?? 0) >= MOST_SUPERSEDED ? "Queue" : "Supersede";
}

/** How many runs right before one were superseded, the one before included. */
export function supersededBefore(before: Pick<Run, "phase" | "superseded"> | undefined): number {
  return before?.phase === "Superseded" ? (before.superseded ?? 0) + 1 : 0;
}
