import { styleText } from "node:util";
import { count } from "../../../core/base/count.ts";
import { countedWords, countPhrase } from "../../../core/report/counted.ts";
import { clock, lasting, names } from "../../../core/report/simulated.ts";
import { type Gap, type PutOff, type Row, rowsOf, shortenRows } from "../../../simulate/plan/rows.ts";
import { foldLine, visible } from "../print.ts";
import { endsOf, type Shown, toJson } from "./simulate-show.ts";

type Format = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";
type Style = (format: Format, text: string) => string;

/** Where everything stands on a line. */
interface Layout {
  columns: number;
  clock: number;
  names: number;
  /** 0: there is no room for it. */
  chart: number;
  /** Milliseconds that the chart is wide. */
  total: number;
  style: Style;
}

const MOST_ROWS = 40;
const LEAST_COLUMNS = 80;
const MOST_COLUMNS = 220;
/** `4m27s, baked 1h30m`. */
const SAID = 20;

/** For the terminal: a chart of batches over time, what stopped it, and how such runs go. */
export function toText(shown: Shown, terminal: { colour: boolean; columns: number }): string {
  const style: Style = (format, text) => (terminal.colour ? styleText(format, text, { validateStream: false }) : text);
  const { first } = shown;
  const rows = shortenRows(rowsOf(first.timeline), MOST_ROWS);
  const layout = layoutOf(rows, first.tookMs, Math.min(MOST_COLUMNS, terminal.columns), style);
  const lines = [...head(shown, style), ""];
  const charted = layout.chart > 0 && rows.some((row) => row.kind === "batch");
  if (charted) lines.push(axis(layout));
  const told = new Set<string>();
  let stage = "";
  for (const row of rows) {
    const title = `${row.run > 1 ? "rollback: " : ""}${row.stage}`;
    if (title !== stage) lines.push(style("bold", visible(title)));
    stage = title;
    lines.push(...linesOf(row, told, layout));
  }
  if (charted) lines.push("", style("dim", legend(rows)));
  lines.push("", ...end(shown, layout), "", ...stats(shown, layout));
  for (const note of shown.notes) lines.push(...wrapped(note, "", layout).map((line) => style("dim", line)));
  return `${lines.flatMap((line) => foldLine(line, layout.columns)).join("\n")}\n`;
}

function head({ rollout, targetBy, release, seed, clusters, batches, stages, putOff, times }: Shown, style: Style): string[] {
  const size = `${countPhrase(clusters, { targetBy })} in ${count(batches, "batch")} over ${count(stages, "stage")}${putOff}`;
  return [
    `${style("bold", visible(rollout))} → ${style("bold", visible(release))}   ${size}`,
    style("dim", `  seed ${seed}; from Monday 2026-01-05, 09:00 UTC; ${times}`),
  ];
}

function layoutOf(rows: readonly (Row | PutOff | Gap)[], total: number, columns: number, style: Style): Layout {
  const batches = rows.filter((row) => row.kind === "batch");
  const clocks = Math.max(5, ...batches.map((row) => clock(beginOf(row)).length));
  if (columns < LEAST_COLUMNS) return { columns, clock: clocks, names: 0, chart: 0, total, style };
  const most = Math.floor((columns - SAID - clocks - 12) / 2);
  const wide = Math.max(8, ...batches.map((row) => namesOf(row, most).length));
  // " 123  +0:00  NAMES  ▕CHART▏  SAID"
  const chart = columns - (4 + 2 + clocks + 2 + wide + 2 + 1 + 1 + 2 + SAID);
  return { columns, clock: clocks, names: wide, chart: Math.min(100, chart), total, style };
}

function indent({ clock: clocks, chart }: Layout): string {
  if (chart === 0) return "    ";
  return " ".repeat(4 + 2 + clocks + 2);
}

/** From when to when the chart goes. */
function axis(layout: Layout): string {
  const last = lasting(layout.total).padStart(Math.max(lasting(layout.total).length + 1, layout.chart - 1));
  return layout.style("dim", `${indent(layout)}${" ".repeat(layout.names + 3)}0${last}`);
}

function linesOf(row: Row | PutOff | Gap, told: Set<string>, layout: Layout): string[] {
  const { style } = layout;
  if (row.kind === "gap") return [style("dim", `   …  ${row.batches} more batches of ${row.clusters} clusters; -o json has them`)];
  if (row.kind === "putOff")
    return [`${indent(layout)}${style("dim", `put off: ${visible(names(row.clusters, Math.max(LEAST_COLUMNS, layout.columns) - 30))}`)}`];
  const begins = clock(beginOf(row)).padStart(layout.clock);
  const clusters = visible(namesOf(row, layout.names || LEAST_COLUMNS)).padEnd(layout.names);
  const number = style("cyan", String(row.batch).padStart(4));
  const lines = [`${number}  ${begins}  ${clusters}  ${layout.chart === 0 ? "" : `${bar(row, layout)}  `}${said(row, style)}`.trimEnd()];
  for (const { forMs, why } of row.waits) {
    const sentence = why.replace(/^#\d+ (?:is open; )?/, "");
    // What every batch waits for is told once; the chart has it of each.
    if (told.has(sentence)) continue;
    told.add(sentence);
    lines.push(...below(lasting(forMs), "yellow", sentence, layout));
  }
  if (row.failed !== undefined) lines.push(...below(`✖ ${visible(names(row.failed.clusters))}`, "red", row.failed.why, layout));
  return lines;
}

function namesOf({ weight, clusters }: Row, width: number): string {
  if (weight === undefined) return names(clusters, width);
  const step = `${weight}%`.padStart(4);
  return `${step}  ${names(clusters, width - step.length - 2)}`;
}

function beginOf(row: Row): number {
  return row.opened ?? row.merged ?? row.settled ?? row.failed?.at ?? 0;
}

/** What is said of a batch, below it. */
function below(what: string, colour: Format, why: string, layout: Layout): string[] {
  const [first = "", ...others] = wrapped(why.slice(0, 400), " ".repeat(indent(layout).length + what.length + 2), layout);
  const { style } = layout;
  return [
    `${indent(layout)}${style(colour, what)}  ${style("dim", first.trimStart())}`.trimEnd(),
    ...others.map((line) => style("dim", line)),
  ];
}

/** In lines that are not too long. */
function wrapped(text: string, before: string, { columns }: Pick<Layout, "columns">): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of visible(text).split(/\s+/).filter(Boolean)) {
    if (line !== "" && before.length + line.length + 1 + word.length > columns) {
      lines.push(before + line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return line === "" ? lines : [...lines, before + line];
}

function bar(row: Row, { chart, total, style }: Layout): string {
  const place = (ms: number) => Math.min(chart, Math.floor((ms / Math.max(1, total)) * chart));
  const healthy = row.healthy ?? row.failed?.at;
  const opened = Math.min(chart - 1, place(beginOf(row)));
  const merged = row.merged === undefined ? chart : Math.min(chart - 1, Math.max(opened, place(row.merged)));
  const ended = row.merged === undefined ? chart : Math.max(merged + 1, healthy === undefined ? chart : place(healthy));
  const settled = Math.max(ended, row.settled === undefined ? ended : place(row.settled));
  const body = [
    " ".repeat(opened),
    style("dim", "·".repeat(merged - opened)),
    style(row.failed === undefined ? "green" : "red", "▓".repeat(ended - merged)),
    style("dim", "░".repeat(settled - ended)),
    " ".repeat(chart - settled),
  ];
  return `${style("dim", "▕")}${body.join("")}${style("dim", "▏")}`;
}

function said(row: Row, style: Style): string {
  if (row.merged === undefined) return style("dim", row.settled === undefined ? "never merged" : "was there already");
  const parts: string[] = [];
  const failed = row.failed !== undefined && row.settled === undefined ? row.failed.at : undefined;
  if (failed !== undefined) return style("red", `failed in ${lasting(failed - row.merged)}`);
  if (row.healthy !== undefined) parts.push(lasting(row.healthy - row.merged));
  const baked = row.settled !== undefined && row.healthy !== undefined ? row.settled - row.healthy : 0;
  if (baked >= 1000) parts.push(`${row.weight === undefined ? "baked" : "held"} ${lasting(baked)}`);
  return style("dim", parts.join(", "));
}

function legend(rows: readonly (Row | PutOff | Gap)[]): string {
  const batches = rows.filter((row) => row.kind === "batch");
  const parts = ["▓ from the merge to healthy"];
  if (batches.some((row) => row.merged === undefined || (row.opened !== undefined && row.merged - row.opened >= 60_000)))
    parts.unshift("· open");
  if (batches.some((row) => row.settled !== undefined && row.healthy !== undefined && row.settled - row.healthy >= 1000))
    parts.push(batches.some((row) => row.weight !== undefined) ? "░ healthy, held or baking" : "░ healthy, baking");
  return `      ${parts.join("   ")}`;
}

function end({ first: { phase, why, tookMs, endless } }: Shown, layout: Layout): string[] {
  const { style } = layout;
  if (endless)
    return [
      style("red", "✖ This run never ends"),
      ...wrapped(`Still ${phase} after ${lasting(tookMs)}, and nothing will move it: ${why.slice(0, 400)}`, "  ", layout),
    ];
  const mark = phase === "Succeeded" ? style("green", "✔ Succeeded") : style(phase === "RolledBack" ? "yellow" : "red", `✖ ${phase}`);
  return [`${mark} after ${lasting(tookMs)}`, ...wrapped(why.slice(0, 400), "  ", layout)];
}

const MOST_VIOLATIONS = 5;

function stats(shown: Shown, layout: Layout): string[] {
  const { style } = layout;
  const { blastRadius: blast, duration, runs, violations } = toJson(shown);
  const stopped =
    shown.tally.stopped === 0 ? "no run was stopped by a failure" : `${countedWords(shown)} had it when a failure stopped the run`;
  const lines = [
    `${style("bold", count(runs, "run"))}   ${endsOf(shown.tally)}`,
    `  duration      p50 ${lasting(duration.p50 * 1000)}   p90 ${lasting(duration.p90 * 1000)}`,
    `  blast radius  p50 ${blast.p50}   p90 ${blast.p90}   max ${blast.max}   ${style("dim", stopped)}`,
  ];
  if (violations.length === 0) return [...lines, `  invariants    ${style("green", "held")} over ${shown.tally.steps} steps`];
  const bug = `violated: ${violations.length}. This is a bug of Stagecoach; please report it with the seed`;
  lines.push(`  invariants    ${style("red", bug)}`);
  for (const one of violations.slice(0, MOST_VIOLATIONS)) lines.push(...wrapped(one.slice(0, 400), "    ", layout));
  if (violations.length > MOST_VIOLATIONS) lines.push(`    … and ${violations.length - MOST_VIOLATIONS} more; -o json has them`);
  return lines;
}
