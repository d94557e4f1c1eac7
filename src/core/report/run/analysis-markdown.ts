import type { Batch, Run } from "../../run/state/run.ts";
import { cell } from "../escape.ts";
import { folded, table } from "../markdown.ts";
import { batchName, stageName } from "../words.ts";
import { type GateLine, gatesOfBatch, gatesOfStage } from "./analysis.ts";

const MOST_ROWS = 40;

function linesTable(first: string, lines: readonly GateLine[], most = MOST_ROWS): string {
  const rows = lines.map(({ what, state, measured, why }) => [cell(what, 200), cell(state), cell(measured, 500), cell(why, 500)]);
  return table([first, "state", "measured", "why"], rows, most);
}

/** What was measured of a batch, for the pull request of the next; empty where nothing was. */
export function measuredOfBatch(run: Run, batch: Batch, most = MOST_ROWS): string {
  const lines = gatesOfBatch(run, batch);
  return lines.length === 0 ? "" : linesTable("measured", lines, Math.min(most, MOST_ROWS));
}

const ORDER: readonly GateLine["tone"][] = ["bad", "wait", "busy", "good", "none"];

/** Everything a run has measured and asked so far: what is not well first. Folded where all of it is over and well. */
export function measuredOfRun(run: Run): string {
  const rows: { line: GateLine; where: string }[] = [];
  for (const stage of run.plan.stages.keys())
    for (const line of gatesOfStage(run, stage)) rows.push({ line, where: `stage ${stageName(run, stage)}` });
  for (const batch of run.batches) for (const line of gatesOfBatch(run, batch)) rows.push({ line, where: batchName(run, batch) });
  if (rows.length === 0) return "";
  const worst = rows.toSorted((a, b) => ORDER.indexOf(a.line.tone) - ORDER.indexOf(b.line.tone));
  const named = worst.map(({ line, where }) => ({ ...line, what: `${line.what}, ${where}` }));
  const text = linesTable("analysis or hook", named);
  const open = worst.some(({ line }) => line.tone === "bad" || line.tone === "wait" || !line.over);
  return open ? text : folded("What was measured and asked", text);
}
