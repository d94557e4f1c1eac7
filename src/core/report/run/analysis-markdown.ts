import type { Batch, Run } from "../../run/state/run.ts";
import { cell } from "../escape.ts";
import { batchName, stageName } from "../words.ts";
import { type GateLine, gatesOfBatch, gatesOfStage } from "./analysis.ts";

const MOST_ROWS = 40;

function row({ what, state, measured, why }: GateLine): string {
  return `| ${cell(what, 200)} | ${cell(state)} | ${cell(measured, 500)} | ${cell(why, 500)} |`;
}

function table(rows: readonly string[], first: string, most = MOST_ROWS): string {
  const more = rows.length > most ? `\n\n${rows.length - most} more.` : "";
  return `| ${first} | state | measured | why |\n| --- | --- | --- | --- |\n${rows.slice(0, most).join("\n")}${more}`;
}

/** What was measured of a batch, for the pull request of the next; empty where nothing was. */
export function measuredOfBatch(run: Run, batch: Batch, most = MOST_ROWS): string {
  const lines = gatesOfBatch(run, batch);
  return lines.length === 0 ? "" : table(lines.map(row), "measured", Math.min(most, MOST_ROWS));
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
  const text = table(
    worst.map(({ line, where }) => row({ ...line, what: `${line.what}, ${where}` })),
    "analysis or hook",
  );
  const open = worst.some(({ line }) => line.tone === "bad" || line.tone === "wait" || !line.over);
  return open ? text : `<details><summary>What was measured and asked</summary>\n\n${text}\n\n</details>`;
}
