import type { Plan, PlannedBatch, PlannedTarget } from "../../plan/plan-types.ts";
import { code } from "../escape.ts";
import { firstOf, folded, table } from "../markdown.ts";
import { pinValue, shortName } from "../words.ts";
import { short } from "./plan-chart.ts";
import type { Level } from "./plan-stages.ts";

/** The whole plan, folded: a row for each target, or where those are too many, for each batch. */
export function planDetails(plan: Plan, level: Level): string {
  if (level.batches === 0) return `Every batch and cluster: \`stagecoach plan ${plan.rollout}\`.`;
  return level.targets ? everyTarget(plan) : everyBatch(plan, level);
}

const TITLE = "Every batch and cluster";

function everyTarget(plan: Plan): string {
  const rows = plan.stages.flatMap(({ batches, requeuedTargets }, stage) => [
    ...batches.flatMap(({ targets }, batch) => targets.map((target) => [`${stage + 1}.${batch + 1}`, ...targetCells(target)])),
    ...requeuedTargets.map((target) => [`${stage + 1} later`, ...targetCells(target)]),
  ]);
  return folded(TITLE, table(["batch", "cluster", "application", "change", "where"], rows));
}

function targetCells(target: PlannedTarget): string[] {
  const [edit, ...others] = target.edits;
  const where = edit === undefined ? "–" : code(short(edit.kind === "branch" ? edit.path : edit.file, 200));
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return [code(short(shortName(target.cluster), 100)), code(short(target.application, 253)), changeOf(target), `${where}${more}`];
}

function changeOf({ edits }: PlannedTarget): string {
  const [edit] = edits;
  if (edit === undefined) return "–";
  const to = code(short(pinValue(edit, "to"), 100));
  return edits.every(({ from, to: wanted }) => from === wanted) ? `${to} already` : `${code(short(pinValue(edit, "from"), 100))} → ${to}`;
}

function everyBatch(plan: Plan, { clusters, batches }: Level): string {
  const rows = plan.stages.flatMap((stage, at) =>
    stage.batches.map((batch, index) => [`${at + 1}.${index + 1}`, ...batchCells(batch, clusters)]),
  );
  const left = rows.length > batches ? `${rows.length - batches} more batches. ` : "";
  const shown = table(["batch", "clusters", "targets", "changes"], rows.slice(0, batches));
  return folded(TITLE, `${shown}\n\n${left}\`stagecoach plan ${plan.rollout}\` shows every cluster with its change.`);
}

function batchCells(batch: PlannedBatch, most: number): string[] {
  const names = batch.clusters.map((key) => code(short(shortName(key), 60)));
  const changes = [...new Set(batch.targets.slice(0, 1000).map(changeOf))];
  const shown = changes.slice(0, 2).join(", ") + (changes.length > 2 ? ", …" : "");
  return [firstOf(names, most, names.length, " "), String(batch.targets.length), shown];
}
