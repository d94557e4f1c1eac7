import { count as plural } from "../../../core/base/count.ts";
import type { Counting } from "../../../core/report/counted.ts";
import { cell } from "../../../core/report/escape.ts";
import { clock, lasting, names } from "../../../core/report/simulated.ts";
import { rowsOf, shortenRows } from "../../../simulate/plan/rows.ts";
import type { Simulated } from "../../../simulate/plan/simulate.ts";
import type { Moment } from "../../../simulate/plan/timeline.ts";

/** The documented JSON of `stagecoach simulate -o json`. Durations in seconds, blast radius in clusters. */
export interface SimulateJson {
  seed: number;
  runs: number;
  /** In which the first run ended. */
  phase: string;
  /** Of the first run. */
  timeline: Moment[];
  blastRadius: { p50: number; p90: number; max: number };
  duration: { p50: number; p90: number };
  /** Of all runs; empty unless there is a bug. */
  violations: string[];
}

/** What is kept of every run. */
export type Tally = ReturnType<typeof tally>;

export interface Shown extends Counting {
  rollout: string;
  release: string;
  seed: number;
  clusters: number;
  batches: number;
  stages: number;
  /** What follows the count of batches where clusters are put off; empty: none is. */
  putOff: string;
  first: Simulated;
  tally: Tally;
  /** What the times are from. */
  times: string;
  notes: readonly string[];
}

const MOST_VIOLATIONS = 100;

export function tally() {
  return {
    phases: new Map<string, number>(),
    blast: [] as number[],
    /** Seconds. */
    took: [] as number[],
    steps: 0,
    /** Runs that stopped on a failure, and runs that wait for what never comes. */
    stopped: 0,
    endless: 0,
    violations: new Set<string>(),
  };
}

export function count(all: Tally, one: Simulated): void {
  all.phases.set(one.phase, (all.phases.get(one.phase) ?? 0) + 1);
  all.blast.push(one.blastRadius);
  all.took.push(Math.round(one.tookMs / 1000));
  all.steps += one.steps;
  if (one.stopped) all.stopped += 1;
  if (one.endless) all.endless += 1;
  for (const violation of one.violations) if (all.violations.size < MOST_VIOLATIONS) all.violations.add(violation);
}

export function toJson({ seed, first, tally: all }: Shown): SimulateJson {
  const blast = all.blast.toSorted((a, b) => a - b);
  const took = all.took.toSorted((a, b) => a - b);
  return {
    seed,
    runs: took.length,
    phase: first.phase,
    timeline: first.timeline,
    blastRadius: { p50: at(blast, 0.5), p90: at(blast, 0.9), max: blast.at(-1) ?? 0 },
    duration: { p50: at(took, 0.5), p90: at(took, 0.9) },
    violations: [...all.violations],
  };
}

/** The least value that so large a part is not above. */
function at(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0;
}

const MOST_ROWS = 40;

/** For a comment or a page. */
export function toMarkdown(shown: Shown): string {
  const { first } = shown;
  const { violations, ...json } = toJson(shown);
  return [
    `## ${cell(shown.rollout, 80)} → ${cell(shown.release, 80)}: ${first.endless ? "never ends, " : ""}${json.phase} after ${lasting(first.tookMs)}`,
    "",
    cell(first.why, 500),
    "",
    ...tableOf(first),
    "",
    "| | p50 | p90 | max |",
    "| --- | --- | --- | --- |",
    `| duration | ${lasting(json.duration.p50 * 1000)} | ${lasting(json.duration.p90 * 1000)} | |`,
    `| blast radius, clusters | ${json.blastRadius.p50} | ${json.blastRadius.p90} | ${json.blastRadius.max} |`,
    "",
    `Over ${plural(json.runs, "run")} from seed ${shown.seed}, ${shown.times}: ${endsOf(shown.tally)}.`,
    violations.length === 0
      ? `Every invariant held over ${shown.tally.steps} steps.`
      : violations.map((one) => `- ${cell(one, 300)}`).join("\n"),
    ...shown.notes.map((note) => `\n${cell(note, 300)}`),
    "",
  ].join("\n");
}

function tableOf(first: Simulated): string[] {
  const time = (ms: number | undefined) => (ms === undefined ? "" : clock(ms));
  const lines = ["| batch | stage | clusters | opened | merged | healthy | settled |", "| --- | --- | --- | --- | --- | --- | --- |"];
  for (const row of shortenRows(rowsOf(first.timeline), MOST_ROWS)) {
    const stage = cell(`${row.run > 1 ? "rollback, " : ""}${row.stage}`, 80);
    if (row.kind === "gap") lines.push(`| … | ${stage} | ${row.batches} more batches | | | | |`);
    else if (row.kind === "putOff") lines.push(`| put off | ${stage} | ${cell(names(row.clusters), 120)} | | | | |`);
    else {
      const healthy = row.failed === undefined ? time(row.healthy) : `failed ${time(row.failed.at)}`;
      const clusters = cell(`${row.weight === undefined ? "" : `${row.weight}%: `}${names(row.clusters)}`, 120);
      const times = [time(row.opened), time(row.merged), healthy, time(row.settled)];
      lines.push(`| ${[row.batch, stage, clusters, ...times].join(" | ")} |`);
    }
  }
  return lines;
}

/** `18 Succeeded, 2 Paused`. */
export function endsOf({ phases, endless }: Tally): string {
  const ends = [...phases].sort(([, a], [, b]) => b - a).map(([phase, times]) => `${times} ${phase}`);
  return `${ends.join(", ")}${endless === 0 ? "" : `; ${endless} never ${endless === 1 ? "ends" : "end"}`}`;
}
