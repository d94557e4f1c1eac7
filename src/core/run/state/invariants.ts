/**
 * The invariants of a run (docs/spec.md §3), checked on two states of it and what is about to be done: written from the words of the
 * specification, not from the logic that is to keep them, and sharing none of it. Cheap enough to be asserted at run time.
 */
import { epoch } from "../../base/time.ts";
import { type Breach, breach, type Unconfirmed } from "../../reasons/breaches.ts";
import type { Permission } from "../../spec/commands.ts";
import { batchesChangeTheirPins, type Report, weightsGrow } from "./invariants-edits.ts";
import type { Batch, BatchTarget, Run } from "./run.ts";
import type { Effect, World } from "./world.ts";

interface Violation {
  /** Number in docs/spec.md §3, from 1. */
  invariant: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;
  breach: Breach;
}

/** Every invariant that going from `before` to `after` and trying these effects would violate. `now` in epoch milliseconds. */
export function checkInvariants(before: Run, after: Run, effects: readonly Effect[], world: World, now: number): Violation[] {
  const violations: Violation[] = [];
  const report: Report = (invariant, breach) => violations.push({ invariant, breach });
  windowIsKept(after, effects, report);
  mergesWaitForConfirmed(after, effects, report);
  stoppedMergesNothing(before, after, effects, report);
  batchesChangeTheirPins(after, report);
  weightsGrow(after, report);
  oneRunOneIdentity(before, after, effects, report);
  journalComesFirst(after, effects, now, report);
  strangersChangeNothing(before, after, world, report);
  endsOrWaits(after, report);
  return violations;
}

const WATCHED = ["Merged", "Syncing"];

/** 1. No more than `maxUnavailable` clusters of a stage in flight: from the merge intention until confirmed or out of it. */
function windowIsKept(run: Run, effects: readonly Effect[], report: Report): void {
  const merging = new Set(effects.map((effect) => (effect.kind === "Merge" ? effect.batch : 0)));
  // What a person merges cannot be held back; the run stops on it instead (3 is about that).
  const ours = run.batches.some((batch) => merging.has(batch.number));
  if (!ours) return;
  for (const [number, stage] of run.plan.stages.entries()) {
    const flying = new Set<string>();
    const before = new Set<string>();
    for (const batch of run.batches) {
      if (batch.stage !== number) continue;
      const intended = batch.intention !== undefined && batch.merged === undefined;
      for (const target of batch.targets) {
        // Of a canary a cluster is in flight until its last step is confirmed.
        const midway = batch.step !== undefined && batch.step.index < batch.step.of && target.phase === "Healthy";
        if (midway || WATCHED.includes(target.phase) || (intended && (target.phase === "Proposed" || target.phase === "Pending")))
          (merging.has(batch.number) ? flying : before).add(target.cluster);
      }
    }
    // The next weight of clusters that are in flight, since somebody retried one, adds none.
    const all = new Set([...before, ...flying]);
    if (all.size > stage.maxUnavailable && all.size > before.size)
      report(1, breach("WINDOW_OVERFULL", { stage: stage.name, clusters: [...all], most: stage.maxUnavailable }));
  }
}

/** 2. What a merge waits for is confirmed by evidence newer than its change, and the evidence is stored. */
function mergesWaitForConfirmed(run: Run, effects: readonly Effect[], report: Report): void {
  for (const effect of effects) {
    if (effect.kind !== "Merge") continue;
    const batch = run.batches.find((one) => one.number === effect.batch);
    if (batch === undefined) {
      report(2, breach("MERGE_OF_NO_BATCH", { number: effect.batch }));
      continue;
    }
    if (batch.ahead === true) report(2, breach("MERGE_AHEAD", { number: batch.number }));
    // Order is what `/hotfix` is for (docs/spec.md §9.22); the window is watched by 1.
    if (batch.kind === "Hotfix" || batch.kind === "Revert") continue;
    const rolling = run.spec.stages[batch.stage]?.batching === "Rolling";
    for (const other of run.batches) {
      const earlier = other.stage < batch.stage || (other.stage === batch.stage && other.number < batch.number && !rolling);
      if (!earlier) continue;
      // What is midway takes a place until its last weight, which a hotfix or a revert may wait for.
      const waits = (other.kind === "Hotfix" || other.kind === "Revert") && other.merged === undefined && other.intention === undefined;
      if (waits && (batch.step?.index ?? 1) > 1) continue;
      for (const target of other.targets) {
        const how = unconfirmed(run, other, target);
        if (how === undefined) continue;
        report(2, breach("MERGE_OVER_UNCONFIRMED", { number: batch.number, other: other.number, target: target.key, how }));
      }
    }
  }
}

function unconfirmed(run: Run, batch: Batch, target: BatchTarget): Unconfirmed | undefined {
  switch (target.phase) {
    case "Skipped":
    case "Requeued":
    case "RolledBack":
      return undefined;
    case "Failed":
      return target.excused === true || tolerated(run, target.cluster) ? undefined : "beyondBudget";
    case "Healthy":
    case "Baked":
      return unproven(batch, target);
    default:
      return { phase: target.phase };
  }
}

function tolerated(run: Run, cluster: string): boolean {
  if (run.failedAccepted.includes(cluster) || run.spec.onFailure.action === "Continue") return true;
  const failed = new Set<string>();
  const clusters = new Set<string>();
  for (const stage of run.plan.stages) for (const key of [...stage.clusters, ...stage.requeued]) clusters.add(key);
  for (const batch of run.batches)
    for (const target of batch.targets) {
      if (target.phase === "Failed" && target.excused !== true) failed.add(target.cluster);
    }
  for (const accepted of run.failedAccepted) failed.delete(accepted);
  const most = run.spec.onFailure.maxFailures;
  return failed.size <= ("count" in most ? most.count : Math.floor((clusters.size * most.percent) / 100));
}

function unproven(batch: Batch, target: BatchTarget): Unconfirmed | undefined {
  if (target.evidence === undefined) return "unproven";
  if (target.evidence.verdict !== "live") return { verdict: target.evidence.verdict };
  if (batch.merged === undefined) return "unmerged";
  if (epoch(target.evidence.readAt) < epoch(batch.merged.at)) return "older";
  return undefined;
}

/** 3. Paused, aborted, failed or superseded: nothing merges, and nothing begins to. */
function stoppedMergesNothing(before: Run, after: Run, effects: readonly Effect[], report: Report): void {
  if ((after.phase === "Progressing" || (after.phase === "RollingBack" && after.kind === "Rollback")) && after.ending === undefined) return;
  const { phase } = after;
  // Old values may be put back while a run is paused (docs/spec.md §9.14).
  const reverts = new Set(
    after.phase === "Paused" && after.ending === undefined
      ? after.batches.filter((batch) => batch.kind === "Revert").map((batch) => batch.number)
      : [],
  );
  if (effects.some((effect) => effect.kind === "Merge" && !reverts.has(effect.batch))) report(3, breach("MERGE_WHILE_STOPPED", { phase }));
  for (const batch of after.batches) {
    const was = before.batches.find((one) => one.number === batch.number);
    if (batch.intention !== undefined && was?.intention === undefined && !reverts.has(batch.number))
      report(3, breach("INTENTION_WHILE_STOPPED", { number: batch.number, phase }));
  }
}

/** 5. A run stays the run it is: its identity, plan and release are frozen, and an ended run only comes back by `/retry`. */
function oneRunOneIdentity(before: Run, after: Run, effects: readonly Effect[], report: Report): void {
  if (before.rollout !== after.rollout || before.number !== after.number) report(5, breach("RUN_IS_ANOTHER"));
  if (before.plan !== after.plan || before.spec !== after.spec || before.release !== after.release) report(5, breach("FROZEN_CHANGED"));
  for (const [index, one] of (before.joined ?? []).entries())
    if (after.joined?.[index] !== one) report(5, breach("JOINER_CHANGED", { cluster: one.cluster }));
  const came = before.endedAt !== undefined && after.endedAt === undefined;
  if (came && before.phase !== "Failed") report(5, breach("ENDED_GOES_ON", { phase: before.phase }));
  if (before.ending !== undefined && after.ending === undefined && after.phase !== before.ending.phase) report(5, breach("ENDING_GOES_ON"));
  // One in its turn, one ahead that is opened once that has merged, and what people put before them by `/hotfix`.
  const open = after.batches.filter(
    (batch) => batch.kind !== "Hotfix" && batch.kind !== "Revert" && ["Proposing", "Open", "Merging"].includes(batch.phase),
  );
  const ahead = open.filter((batch) => batch.ahead === true);
  const opened = ahead.some((batch) => effects.some((effect) => effect.kind === "Propose" && effect.batch === batch.number));
  const count = opened ? open.length : Math.max(ahead.length, open.length - ahead.length);
  if (count > 1) report(5, breach("PULLS_OPEN_AT_ONCE", { count }));
  const [first] = open;

  if (after.endedAt !== undefined && first !== undefined) report(5, breach("ENDED_WITH_OPEN", { number: first.number }));
}

/** 6. Whatever is tried stands in the run that is recorded before. */
function journalComesFirst(after: Run, effects: readonly Effect[], now: number, report: Report): void {
  for (const effect of effects) {
    if (effect.kind === "Refresh" || effect.kind === "Answer") continue;
    if (effect.kind === "StopAnalysis") continue;
    if (effect.kind === "StartAnalysis" || effect.kind === "CallHook") {
      if (!asksWhatIsJournalled(after, effect)) report(6, breach("CHECK_NOT_JOURNALLED", { effect: effect.kind }));
      continue;
    }
    if (effect.kind === "RolloutActions") {
      if (after.rolloutOrders?.some((order) => order.command === effect.command) !== true)
        report(6, breach("ORDER_NOT_JOURNALLED", { command: effect.command }));
      continue;
    }
    if (effect.kind === "Sync") {
      const asked = after.batches.find(({ merged }) => merged?.commit === effect.commit)?.targets.find(({ key }) => key === effect.target);
      if (asked?.syncAsked === undefined || after.paused !== undefined) report(6, breach("SYNC_NOT_JOURNALLED", { target: effect.target }));
      continue;
    }
    const batch = after.batches.find((one) => one.number === effect.batch);
    if (effect.kind === "Propose" && batch?.phase !== "Proposing") report(6, breach("PULL_NOT_JOURNALLED", { number: effect.batch }));
    if (effect.kind !== "Merge") continue;
    const intention = batch?.intention;
    if (intention === undefined) report(6, breach("MERGE_NOT_INTENDED", { number: effect.batch }));
    else if (intention.head !== effect.head) report(6, breach("MERGE_OF_OTHER_HEAD", { number: effect.batch }));
    else if (now - epoch(intention.at) >= 30_000) report(6, breach("MERGE_AFTER_LAPSE", { number: effect.batch }));
  }
}

function asksWhatIsJournalled(run: Run, effect: Extract<Effect, { kind: "StartAnalysis" | "CallHook" }>): boolean {
  if (effect.kind === "CallHook")
    return run.hooks?.some((call) => call.id === effect.hook && call.phase === "Calling" && call.tries === effect.request) === true;
  const records = [...(run.analyses ?? []), ...run.batches.flatMap((batch) => batch.analyses ?? [])];
  return records.some((record) => record.id === effect.analysis && record.phase === "Running");
}

const RANK: readonly Permission[] = ["none", "read", "triage", "write", "maintain", "admin"];
const HARMLESS = ["status", "plan", "help"];

/** 7. What somebody without the permission asks is refused. That nothing else comes of it is tested by leaving it out. */
function strangersChangeNothing(before: Run, after: Run, world: World, report: Report): void {
  if (after.commands === before.commands) return;
  const known = new Set(before.commands.map((command) => command.id));
  for (const entry of after.commands) {
    if (known.has(entry.id)) continue;
    known.add(entry.id);
    const command = world.commands.find((one) => one.id === entry.id);
    const ended = before.ending?.command?.id === entry.id;
    if (command === undefined && !ended) report(7, breach("COMMAND_OF_NOBODY", { command: entry.id }));
    if (command === undefined || entry.outcome === "refused") continue;
    const least = HARMLESS.includes(command.name) ? "read" : "write";
    if (RANK.indexOf(command.permission) < RANK.indexOf(least))
      report(7, breach("COMMAND_NOT_PERMITTED", { text: entry.text, by: entry.actor, permission: command.permission }));
  }
  if (known.size !== after.commands.length) report(7, breach("COMMAND_TWICE"));
}

/** 8. A run has ended, or says why it is where it is and what comes next. */
function endsOrWaits(run: Run, report: Report): void {
  const ended = ["Succeeded", "RolledBack", "Failed", "Aborted", "Superseded"].includes(run.phase);
  if (ended !== (run.endedAt !== undefined)) report(8, breach("END_AND_PHASE_DIFFER", { phase: run.phase, ended }));
  if (!ended && run.next === null) report(8, breach("NEXT_UNSAID", { phase: run.phase }));
}
