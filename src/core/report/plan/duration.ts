import type { Selectable } from "../../base/selector.ts";
import { epoch, formatDuration } from "../../base/time.ts";
import type { Plan } from "../../plan/plan-types.ts";
import type { Run } from "../../run/state/run.ts";
import type { Rollout } from "../../spec/rollout.ts";
import type { ScopedWindow } from "../../spec/windows.ts";
import { type PlacedFreeze, type Travels, windowSets } from "../../spec/windows-binding.ts";
import { closedBetween, type Piece, projectAll, type WindowSet } from "../../spec/windows-together.ts";

/** What is looked at of a run that has ended. */
export interface TimedRun extends Pick<Run, "phase" | "stage" | "startedAt" | "endedAt"> {
  rollout: string;
  plan: { stages: readonly { name: string; windows?: readonly ScopedWindow[] | undefined }[] };
  /** Of its rollout, as the run had them. */
  windows?: readonly ScopedWindow[];
  batches: readonly Pick<Run["batches"][number], "stage" | "pull" | "merged" | "settledAt">[];
}

/** How long past runs of a rollout took, in milliseconds, without their waits for windows and freezes. */
export interface History {
  /** By stage name. */
  stages: ReadonlyMap<string, readonly number[]>;
  /** Of whole runs, those that succeeded. */
  totals: readonly number[];
  /** Freezes of the repository and of the server as they stand now: what lies ahead waits for them. */
  freezes?: readonly PlacedFreeze[] | undefined;
  /** By key, as Argo CD has them now: a freeze may be for some. Absent: their labels are not known. */
  clusters?: ReadonlyMap<string, Selectable> | undefined;
}

interface Percentiles {
  p50: number;
  p90: number;
  /** How many runs they are from. */
  runs: number;
}

/** From when on, and what must be open for a batch to merge. */
interface Ahead {
  /** Epoch milliseconds. */
  now: number;
  /** Of a batch, by its stage and clusters. Absent: nothing is waited for. */
  setsOf?(stage: number, clusters: readonly string[]): readonly WindowSet[];
}

/** All from now on: with the waits for the next openings of windows and freezes. */
export interface Expected {
  /** In the order of the plan's stages; undefined where no past run went through a stage of that name. */
  stages: (Percentiles | undefined)[];
  total: Percentiles | undefined;
  /** What it takes at the least: GitHub's pace, settling, the bakes, and `waitMs`. */
  leastMs: number;
  /** How much of that is waiting for windows and freezes. */
  waitMs: number;
  /** False: they do not all open within a year, and are not counted in. */
  opens: boolean;
  /** There are windows or freezes. */
  windows: boolean;
  batches: number;
}

export const NO_HISTORY: History = { stages: new Map(), totals: [] };

/** docs/spec.md §9.19: GitHub lets about one merge a minute through; of pushes about six. */
const MERGE_MS = 60_000;
const PUSH_MS = 10_000;

/**
 * Measures the stages that past runs went through to the end, from first PR to last settled batch. Waits for people are in them, as
 * they were; those for windows and freezes are not, since the next ones are others. Freezes of then are not kept: those of now stand
 * for them, where they are for a stage as a whole, as are windows: which clusters a batch of then had is not read. A stage without a batch says
 * nothing.
 */
export function historyOf(runs: readonly TimedRun[], freezes: readonly PlacedFreeze[] = []): History {
  const forAll = <W extends ScopedWindow>(windows: readonly W[]) => windows.filter(({ selector }) => selector === undefined);
  const ofStages = forAll(freezes);
  const stages = new Map<string, number[]>();
  const totals: number[] = [];
  for (const run of runs) {
    const rollout: Travels["rollout"] = {
      name: run.rollout,
      windows: forAll(run.windows ?? []),
      stages: run.plan.stages.map(({ name, windows }) => ({ name, windows: forAll(windows ?? []) })),
    };
    const perStage = run.plan.stages.map((_, stage) => windowSets({ rollout, stage, clusters: [] }, ofStages));
    for (const [index, stage] of run.plan.stages.entries()) {
      const took = index < run.stage ? tookStage(run, index, perStage[index] ?? []) : undefined;
      if (took !== undefined) stages.set(stage.name, [...(stages.get(stage.name) ?? []), took]);
    }
    const whole = run.phase === "Succeeded" && run.endedAt !== undefined ? epoch(run.endedAt) - epoch(run.startedAt) : Number.NaN;
    if (whole > 0) totals.push(Math.max(0, whole - waited(run.batches, (stage) => perStage[stage] ?? [])));
  }
  return { stages, totals };
}

/** How long batches with an open PR were kept from merging by windows. */
function waited(batches: TimedRun["batches"], setsOf: (stage: number) => readonly WindowSet[]): number {
  let sum = 0;
  for (const { stage, pull, merged, settledAt } of batches) {
    const until = merged?.at ?? settledAt;
    if (pull?.openedAt !== undefined && until !== undefined) sum += closedBetween(setsOf(stage), epoch(pull.openedAt), epoch(until));
  }
  return sum;
}

function tookStage(run: TimedRun, stage: number, sets: readonly WindowSet[]): number | undefined {
  let begun = Number.POSITIVE_INFINITY;
  let done = Number.NEGATIVE_INFINITY;
  for (const batch of run.batches) {
    if (batch.stage !== stage || batch.settledAt === undefined) continue;
    const opened = batch.pull?.openedAt ?? batch.merged?.at;
    if (opened !== undefined) begun = Math.min(begun, epoch(opened));
    done = Math.max(done, epoch(batch.settledAt));
  }
  const took = done - begun;
  if (!Number.isFinite(took) || took < 0) return undefined;
  const own = run.batches.filter((batch) => batch.stage === stage && batch.settledAt !== undefined);
  return Math.max(0, took - waited(own, () => sets));
}

/** What a run that starts now will take: as long as before, with the waits for windows and freezes that lie ahead of its batches. */
export function expectedDuration(rollout: Rollout, plan: Plan, history: History, ahead: Ahead = { now: 0 }): Expected {
  const { now, setsOf = () => [] } = ahead;
  const pace = rollout.delivery.strategy === "Commit" ? PUSH_MS : MERGE_MS;
  const all = plan.stages.map(({ name, batches }, index): TimedStage => {
    const leastMs = batches.length * Math.max(pace, rollout.settleMs + (rollout.stages[index]?.bakeMs ?? 0));
    return { sets: batches.map(({ clusters }) => setsOf(index, clusters)), leastMs, before: percentiles(history.stages.get(name) ?? []) };
  });
  const chain = (sure: (stage: TimedStage) => number) => stageByStage(all, now, sure);
  const [slow, usual, least] = [
    chain((stage) => stage.before?.p90 ?? stage.leastMs),
    chain((stage) => stage.before?.p50 ?? stage.leastMs),
    chain((stage) => stage.leastMs),
  ];
  const each = all.flatMap(({ sets }) => sets);
  return {
    stages: all.map(({ before }, index) =>
      before === undefined ? undefined : { ...before, p50: usual.took[index] ?? before.p50, p90: slow.took[index] ?? before.p90 },
    ),
    total: withWaits(percentiles(history.totals), each, now),
    leastMs: least.took.reduce((sum, ms) => sum + ms, 0),
    waitMs: least.waitedMs,
    opens: least.opens,
    windows: each.some((sets) => sets.some(({ windows }) => windows.length > 0)),
    batches: each.length,
  };
}

interface TimedStage {
  /** What binds each of its batches. */
  sets: (readonly WindowSet[])[];
  leastMs: number;
  before: Percentiles | undefined;
}

/** The stages one after the other, the work of each spread over its batches: a window is waited for where it is in the way. */
function stageByStage(
  stages: readonly TimedStage[],
  now: number,
  workOf: (stage: TimedStage) => number,
): { took: number[]; waitedMs: number; opens: boolean } {
  const took: number[] = [];
  let at = now;
  let waitedMs = 0;
  let opens = true;
  for (const stage of stages) {
    const projected = projectAll(spread(stage.sets, workOf(stage)), at);
    took.push(projected.doneAt - at);
    waitedMs += projected.waitedMs;
    opens &&= projected.opens;
    at = projected.doneAt;
  }
  return { took, waitedMs, opens };
}

function spread(sets: readonly (readonly WindowSet[])[], ms: number): Piece[] {
  return sets.map((own) => ({ sets: own, ms: ms / sets.length }));
}

function withWaits(before: Percentiles | undefined, each: TimedStage["sets"], now: number): Percentiles | undefined {
  if (before === undefined || each.length === 0) return before;
  const took = (ms: number) => projectAll(spread(each, ms), now).doneAt - now;
  return { ...before, p50: took(before.p50), p90: took(before.p90) };
}

/** By nearest rank; undefined of nothing. */
export function percentiles(durations: readonly number[]): Percentiles | undefined {
  if (durations.length === 0) return undefined;
  const sorted = [...durations].sort((a, b) => a - b);
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p50: rank(0.5), p90: rank(0.9), runs: sorted.length };
}

/** `12m, up to 31m (9 runs)`. */
export function spell({ p50, p90, runs }: Percentiles): string {
  const up = rough(p90) === rough(p50) ? "" : `, up to ${rough(p90)}`;
  return `${rough(p50)}${up} (${runs} ${runs === 1 ? "run" : "runs"})`;
}

/** A duration as people say it: no seconds from ten minutes on, no minutes from a day on. */
export function rough(ms: number): string {
  const unit = ms >= 86_400_000 ? 3_600_000 : ms >= 600_000 ? 60_000 : 1000;
  return formatDuration(Math.max(unit, Math.round(ms / unit) * unit));
}

/** One sentence on how long the whole will take. */
export function durationSentence(expected: Expected): string {
  const { leastMs, waitMs, batches, total, windows, opens } = expected;
  const waits = waitMs > 0 ? `, and ${rough(waitMs)} of waiting for windows and freezes` : "";
  const least = `At the least it takes ${rough(leastMs)}: ${batches} ${batches === 1 ? "batch" : "batches"} at GitHub's pace of about one merge a minute, with their bakes${waits}.`;
  const never = opens ? "" : " Windows that do not open within a year are not counted in.";
  if (total === undefined) return `${least}${never}`;
  const before = windows
    ? `As past runs went it takes ${spell(total)}, the waits for windows and freezes from now on counted in.`
    : `Past runs took ${spell(total)}.`;
  return `${before} ${least}${never}`;
}
