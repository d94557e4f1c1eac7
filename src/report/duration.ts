import type { Plan } from "../rollout/plan-types.ts";
import type { Rollout } from "../rollout/rollout.ts";
import type { Run } from "../rollout/run.ts";
import { epoch, formatDuration } from "../rollout/time.ts";

/** What is looked at of a run that has ended. */
export interface TimedRun extends Pick<Run, "phase" | "stage" | "startedAt" | "endedAt"> {
  plan: { stages: readonly { name: string }[] };
  batches: readonly Pick<Run["batches"][number], "stage" | "pull" | "merged" | "settledAt">[];
}

/** How long past runs of a rollout took, in milliseconds. */
export interface History {
  /** By stage name. */
  stages: ReadonlyMap<string, readonly number[]>;
  /** Of whole runs, those that succeeded. */
  totals: readonly number[];
}

export interface Percentiles {
  p50: number;
  p90: number;
  /** How many runs they are from. */
  runs: number;
}

export interface Expected {
  /** In the order of the plan's stages; undefined where no past run went through a stage of that name. */
  stages: (Percentiles | undefined)[];
  total: Percentiles | undefined;
  /** What it takes at the least: GitHub's pace, settling and the bakes. */
  leastMs: number;
  batches: number;
}

export const NO_HISTORY: History = { stages: new Map(), totals: [] };

/** SPEC §9.19: GitHub lets about one merge a minute through; of pushes about six. */
const MERGE_MS = 60_000;
const PUSH_MS = 10_000;

/**
 * Durations of the stages that past runs went through to the end, from the first PR to the last batch settled: waits for
 * people and windows are in them, as they were. A stage without a batch says nothing.
 */
export function historyOf(runs: readonly TimedRun[]): History {
  const stages = new Map<string, number[]>();
  const totals: number[] = [];
  for (const run of runs) {
    for (const [index, stage] of run.plan.stages.entries()) {
      const took = index < run.stage ? tookStage(run, index) : undefined;
      if (took !== undefined) stages.set(stage.name, [...(stages.get(stage.name) ?? []), took]);
    }
    const whole = run.phase === "Succeeded" && run.endedAt !== undefined ? epoch(run.endedAt) - epoch(run.startedAt) : Number.NaN;
    if (whole > 0) totals.push(whole);
  }
  return { stages, totals };
}

function tookStage(run: TimedRun, stage: number): number | undefined {
  let begun = Number.POSITIVE_INFINITY;
  let done = Number.NEGATIVE_INFINITY;
  for (const batch of run.batches) {
    if (batch.stage !== stage || batch.settledAt === undefined) continue;
    const opened = batch.pull?.openedAt ?? batch.merged?.at;
    if (opened !== undefined) begun = Math.min(begun, epoch(opened));
    done = Math.max(done, epoch(batch.settledAt));
  }
  const took = done - begun;
  return Number.isFinite(took) && took >= 0 ? took : undefined;
}

export function expectedDuration(rollout: Rollout, plan: Plan, history: History): Expected {
  const stages = plan.stages.map((stage) => percentiles(history.stages.get(stage.name) ?? []));
  const pace = rollout.delivery.strategy === "Commit" ? PUSH_MS : MERGE_MS;
  let leastMs = 0;
  let batches = 0;
  for (const [index, stage] of plan.stages.entries()) {
    const bakeMs = rollout.stages[index]?.bakeMs ?? 0;
    batches += stage.batches.length;
    leastMs += stage.batches.length * Math.max(pace, rollout.settleMs + bakeMs);
  }
  return { stages, total: percentiles(history.totals), leastMs, batches };
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
  const up = p90 > p50 ? `, up to ${rough(p90)}` : "";
  return `${rough(p50)}${up} (${runs} ${runs === 1 ? "run" : "runs"})`;
}

/** A duration as people say it: no seconds from ten minutes on, no minutes from a day on. */
export function rough(ms: number): string {
  const unit = ms >= 86_400_000 ? 3_600_000 : ms >= 600_000 ? 60_000 : 1000;
  return formatDuration(Math.max(unit, Math.round(ms / unit) * unit));
}

/** One sentence on how long the whole will take. */
export function durationSentence(expected: Expected): string {
  const least = `At the least it takes ${rough(expected.leastMs)}: ${expected.batches} ${expected.batches === 1 ? "batch" : "batches"} at GitHub's pace of about one merge a minute, with their bakes.`;
  return expected.total === undefined ? least : `Past runs took ${spell(expected.total)}. ${least}`;
}
