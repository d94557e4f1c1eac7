import { hasCode } from "../../core/base/reason.ts";
import { epoch } from "../../core/base/time.ts";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import type { RunAnalysis } from "../../core/run/state/analysis-types.ts";
import { checkInvariants } from "../../core/run/state/invariants.ts";
import { type Halt, isEnded, type Run } from "../../core/run/state/run.ts";
import type { Advanced, World } from "../../core/run/state/world.ts";
import type { ModelPull } from "../world/forge.ts";
import { bindingOn, firstOpening } from "../world/windows.ts";
import type { Entry, Freeze, Said, Truth } from "../world/world.ts";
import { leftOutIsNotMerged, turnIsTakenRightly } from "./ahead.ts";
import { confirmedTruly, followsTheWell, mergeIsSound, strangersChangeNothing } from "./checks.ts";
import { batchIsOfItsClusters, joinersLand, nobodyIsForgotten, quarantineIsKept, requeuedGoesBack, revertIsRight } from "./clusters.ts";
import { againIsAllowed, batchIsCutRight, goesBeforeOtherStages, intentionIsAllowed, noteAmendments, noteApprovals } from "./gates.ts";
import type { Advance, Amended, Approvals } from "./moment.ts";
import { failuresAreTold, outsideIsWaitedFor } from "./outside.ts";
import { promotesWhatWasShown } from "./promotes.ts";
import {
  endIsSound,
  type Goods,
  goodsAtFirst,
  type Moved,
  makesWayRightly,
  noteGoods,
  noteMoved,
  overwritesNobody,
  rejectsRightly,
  startIsSound,
} from "./runs.ts";
import { pausesAreKept, weightsAreInOrder } from "./steps.ts";

/** Who looks at all of it, knows the truth, and shares no logic with what is judged. */
export interface Judge {
  truth: Truth;
  violations: string[];
  /** How often what was met. */
  seen: Record<string, number>;
  /** Runs whose pause or abort people were told is in force. */
  stopped: Set<string>;
  /** Halts people were told are in force. */
  halts: (Pick<Halt, "clusters"> & { until: number; rollout: string })[];
  approvals: Approvals;
  amended: Amended;
  goods: Goods;
  moved: Moved;
  /** By rollout: how many runs in a row were superseded. */
  inARow: Map<string, number>;
  /** Tells it that a command was answered. */
  answered(said: Said, outcome: "done" | "refused", run: Run, now: number): void;
}

export function judgment(truth: Truth): Judge {
  const judge: Judge = {
    truth,
    violations: [],
    seen: {},
    stopped: new Set(),
    halts: [],
    approvals: new Map(),
    amended: new Map(),
    goods: goodsAtFirst(truth),
    moved: new Map(),
    inARow: new Map(),
    answered: (said, outcome, run, now) => noteAnswer(judge, said, outcome, run, now),
  };
  return judge;
}

function count(judge: Judge, what: string): void {
  judge.seen[what] = (judge.seen[what] ?? 0) + 1;
}

function nameOf(run: Pick<Run, "rollout" | "number">): string {
  return `${run.rollout} #${run.number}`;
}

function noteAnswer(judge: Judge, { command }: Said, outcome: "done" | "refused", run: Run, now: number): void {
  count(judge, `/${command.name} ${outcome}`);
  if (outcome !== "done") return;
  const after = run.commands.slice(run.commands.findIndex((one) => one.id === command.id) + 1);
  // Answered late, when somebody had let it go on.
  const over = after.some((one) => one.outcome === "done" && one.text.startsWith("/resume"));
  if ((command.name === "pause" && !over) || command.name === "abort") judge.stopped.add(nameOf(run));
  if (command.name !== "halt") return;
  if (command.flags["off"] !== undefined) judge.halts = judge.halts.filter((halt) => halt.rollout !== run.rollout);
  // The one that was just made; one that is over by now binds nobody.
  const made = run.halts?.findLast((halt) => command.text.includes(halt.reason));
  if (command.flags["off"] !== undefined || made === undefined) return;
  const until = made.until === undefined ? Number.POSITIVE_INFINITY : epoch(made.until);
  if (until > now) judge.halts.push({ clusters: made.clusters, until, rollout: run.rollout });
}

/** One decision: the invariants, and what it believes. */
export function judgeStep(judge: Judge, advance: Advance, step: { before: Run; world: World; advanced: Advanced<Run>; now: number }): void {
  const { before, world, advanced, now } = step;
  for (const { invariant, breach } of checkInvariants(before, advanced.run, advanced.effects, world, now))
    judge.violations.push(`invariant ${invariant}: ${sentenceOf(breach)}`);
  if (world.joiners !== undefined && world.joiners.length > 0)
    judge.violations.push(...joinersLand(judge.truth, before, world, advanced.run));
  if (advanced.change === "none") return;
  judge.violations.push(...againIsAllowed(judge.truth, before, advanced, now), ...promotesWhatWasShown(judge.truth, before, advanced.run));
  judge.violations.push(...openingsArePromisedRightly(judge.truth, before, advanced.run, world, now));
  judge.violations.push(...confirmedTruly(judge.truth, before, advanced.run, now));
  judge.violations.push(...strangersChangeNothing(advance, before, world, advanced, now));
}

/** What the journal says now that it did not say before. */
export function judgeRecord(judge: Judge, before: readonly Entry[], after: readonly Entry[], now: number): void {
  for (const [index, entry] of after.entries()) {
    const { run } = entry;
    const was = before[index]?.run;
    if (run === undefined || run === was) continue;
    const same = was?.number === run.number ? was : undefined;
    if (same === undefined) {
      noteGoods(judge.goods, judge.truth, was, run);
      noteMoved(judge.moved, judge.truth, was, run);
      judge.violations.push(...startIsSound(judge.truth, was, run), ...rejectsRightly(judge.truth, was, run));
      count(judge, run.kind === "Rollback" ? "rollback runs" : "runs");
    }
    // Somebody lets it go on.
    if (run.phase === "Progressing" || run.phase === "RollingBack") judge.stopped.delete(nameOf(run));
    judge.violations.push(...makesWayRightly(judge.truth, same, run, judge.inARow.get(run.rollout) ?? 0));
    if (liftsHalts(same, run)) judge.halts = judge.halts.filter((halt) => halt.rollout !== run.rollout);
    noteApprovals(judge.approvals, same, run);
    noteAmendments(judge.amended, same, run, now);
    judge.violations.push(...requeuedGoesBack(judge.truth, same, run));
    countMet(judge, same, run);
    judgeBatches(judge, asDecided(before, after, index), index, same, run, now);
    if (isEnded(run) && (same === undefined || !isEnded(same))) {
      count(judge, `${run.kind === "Rollback" ? "rollback " : ""}${run.phase}`);
      judge.inARow.set(run.rollout, run.phase === "Superseded" ? (judge.inARow.get(run.rollout) ?? 0) + 1 : 0);
      const place = { truth: judge.truth, index, now };
      judge.violations.push(...endIsSound(judge.truth, judge, run, now), ...nobodyIsForgotten(place, run), ...failuresAreTold(place, run));
    }
    if (run.paused !== undefined && same?.paused === undefined) count(judge, `paused: ${run.paused.kind}`);
  }
}

/** Of what is beside the batches: a generator that lost one of them would prove nothing about it. */
function countMet(judge: Judge, before: Run | undefined, run: Run): void {
  if (run.analyses !== before?.analyses) countEnded(judge, run.analyses ?? [], before?.analyses ?? []);
  for (const [at, batch] of run.batches.entries())
    if (batch.analyses !== before?.batches[at]?.analyses) countEnded(judge, batch.analyses ?? [], before?.batches[at]?.analyses ?? []);
  if (run.hooks !== before?.hooks) {
    for (const call of run.hooks ?? []) {
      const was = before?.hooks?.find((one) => one.id === call.id);
      if (call.phase !== was?.phase && call.phase !== "Calling") count(judge, `hook ${call.when}: ${call.phase}`);
    }
  }
  const more = (name: "joined" | "notJoined" | "quarantined", what: string) => {
    for (let left = (run[name]?.length ?? 0) - (before?.[name]?.length ?? 0); left > 0; left--) count(judge, what);
  };
  more("joined", "joined");
  more("notJoined", "appeared, and not taken");
  more("quarantined", "quarantined");
}

function countEnded(judge: Judge, now: readonly RunAnalysis[], before: readonly RunAnalysis[]): void {
  for (const one of now) {
    const was = before.find((known) => known.id === one.id);
    if (one.phase === was?.phase || one.phase === "Running") continue;
    count(judge, `analysis ${one.step === undefined ? one.when : "of a step"}: ${one.phase}`);
  }
}

/** Runs of a round are decided one after the other: those after `index` were as before. */
function asDecided(before: readonly Entry[], after: readonly Entry[], index: number): Entry[] {
  return after.map((entry, place) => (place > index ? (before[place] ?? entry) : entry));
}

function liftsHalts(before: Run | undefined, run: Run): boolean {
  if (before === undefined) return false;
  return run.commands.slice(before.commands.length).some((one) => one.outcome === "done" && one.text.startsWith("/halt --off"));
}

function judgeBatches(judge: Judge, entries: readonly Entry[], index: number, before: Run | undefined, run: Run, now: number): void {
  for (const batch of run.batches) {
    const was = before?.batches[batch.number - 1];
    if (was === undefined) {
      count(judge, `batches: ${batch.kind}`);
      if ((batch.step?.index ?? 0) > 1) count(judge, "batches: at a later weight");
      if (batch.ahead === true) count(judge, "batches: ahead");
      judge.violations.push(...batchIsCutRight(judge.truth, index, before, run, batch));
      judge.violations.push(...batchIsOfItsClusters({ truth: judge.truth, index, now }, run, batch));
    }
    judge.violations.push(
      ...revertIsRight(judge.truth, was, run, batch),
      ...turnIsTakenRightly({ truth: judge.truth, index, now }, was, run, batch),
    );
    if (batch.intention === undefined || batch.intention.at === was?.intention?.at) continue;
    const moment = { truth: judge.truth, entries, index, approvals: judge.approvals, amended: judge.amended, now };
    if (goesBeforeOtherStages(moment, run, batch)) count(judge, "merges before other stages of dependsOn");
    judge.violations.push(...intentionIsAllowed(moment, run, batch), ...outsideIsWaitedFor(moment, run, batch));
    judge.violations.push(...followsTheWell(judge.truth, run, batch, now));
    judge.violations.push(...pausesAreKept(moment, run, batch), ...quarantineIsKept(moment, run, batch), ...leftOutIsNotMerged(run, batch));
  }
}

/** A merge of ours, or of the queue that was asked by us. */
export function judgeMerge(judge: Judge, entries: readonly Entry[], pull: ModelPull, now: number, queued = false): void {
  const run = entries.find((entry) => entry.run?.rollout === pull.rollout)?.run;
  if (run === undefined || run.number !== pull.run) {
    judge.violations.push(`truth: #${pull.number} of ${pull.rollout} #${pull.run} merged when that run was over`);
    return;
  }
  count(judge, "merges");
  judge.violations.push(
    ...mergeIsSound(judge.truth, run, pull, now, queued),
    ...overwritesNobody(judge.truth, run, pull.merged?.commit ?? ""),
    ...weightsAreInOrder(judge.truth, run, pull),
  );
  const batch = run.batches[pull.batch - 1];
  // What a queue merges it merges when it likes: it was well when it was put in.
  if (batch !== undefined && !queued) judge.violations.push(...followsTheWell(judge.truth, run, batch, now));
  if (judge.stopped.has(nameOf(run)) && batch?.kind !== "Revert")
    judge.violations.push(`truth: ${nameOf(run)} merged after its pause was answered`);
  for (const halt of judge.halts) {
    if (now >= halt.until) continue;
    const held = batch?.targets.some(
      ({ cluster }) => halt.clusters.length === 0 || halt.clusters.includes(cluster.slice(cluster.indexOf("/") + 1)),
    );
    if (held === true) judge.violations.push(`truth: ${nameOf(run)} merged for a cluster after its halt was answered`);
  }
}

/** An opening that was just promised is the first moment, as things stand, at which windows and freezes are open; where none is promised there is none. */
function openingsArePromisedRightly(truth: Truth, before: Run, run: Run, world: World, now: number): string[] {
  const model = truth.rollouts.find((rollout) => rollout.name === run.rollout)?.model;
  if (model === undefined) return [];
  if ((world.freezes ?? []).some((freeze: Freeze) => freeze.model === undefined)) return [];
  const wrong: string[] = [];
  for (const batch of run.batches) {
    const { next } = batch;
    if (next === null || next === before.batches[batch.number - 1]?.next) continue;
    const said = `truth: batch ${batch.number} of ${run.rollout}`;
    const first = firstOpening(bindingOn(truth, run, batch, now), now);
    if (hasCode(next.what, "NEXT_WINDOW") && (next.eta === undefined || epoch(next.eta) !== first))
      wrong.push(
        `${said} promises an opening at ${next.eta}, and the first is ${first === undefined ? "never" : new Date(first).toISOString()}`,
      );
    if (hasCode(next.what, "NEXT_WINDOWS_CHANGED") && first !== undefined)
      wrong.push(`${said} says that its windows never open, and they do at ${new Date(first).toISOString()}`);
  }
  return wrong;
}
