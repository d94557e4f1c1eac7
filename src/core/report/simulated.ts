/** How a simulated run is told: its times, and what onboarding and `init` show of a run of what they propose. */
import { formatDuration } from "../base/time.ts";
import { type Counting, countedWords, countPhrase } from "./counted.ts";
import { cell, code } from "./escape.ts";

/** How a proposed rollout would go with its next release, by a run in which all goes well and one whose release is bad. */
export interface Foreseen {
  clusters: number;
  /** Where the first of them ended, and why; `endless`: what it waits for never comes. */
  phase: string;
  why: string;
  endless: boolean;
  /** Milliseconds of the simulated clock. */
  tookMs: number;
  rows: readonly ForeseenRow[];
  /** What the bad one had reached when it stopped; undefined: nothing stopped it. */
  reached: number | undefined;
}

/** A batch, or those of a stage that are put off to its end. Times since the run began. */
interface ForeseenRow {
  kind: "batch" | "putOff";
  stage: string;
  clusters: readonly string[];
  batch?: number;
  merged?: number | undefined;
  healthy?: number | undefined;
  settled?: number | undefined;
}

/** More batches than this are shown a stage at a time, and of more stages the first. */
const MOST_ROWS = 12;

/** For a terminal. Of a plan without targets there is nothing to tell. */
export function foreseenLines(foreseen: Foreseen | undefined, name: string, counting: Counting): string[] {
  if (foreseen?.clusters === 0) return [];
  if (foreseen === undefined) return [`simulated: not here, that takes too long: stagecoach simulate ${name} --to VERSION`];
  return sentences(foreseen, counting).map((one) => `simulated: ${one}`);
}

/** For the onboarding pull request. `long`: with what happens when. */
export function foreseenMarkdown(foreseen: Foreseen | undefined, name: string, counting: Counting, long: boolean): string {
  const command = code(`stagecoach simulate ${name} --to VERSION`);
  const title = "**A simulated run of it**";
  if (foreseen?.clusters === 0) return "";
  if (foreseen === undefined) return `${title} takes too long for this place: ${command} on a checkout has it.`;
  const told = sentences(foreseen, counting).map((one) => `${cell(one.charAt(0).toUpperCase() + one.slice(1), 400)}.`);
  const times = `Times since the release, as Argo CD and workloads usually take: ${command} on a checkout has more runs, and faults to try.`;
  return [`${title}\n\n${told.join(" ")}`, ...(long ? [tableOf(foreseen, counting), times] : [])].join("\n\n");
}

function sentences({ clusters, phase, why, endless, tookMs, reached }: Foreseen, counting: Counting): string[] {
  const took = formatDuration(Math.max(MINUTE, Math.round(tookMs / MINUTE) * MINUTE));
  const well =
    phase === "Succeeded"
      ? `all of it takes ${took}, where nothing waits for a person`
      : `${endless ? "it never ends" : `it is ${phase} after ${took}`}: ${why}`;
  if (reached === undefined) return [well];
  return [well, `a release that fails where it first comes reaches ${reached} of ${countPhrase(clusters, counting)}, and pauses`];
}

function tableOf({ rows }: Foreseen, counting: Counting): string {
  const batches = rows.filter(({ kind }) => kind === "batch");
  const lines = rows.length <= MOST_ROWS ? rows.map((row) => lineOf(row, names(row.clusters))) : stageLines(batches, counting);
  const more = lines.length > MOST_ROWS ? [`| … | ${lines.length - MOST_ROWS} more stages | | | | |`] : [];
  const head = [`| batch | stage | ${countedWords(counting)} | merged | healthy | done |`, "| --- | --- | --- | --- | --- | --- |"];
  return [...head, ...lines.slice(0, MOST_ROWS), ...more].join("\n");
}

function lineOf({ kind, batch, stage, merged, healthy, settled }: ForeseenRow, clusters: string, upTo?: number): string {
  const time = (ms: number | undefined) => (ms === undefined ? "" : clock(ms));
  const numbers = kind === "putOff" ? "put off" : upTo === undefined || upTo === batch ? `${batch}` : `${batch}–${upTo}`;
  return `| ${[numbers, cell(stage, 60), cell(clusters, 80), time(merged), time(healthy), time(settled)].join(" | ")} |`;
}

/** The first merge of each stage, and when the last of it is healthy and done. */
function stageLines(batches: readonly ForeseenRow[], counting: Counting): string[] {
  return [...Map.groupBy(batches, ({ stage }) => stage).values()].flatMap((of) => {
    const [first] = of;
    if (first === undefined) return [];
    const last = (which: "healthy" | "settled") => of.reduce<number | undefined>((most, row) => later(most, row[which]), undefined);
    const targets = new Set(of.flatMap(({ clusters }) => clusters)).size;
    return [lineOf({ ...first, healthy: last("healthy"), settled: last("settled") }, countPhrase(targets, counting), of.at(-1)?.batch)];
  });
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

/** `eu-1, eu-2 and 3 more`, in at most so many characters. */
export function names(clusters: readonly string[], width = 60): string {
  const whole = clusters.join(", ");
  if (clusters.length <= 3 && whole.length <= width) return whole;
  for (let few = Math.min(clusters.length - 1, 8); few > 0; few--) {
    const text = `${clusters.slice(0, few).join(", ")} and ${clusters.length - few} more`;
    if (text.length <= width) return text;
  }
  const [only = ""] = clusters;
  const more = clusters.length > 1 ? ` and ${clusters.length - 1} more` : "";
  return `${only.slice(0, Math.max(1, width - more.length - 1))}…${more}`;
}

/** Hours and minutes since it began; with days where there are any. */
export function clock(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const hours = Math.floor(minutes / 60);
  const day = hours >= 24 ? `${Math.floor(hours / 24)}d ` : "";
  return `+${day}${hours % 24}:${String(minutes % 60).padStart(2, "0")}`;
}

/** To the second, to the minute from an hour on: nobody reads the seconds of a day. */
export function lasting(ms: number): string {
  const unit = ms >= 3_600_000 ? 60_000 : 1000;
  return formatDuration(Math.max(0, Math.round(ms / unit) * unit));
}

const MINUTE = 60_000;
