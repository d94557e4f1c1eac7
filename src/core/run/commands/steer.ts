import { defined } from "../../base/defined.ts";
import type { RunReason } from "../../reasons/run.ts";
import { type Command, hasPermission } from "../../spec/commands.ts";
import { close } from "../batches/close.ts";
import { acceptChecks, badChecks } from "../checks/judge.ts";
import { unacceptedFailures } from "../outcome/failures.ts";
import { batchOf, change, type Draft, endSoon, mapTargets, pause } from "../state/draft.ts";
import { pullRef } from "../state/names.ts";
import { done, type Reply, reasonOf, refuse, tooEarly } from "../state/reply.ts";
import { movingPhase, type Pause, type Run } from "../state/run.ts";
import { hold } from "../targets/watch.ts";

/**
 * A merge call may be under way: what must not be overtaken by it waits, and no other is begun. A PR in a merge queue is not waited
 * for: it is taken out, or closed, which takes it out.
 */
export function mergeUnderWay(draft: Draft, command: Command): boolean {
  const batch = draft.run.batches.find(
    (one) => one.intention !== undefined && one.merged === undefined && draft.world.pulls.get(one.number)?.queue == null,
  );
  if (batch === undefined) return false;
  const waits: RunReason = { code: "COMMAND_WAITS_FOR_MERGE", command: command.name, by: command.actor, pull: pullRef(batch.pull) };
  hold(draft, waits);
  return true;
}

const NEXT: RunReason = { code: "NEXT_CLUSTERS_LOOKED_AT" };
const HEAD_CHANGED: RunReason = { code: "HEAD_CHANGED" };
const GO_ON: RunReason = { code: "ASK_RESUME" };

export function pauseCommand(draft: Draft, command: Command): Reply {
  const { paused } = draft.run;
  if (paused?.kind === "Command" || paused?.held !== undefined) return refuse({ code: "ALREADY_PAUSED", because: paused.reason });
  if (mergeUnderWay(draft, command)) return "later";
  const reason: RunReason = { code: "PAUSED_BY", by: command.actor, text: command.args.join(" ") };
  if (paused === undefined) pause(draft, "Command", command.actor, reason, GO_ON);
  else holdPaused(draft, paused, { by: command.actor, reason, at: draft.at });
  return done({ code: "PAUSE_DONE" });
}

/** The run had stopped by itself. What a person says besides is kept, so that what ends the one pause does not end the other. */
function holdPaused(draft: Draft, paused: Pause, held: NonNullable<Pause["held"]>): void {
  const reason: RunReason = { code: "PAUSED_BESIDES", because: paused.reason, held: held.reason };
  const ask: RunReason = { code: "ASK_BESIDES", ask: paused.ask, by: held.by };
  change(draft, { paused: { ...paused, reason, ask, held }, why: reason, next: { what: ask } }, held.reason);
}

/** The run goes on, unless a person paused it besides, which `/resume` alone ends; `patch` as well. */
export function unpause(draft: Draft, patch: Partial<Run>, event: RunReason, resumes = false): void {
  const { paused, endedAt: _, ...running } = draft.run;
  draft.run = running;
  // A run that had ended had nothing before it, and this round only obeys.
  const again = running.next === null ? { why: event, next: { what: NEXT, eta: draft.at } } : {};
  change(draft, { phase: movingPhase(draft.run), since: draft.at, ...again, ...patch }, event);
  if (paused?.held !== undefined && !resumes) pause(draft, "Command", paused.held.by, paused.held.reason, GO_ON);
}

export function resumeCommand(draft: Draft, command: Command): Reply {
  const { paused } = draft.run;
  if (paused === undefined) return refuse({ code: "NOT_PAUSED" });
  if (tooEarly(command, paused.held?.at ?? paused.at)) return refuse({ code: "COMMAND_BEFORE_PAUSE", because: paused.reason });
  const failed = unacceptedFailures(draft.run);
  const gates = badChecks(draft.run);
  const accepts = paused.kind === "Failure" && (failed.length > 0 || gates.length > 0);
  if (accepts && !hasPermission(command.permission, "maintain")) {
    return refuse({ code: "RESUME_ACCEPTS_FAILURES", clusters: [...failed], checks: gates });
  }
  const later = accepts ? failedAfter(draft.run, failed, command) : [];
  if (later.length > 0) return refuse({ code: "FAILED_SINCE", clusters: later });
  if (paused.kind === "HeadMoved") closeMoved(draft);
  if (paused.kind === "Waiting") waitAnew(draft);
  const failedAccepted = accepts ? [...draft.run.failedAccepted, ...failed] : draft.run.failedAccepted;
  const passed = paused.kind === "Failure" || paused.kind === "Undecided" ? acceptChecks(draft, command) : [];
  unpause(draft, { failedAccepted }, defined({ code: "RESUMED_BY" as const, by: command.actor, text: reasonOf(command) }), true);
  return done({ code: "RESUME_DONE", accepted: accepts, clusters: [...failed], checks: passed });
}

/** Clusters of which its author cannot have known that they failed. */
export function failedAfter(run: Run, clusters: Iterable<string>, command: Command): string[] {
  return [...clusters].filter((cluster) =>
    run.batches.some((batch) =>
      batch.targets.some((target) => target.cluster === cluster && target.phase === "Failed" && tooEarly(command, target.since)),
    ),
  );
}

/** What somebody pushed onto our branch is never merged: the PR is built again. */
function closeMoved(draft: Draft): void {
  for (const { number } of draft.run.batches) {
    const batch = batchOf(draft.run, number);
    const pull = draft.world.pulls.get(number);
    if (batch.phase === "Open" && pull?.state === "open" && !pull.headIsOurs) close(draft, batch, HEAD_CHANGED);
  }
}

function waitAnew(draft: Draft): void {
  for (const { number } of draft.run.batches) {
    mapTargets(draft, number, (target) => (target.waitingSince === undefined ? target : { ...target, waitingSince: draft.at }));
  }
}

export function abortCommand(draft: Draft, command: Command): Reply {
  if (mergeUnderWay(draft, command)) return "later";
  const reason: RunReason = { code: "ABORTED_BY", by: command.actor, text: command.args.join(" ") };
  const ending = { phase: "Aborted" as const, by: command.actor, reason, at: draft.at, command: { id: command.id, text: command.text } };
  change(draft, endSoon(draft.run, ending), reason);
  // Answered in ../batches/end.ts, once nothing of the run is open any more.
  return "later";
}
