import { formatDuration } from "../../base/time.ts";
import { stepWords, waitsAfter } from "../../plan/steps.ts";
import { wantsApproval } from "../../run/gates/approval.ts";
import type { Batch, Run } from "../../run/state/run.ts";
import { isMidStep } from "../../run/state/steps.ts";
import { windowsAt } from "../../spec/windows.ts";
import { cell, code } from "../escape.ts";
import { firstOf } from "../markdown.ts";
import { waitWords } from "../steps.ts";
import { batchesOfStage, clockTime, pinValue, releaseName, runTitle, shortName, stageName } from "../words.ts";

const MOST_NAMED = 5;
/** More changes than these are in the table alone. */
const MOST_CHANGES = 2;

/** What somebody who is woken by a batch's PR has to know first: what it changes and where, how far the run is, and what comes next. */
export function batchIntro(run: Run, batch: Batch, now: number): string {
  return [
    `**${changes(run, batch)}** on ${places(batch)}`,
    batchPlace(run, batch),
    `${merges(run, batch, now)} ${afterwards(run, batch)}`,
  ].join("\n\n");
}

/** `v1.4.1 → v1.4.2`; of a canary step the weight, which is all that changes. */
function changes(run: Run, batch: Batch): string {
  const pairs = new Set<string>();
  for (const { edits } of batch.targets) {
    for (const edit of edits) {
      const from = edit.from === null ? "" : `${code(pinValue(edit, "from").slice(0, 100))} `;
      if (edit.from !== edit.to && edit.steps === undefined) pairs.add(`${from}→ ${code(pinValue(edit, "to").slice(0, 100))}`);
    }
  }
  const weight = batch.step === undefined || batch.step.of === 1 ? "" : `weight ${batch.step.weight}`;
  const values = pairs.size > MOST_CHANGES ? `→ ${code(releaseName(run.release.values))}` : [...pairs].join(", ");
  return [values, weight].filter((part) => part !== "").join(", at ") || code(releaseName(run.release.values));
}

function places(batch: Batch): string {
  const names = [...new Set(batch.targets.map((target) => shortName(target.cluster)))];
  return firstOf(names.map(code), MOST_NAMED);
}

/** `Stage canary, 1 of 4; batch 1 of 3. Run payments #42, release v1.4.2 (#10).` */
export function batchPlace(run: Run, batch: Batch): string {
  const stage = `Stage **${cell(stageName(run, batch.stage))}**, ${batch.stage + 1} of ${run.plan.stages.length}`;
  const { pull } = run.trigger;
  const names = { CatchUp: "a catch-up batch", Hotfix: "a hotfix", Revert: "a batch that puts the old values back" };
  const which = batch.kind === "Planned" ? `batch ${batch.ofStage} of ${batchesOfStage(run, batch.stage)}` : names[batch.kind];
  const of = `${run.kind === "Rollback" ? "Rollback" : "Run"} **${runTitle(run)}**`;
  return `${stage}; ${which}${stepWords(batch)}. ${of}, release ${code(releaseName(run.release.values))}${pull === undefined ? "" : ` (#${pull})`}.`;
}

/** Who merges, and when, in words that stay true once it is merged, for a body is written once. All else is in the table of gates. */
function merges(run: Run, batch: Batch, now: number): string {
  const { mode, delivery } = run.spec;
  if (mode !== "Run") return `**As planned:** a person merges this PR, as the rollout's mode is ${mode}.`;
  const waits = waitsFor(run, batch, now);
  if (delivery.merge === "Manual") {
    const once = waits.length === 0 ? "" : ` once ${listed(waits)}`;
    return `**As planned:** a person merges this PR${once}; \`/promote\` has Stagecoach do it.`;
  }
  return `**As planned:** Stagecoach merges this PR once ${listed([...waits, "its checks pass"])}.`;
}

/** `a window opens and its checks pass`. */
function listed(waits: readonly string[]): string {
  return waits.length < 2 ? waits.join("") : `${waits.slice(0, -1).join(", ")} and ${waits.at(-1)}`;
}

/** What is known to hold it as it is opened. A rollback and a revert wait for none of it. */
function waitsFor(run: Run, batch: Batch, now: number): string[] {
  if (run.kind === "Rollback" || batch.kind === "Revert") return [];
  const waits: string[] = [];
  if (batch.ahead === true) waits.push("the batches before it are done (it was opened ahead; somebody else's merge pauses the run)");
  const wanted = wantsApproval(run, batch);
  if (wanted !== undefined) {
    const teams = wanted.teams.slice(0, MOST_NAMED).map((team) => `@${cell(team, 60)}`);
    waits.push(`${wanted.count === 1 ? "a member" : `${wanted.count} members`} of ${teams.join(" or ")} approved it`);
  }
  const { open, changesAt } = windowsAt(run.spec.windows ?? [], now);
  if (!open && batch.kind !== "Hotfix") {
    const at = changesAt === undefined ? "" : ` at ${clockTime(new Date(changesAt).toISOString(), now)}`;
    waits.push(`a window opens${at}`);
  }
  for (const { rollout } of (run.spec.dependsOn ?? []).slice(0, MOST_NAMED)) waits.push(`${cell(rollout, 60)} is healthy on its clusters`);
  return waits;
}

/** From its merge to what follows it. */
function afterwards(run: Run, batch: Batch): string {
  const stage = run.spec.stages[batch.stage];
  const deadline = stage === undefined ? "" : `, up to ${formatDuration(stage.progressDeadlineMs)} from when it sees this commit`;
  const parts = [`waits for Argo CD to show every cluster healthy at this change${deadline}`];
  const bakes = (stage?.bakeMs ?? 0) > 0 && run.promotedFully === undefined && batch.kind !== "Hotfix" && batch.kind !== "Revert";
  if (isMidStep(batch)) {
    const waits = waitsAfter(stage?.steps, batch.step?.index ?? 0).map(waitWords);
    if (waits.length > 0) parts.push(`goes through ${cell(waits.join(", "), 200)}`);
  } else if (bakes) parts.push(`bakes ${formatDuration(stage?.bakeMs ?? 0)}`);
  parts.push(follows(run, batch));
  return `Then it ${parts.join(", then ")}.`;
}

function follows(run: Run, batch: Batch): string {
  if (isMidStep(batch)) return `opens step ${(batch.step?.index ?? 0) + 1} of ${batch.step?.of ?? 0}`;
  if (batch.kind !== "Planned") return "goes on with the run";
  const of = batchesOfStage(run, batch.stage);
  if (batch.ofStage < of) return `opens batch ${batch.ofStage + 1} of ${of}`;
  const next = run.plan.stages.slice(batch.stage + 1).find((stage) => stage.clusters.length + stage.requeued.length > 0);
  return next === undefined ? "finishes the run" : `goes on to stage ${cell(next.name)}`;
}
