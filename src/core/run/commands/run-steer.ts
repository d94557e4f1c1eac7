import { text } from "../../base/reason.ts";
import { epoch, type Time } from "../../base/time.ts";
import type { Command } from "../../spec/command.ts";
import { hasPermission } from "../../spec/commands.ts";
import { close } from "../batches/batch-build.ts";
import { promoteStep } from "../batches/step-wait.ts";
import { approve, wantsApproval } from "../gates/approval.ts";
import { unacceptedFailures } from "../outcome/run-failures.ts";
import { endSoon } from "../start.ts";
import { type Batch, movingPhase, type Pause, type Run } from "../state/run.ts";
import { batchOf, change, changeBatch, type Draft, mapTargets, pause } from "../state/run-draft.ts";
import { batchName, nameList, pullName } from "../state/run-names.ts";
import { hold } from "../targets/target-watch.ts";
import { acceptGates, badGates } from "./run-hooks-command.ts";
import { done, type Reply, refused } from "./run-obey.ts";

/** Comments carry whole seconds: a command of the same second as what it answers is not too early. */
export function tooEarly(command: Command, since: Time): boolean {
  return epoch(command.createdAt) + 999 < epoch(since);
}

/**
 * A merge call may be under way: what must not be overtaken by it waits, and no other is begun. A PR in a merge queue is not waited
 * for: it is taken out, or closed, which takes it out.
 */
export function mergeUnderWay(draft: Draft, command: Command): boolean {
  const batch = draft.run.batches.find(
    (one) => one.intention !== undefined && one.merged === undefined && draft.world.pulls.get(one.number)?.queue == null,
  );
  if (batch === undefined) return false;
  hold(draft, `/${command.name} of @${command.actor} waits for the outcome of merging ${pullName(batch.pull)}`);
  return true;
}

const GO_ON = "`/resume` goes on";

export function pauseCommand(draft: Draft, command: Command): Reply {
  const { paused } = draft.run;
  if (paused?.kind === "Command" || paused?.held !== undefined) return refused(`the run is paused already: ${text(paused.reason)}`);
  if (mergeUnderWay(draft, command)) return "later";
  const words = command.args.join(" ");
  const reason = `@${command.actor} paused the run${words === "" ? "" : `: ${words}`}`;
  if (paused === undefined) pause(draft, "Command", command.actor, reason, GO_ON);
  else holdPaused(draft, paused, { by: command.actor, reason, at: draft.at });
  return done("paused: nothing merges until `/resume`");
}

/** The run had stopped by itself. What a person says besides is kept, so that what ends the one pause does not end the other. */
function holdPaused(draft: Draft, paused: Pause, held: NonNullable<Pause["held"]>): void {
  const reason = `${text(paused.reason)}; ${text(held.reason)}`;
  const ask = `${text(paused.ask)}. Whatever is done about it, nothing merges until \`/resume\`, since @${held.by} paused the run`;
  change(draft, { paused: { ...paused, reason, ask, held }, why: reason, next: { what: ask } }, held.reason);
}

/** The run goes on, unless a person paused it besides, which `/resume` alone ends; `patch` as well. */
export function unpause(draft: Draft, patch: Partial<Run>, event: string, resumes = false): void {
  const { paused, endedAt: _, ...running } = draft.run;
  draft.run = running;
  // A run that had ended had nothing before it, and this round only obeys.
  const again = running.next === null ? { why: event, next: { what: "its clusters are looked at again", at: draft.at } } : {};
  change(draft, { phase: movingPhase(draft.run), since: draft.at, ...again, ...patch }, event);
  if (paused?.held !== undefined && !resumes) pause(draft, "Command", paused.held.by, paused.held.reason, GO_ON);
}

export function resumeCommand(draft: Draft, command: Command): Reply {
  const { paused } = draft.run;
  if (paused === undefined) return refused("the run is not paused");
  if (tooEarly(command, paused.held?.at ?? paused.at))
    return refused(`it was written before the pause it would end: ${text(paused.reason)}`);
  const failed = unacceptedFailures(draft.run);
  const gates = badGates(draft.run);
  const accepts = paused.kind === "Failure" && (failed.length > 0 || gates.length > 0);
  if (accepts && !hasPermission(command.permission, "maintain")) {
    return refused(
      `/resume would accept ${acceptedWords(draft.run, failed, gates)} as failed, which needs maintain permission; \`/retry\` looks again`,
    );
  }
  const later = accepts ? failedAfter(draft.run, failed, command) : [];
  if (later.length > 0) return refused(`${nameList(draft.run, later)} failed after it was written: look again, and say it again`);
  if (paused.kind === "HeadMoved") closeMoved(draft);
  if (paused.kind === "Waiting") waitAnew(draft);
  const failedAccepted = accepts ? [...draft.run.failedAccepted, ...failed] : draft.run.failedAccepted;
  const passed = paused.kind === "Failure" || paused.kind === "Undecided" ? acceptGates(draft, command) : [];
  unpause(draft, { failedAccepted }, `resumed by ${command.actor}`, true);
  if (accepts) return done(`resumed; accepted as failed: ${acceptedWords(draft.run, failed, passed)}`);
  return done(passed.length > 0 ? `resumed; gone on past: ${passed.slice(0, 5).join("; ")}` : "resumed");
}

function acceptedWords(run: Run, clusters: readonly string[], gates: readonly string[]): string {
  return [...(clusters.length > 0 ? [nameList(run, clusters)] : []), ...gates.slice(0, 5)].join("; ");
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
    if (batch.phase === "Open" && pull?.state === "open" && !pull.headIsOurs)
      close(draft, batch, "its head was changed: it is built again");
  }
}

function waitAnew(draft: Draft): void {
  for (const { number } of draft.run.batches) {
    mapTargets(draft, number, (target) => (target.waitingSince === undefined ? target : { ...target, waitingSince: draft.at }));
  }
}

export function abortCommand(draft: Draft, command: Command): Reply {
  if (mergeUnderWay(draft, command)) return "later";
  const words = command.args.join(" ");
  const reason = `@${command.actor} aborted the run${words === "" ? "" : `: ${words}`}`;
  const ending = { phase: "Aborted" as const, by: command.actor, reason, at: draft.at, command: { id: command.id, text: command.text } };
  change(draft, endSoon(draft.run, ending), reason);
  // Answered in run-end.ts, once nothing of the run is open any more.
  return "later";
}

export function promoteCommand(draft: Draft, command: Command): Reply {
  const { run } = draft;
  if (command.flags.full !== undefined) return promoteFully(draft, command);
  if (run.paused !== undefined) return refused(`the run is paused: ${text(run.paused.reason)}. Next: ${text(run.paused.ask)}`);
  const mine = run.batches.filter((batch) => command.batch === undefined || batch.number === command.batch);
  const baking = mine.find((batch) => batch.phase === "Baking");
  if (baking !== undefined) return promoteStep(draft, command, baking) ?? endBakeNow(draft, command, baking);
  const open = mine.find((batch) => batch.phase === "Open" && batch.closing === undefined);
  if (open !== undefined) return approveByCommand(draft, command, open) ?? mergeByCommand(draft, command, open);
  return refused(`there is no wait that /promote ends: ${text(run.why)}`);
}

function endBakeNow(draft: Draft, command: Command, batch: Batch): Reply {
  if (batch.bake === undefined || tooEarly(command, batch.bake.from)) return refused("it was written before this bake began");
  if (epoch(batch.bake.until) <= draft.now)
    return refused(`its bake is over; ${text(batch.why)}. \`/promote --full\` (maintain) ends analyses, too`);
  changeBatch(draft, batch.number, { bake: { ...batch.bake, until: draft.at } });
  return done(`the bake of ${batchName(draft.run, batch)} ends now, if its clusters are healthy`);
}

/** undefined: the batch wants no approval, and the command means something else. */
function approveByCommand(draft: Draft, command: Command, batch: Batch): Reply | undefined {
  if (wantsApproval(draft.run, batch) === undefined) return undefined;
  if (batch.pull !== undefined && tooEarly(command, batch.pull.openedAt))
    return refused(`it was written before ${pullName(batch.pull)} was opened`);
  const given = approve(draft, batch, command.actor, command.teams);
  if (given === undefined) return undefined;
  if (typeof given === "string") return refused(given);
  const others = (draft.run.approvals ?? []).filter((one) => one.stage !== given.stage || one.by !== given.by);
  const patch = draft.run.spec.delivery.merge === "Manual" ? { promoted: { by: command.actor, at: draft.at } } : {};
  change(draft, { approvals: [...others, given] });
  if (Object.keys(patch).length > 0) changeBatch(draft, batch.number, patch);
  return done(`stage "${draft.run.plan.stages[batch.stage]?.name ?? ""}" is approved by @${command.actor}`);
}

/** From now on no bake, step pause or analysis of this run is waited for. Health, approvals, windows and halts are. */
function promoteFully(draft: Draft, command: Command): Reply {
  if (!hasPermission(command.permission, "maintain")) return refused("/promote --full needs maintain permission");
  if (draft.run.promotedFully !== undefined) return refused(`@${draft.run.promotedFully.by} ended all waits already`);
  change(draft, { promotedFully: { by: command.actor, at: draft.at } }, `all later waits ended by ${command.actor}`);
  for (const { number, phase, bake } of draft.run.batches) {
    if (phase === "Baking" && bake !== undefined) changeBatch(draft, number, { bake: { ...bake, until: draft.at } });
  }
  return done("no bake, step pause or analysis of this run is waited for any more; health, approvals, windows and halts are");
}

function mergeByCommand(draft: Draft, command: Command, batch: Batch): Reply {
  const { run } = draft;
  const name = pullName(batch.pull);
  if (run.spec.mode !== "Run") return refused(`the rollout's mode is ${run.spec.mode}: Stagecoach never merges; merge ${name} yourself`);
  if (run.spec.delivery.merge !== "Manual") return refused(`${name} is merged by itself once its gates pass: ${text(batch.why)}`);
  if (batch.pull !== undefined && tooEarly(command, batch.pull.openedAt)) return refused(`it was written before ${name} was opened`);
  if (batch.promoted !== undefined) return refused(`@${batch.promoted.by} promoted ${name} already: ${text(batch.why)}`);
  changeBatch(draft, batch.number, { promoted: { by: command.actor, at: draft.at } });
  return done(`${name} is merged once GitHub allows it`);
}
