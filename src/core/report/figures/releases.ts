/**
 * The four figures of DORA, from what one run became another by. Each is told once: of two states of a run as the journal had and has them, so
 * that neither a restart nor a second replica tells it again. Their definitions for people are in docs/metrics.md.
 */
import { epoch, type Time } from "../../base/time.ts";
import { hasMerged } from "../../run/state/broken.ts";
import { isEnded, type Run } from "../../run/state/run.ts";

/** What happened between two records of a run. Durations are in seconds. */
interface Figures {
  ended?: Outcome;
  /** Of a release that came to its last stage: since its pull request was opened, and since it was merged. */
  leadFromOpened?: number;
  leadFromMerged?: number;
  /** A release came to its first cluster. */
  isChange: boolean;
  /** A release that had come to a cluster failed for the first time. */
  isFailedChange: boolean;
  /** The rollout is well again: since the first failure that was not made good. */
  restoredAfter?: number;
  /** Of each batch that merged: since the bot meant to merge it. */
  merges: number[];
}

interface Outcome {
  phase: Run["phase"];
  kind: "release" | "rollback";
  /** From its start on. */
  took: number;
}

/** Compares a run with what the journal had of it; `before` is absent for one that has just begun. */
export function figuresOf(before: Run | undefined, after: Run): Figures {
  const figures: Figures = {
    isChange: isChange(after) && !(before && isChange(before)),
    isFailedChange: isFailedChange(after) && !(before && isFailedChange(before)),
    merges: mergesOf(before, after),
  };
  const { endedAt } = after;
  if (!isEnded(after) || endedAt === undefined || (before && isEnded(before))) return figures;
  return { ...figures, ...endOf(after, endedAt) };
}

function endOf(run: Run, endedAt: Time): Partial<Figures> {
  const { phase, trigger, startedAt } = run;
  const kind = run.kind === "Rollback" ? "rollback" : "release";
  const end: Partial<Figures> = { ended: { phase, kind, took: between(startedAt, endedAt) } };
  if (phase === "Succeeded" && kind === "release") {
    end.leadFromMerged = between(trigger.at, endedAt);
    if (trigger.openedAt !== undefined) end.leadFromOpened = between(trigger.openedAt, endedAt);
  }
  const since = run.brokenSince ?? (hasMerged(run) ? run.failedAt : undefined);
  if ((phase === "Succeeded" || phase === "RolledBack") && since !== undefined) end.restoredAfter = between(since, endedAt);
  return end;
}

function isChange(run: Run): boolean {
  return run.kind !== "Rollback" && hasMerged(run);
}

function isFailedChange(run: Run): boolean {
  return isChange(run) && run.failedAt !== undefined;
}

function mergesOf(before: Run | undefined, after: Run): number[] {
  return after.batches.flatMap(({ merged }, index) => {
    const was = before?.batches[index];
    if (merged === undefined || was?.merged !== undefined || was?.intention === undefined) return [];
    return [between(was.intention.at, merged.at)];
  });
}

/** In seconds. GitHub's clock is not ours, and tells whole seconds: nothing lasts less than nothing. */
function between(from: Time, to: Time): number {
  const ms = epoch(to) - epoch(from);
  return Number.isFinite(ms) ? Math.max(0, ms / 1000) : 0;
}
