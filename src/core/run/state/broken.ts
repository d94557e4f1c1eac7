/** Since when a rollout is broken: what a run that follows takes over from the one before. Times to restore are counted from it. */
import type { Time } from "../../base/time.ts";
import type { Run } from "./run.ts";

/** Says whether a change of a run is a failure of its release: it pauses by one, or its clusters are to go back. */
export function isFailure(patch: Partial<Run>): boolean {
  return patch.paused?.kind === "Failure" || patch.rollback !== undefined;
}

/** Says whether a run has put anything on a cluster. */
export function hasMerged({ batches }: Pick<Run, "batches">): boolean {
  return batches.some(({ merged }) => merged !== undefined);
}

/** Returns since when what a run left behind is broken. undefined: it ended well, or nothing of it had come to a cluster. */
export function brokenAfter(run: Pick<Run, "phase" | "rollback" | "brokenSince" | "failedAt" | "batches">): Time | undefined {
  if (run.phase === "RolledBack") return undefined;
  // All was well until somebody wanted it back.
  if (run.phase === "Succeeded") return run.rollback?.at;
  return run.brokenSince ?? (hasMerged(run) ? run.failedAt : undefined);
}
