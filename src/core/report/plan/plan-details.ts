import type { Plan, PlannedBatch, PlannedTarget } from "../../plan/plan-types.ts";
import { code } from "../escape.ts";
import { pinValue, shortName } from "../words.ts";
import { short } from "./plan-chart.ts";
import type { Level } from "./plan-stages.ts";

/** The whole plan, folded: a row for each target, or where those are too many, for each batch. */
export function planDetails(plan: Plan, level: Level): string {
  if (level.batches === 0) return `Every batch and cluster: \`stagecoach plan ${plan.rollout}\`.`;
  return level.targets ? everyTarget(plan) : everyBatch(plan, level);
}

function everyTarget(plan: Plan): string {
  const rows: string[] = [];
  plan.stages.forEach((stage, stageIndex) => {
    stage.batches.forEach((batch, batchIndex) => {
      for (const target of batch.targets) rows.push(`| ${stageIndex + 1}.${batchIndex + 1} | ${targetRow(target)} |`);
    });
    for (const target of stage.requeuedTargets) rows.push(`| ${stageIndex + 1} later | ${targetRow(target)} |`);
  });
  return folded(["batch", "cluster", "application", "change", "where"], rows, "");
}

function targetRow(target: PlannedTarget): string {
  const [edit, ...others] = target.edits;
  const where = edit === undefined ? "–" : code(short(edit.kind === "branch" ? edit.path : edit.file, 200));
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return `${code(short(shortName(target.cluster), 100))} | ${code(short(target.application, 253))} | ${changeOf(target)} | ${where}${more}`;
}

function changeOf({ edits }: PlannedTarget): string {
  const [edit] = edits;
  if (edit === undefined) return "–";
  const to = code(short(pinValue(edit, "to"), 100));
  return edits.every(({ from, to: wanted }) => from === wanted) ? `${to} already` : `${code(short(pinValue(edit, "from"), 100))} → ${to}`;
}

function everyBatch(plan: Plan, { clusters, batches }: Level): string {
  const rows: string[] = [];
  let left = 0;
  plan.stages.forEach((stage, stageIndex) => {
    stage.batches.forEach((batch, batchIndex) => {
      if (rows.length < batches) rows.push(`| ${stageIndex + 1}.${batchIndex + 1} | ${batchRow(batch, clusters)} |`);
      else left += 1;
    });
  });
  const some = `\n\n${left === 0 ? "" : `${left} more batches. `}\`stagecoach plan ${plan.rollout}\` shows every cluster with its change.`;
  return folded(["batch", "clusters", "targets", "changes"], rows, some);
}

function batchRow(batch: PlannedBatch, most: number): string {
  const names = batch.clusters.slice(0, most).map((key) => code(short(shortName(key), 60)));
  const more = batch.clusters.length - names.length;
  const changes = [...new Set(batch.targets.slice(0, 1000).map(changeOf))];
  const shown = changes.slice(0, 2).join(", ") + (changes.length > 2 ? ", …" : "");
  return `${names.join(" ")}${more > 0 ? ` and ${more} more` : ""} | ${batch.targets.length} | ${shown}`;
}

function folded(head: readonly string[], rows: readonly string[], after: string): string {
  const table = [`| ${head.join(" | ")} |`, `|${" --- |".repeat(head.length)}`, ...rows].join("\n");
  return `<details><summary>Every batch and cluster</summary>\n\n${table}${after}\n\n</details>`;
}
