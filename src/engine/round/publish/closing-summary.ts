import { epoch } from "../../../core/base/time.ts";
import { closingSummary, handOver } from "../../../core/report/run/closing-summary.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import type { RepoMemory } from "../memory.ts";
import type { Comments } from "./send-comment.ts";

/** A run that ended longer ago was told then, or nobody waits for it any more. */
const RECENT_MS = 24 * 3_600_000;

/**
 * A comment of its own for a pause that asks for a person: an edit of the live page notifies nobody. One for each pause, found
 * again by its marker after a restart. Who paused by command knows, and a run that is ending asks nothing.
 */
export function publishHandOver(comments: Comments, run: Run, pull: number): void {
  const { paused } = run;
  if (paused === undefined || paused.kind === "Command" || run.ending !== undefined || isEnded(run)) return;
  const id = `${run.rollout}:${run.number}:${paused.at}`;
  comments.send({ key: `pause ${id}`, pull, marker: `stagecoach:pause:${id}`, body: handOver(run) });
}

/** The last word on a run, written once. */
export function publishEnd(comments: Comments, run: Run, pull: number): void {
  const id = `${run.rollout}:${run.number}:${run.endedAt ?? ""}`;
  comments.send({ key: `end ${id}`, pull, marker: `stagecoach:end:${id}`, body: closingSummary(run) });
}

/** Runs that ended shortly before this process began: the one before may have died between recording that and saying it. */
export function endedUntold(context: RepoContext, memory: RepoMemory, runs: Iterable<Run>): Run[] {
  const now = context.clock.now();
  const untold: Run[] = [];
  for (const run of runs) {
    if (run.endedAt === undefined || run.trigger.pull === undefined || now - epoch(run.endedAt) > RECENT_MS) continue;
    if (memory.pages.get(`${run.rollout} ${run.trigger.pull}`)?.run !== run.number) untold.push(run);
  }
  return untold;
}
