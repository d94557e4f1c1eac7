/** What somebody had in view who acts on a run, and whether it is so no longer. */
import { sha256 } from "../../base/hash.ts";
import { promotableWaits } from "../../run/commands/promotable.ts";
import type { Run } from "../../run/state/run.ts";
import type { CommandName } from "../../spec/commands.ts";

/**
 * Whether what a person saw as they acted is no longer so; `seen` and `now` as `seenOf` makes them. What only stops is as right after a merge or
 * a failure as before: `/pause` goes by the run alone. `/promote` ends a wait, so it goes by the waits, too; all others by the run and its batches.
 */
export function hasMoved(verb: CommandName, seen: string, now: string): boolean {
  const parts = { pause: 1, promote: 3 }[verb as string] ?? 2;
  return seen.split(".").slice(0, parts).join(".") !== now.split(".").slice(0, parts).join(".");
}

/**
 * What somebody has in view: three digests, of which `hasMoved` says what each command goes by. Ages, sentences, links, clusters on their way
 * and clusters that become healthy are in none of them.
 */
export function seenOf(run: Run): string {
  return [ofRun(run), ofBatches(run), promotableWaits(run)].map((data) => sha256(JSON.stringify(data)).slice(0, 12)).join(".");
}

/** Another state, pause or end. */
function ofRun({ rollout, number, startedAt, phase, paused, ending, rollback, promotedFully }: Run): unknown {
  const pause = [paused?.kind, paused?.at, paused?.held?.at];
  return [rollout, number, startedAt, phase, pause, ending?.at, rollback?.at, promotedFully?.at];
}

/** Another plan, a batch that opened, merged or was closed, a failure, a cluster put off or left out, an approval. */
function ofBatches({ batches, plan, requeued, skipped, approvals }: Run): unknown {
  const moved = batches.map(({ number, phase, pull, merged, targets }) => {
    const failed = targets.flatMap((target) => (target.phase === "Failed" ? [[target.key, target.since]] : []));
    return [number, pull?.number, merged?.commit, phase === "Closed", failed];
  });
  return [plan.hash, moved, requeued.map(({ cluster }) => cluster), skipped.map(({ cluster }) => cluster), approvals];
}
