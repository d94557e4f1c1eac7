import { formatDuration } from "../../base/time.ts";
import { waitsAfter } from "../../plan/steps.ts";
import { wantsApproval } from "../../run/gates/approval.ts";
import type { Batch, Run } from "../../run/state/run.ts";
import { isMidStep } from "../../run/state/steps.ts";
import { windowsAt } from "../../spec/windows.ts";
import { cell } from "../escape.ts";
import { firstOf, folded, table } from "../markdown.ts";
import { short } from "../plan/plan-chart.ts";
import { waitWords } from "../steps.ts";
import { clockTime } from "../words.ts";

/**
 * One gate of a batch's PR, in words: what it is called, why it waits, what opens it (ours, as Markdown), and when it opens at the latest, as
 * far as that is known as the PR is opened.
 */
type GateRow = readonly [gate: string, why: string, opens: string, when: string];

const MOST_NAMED = 5;

/**
 * What stands between this PR and the next batch, a line for each gate that this batch has: why it waits, what opens it, and when. Said
 * once, as the PR is opened; which of them is waited for now is the check's to say. The order is that in which they are asked.
 */
export function gateTable(run: Run, batch: Batch, now: number): string {
  const rows = [...forward(run, batch, now), ...merging(run), ...afterMerge(run, batch)].map(([gate, why, opens, when]) => [
    cell(gate, 80),
    cell(why, 300),
    opens,
    cell(when, 120),
  ]);
  const always =
    "As every batch, it also waits while a halt, a freeze or a limit of the repository holds it, and for the checks and reviews that GitHub requires.";
  const gates = rows.length === 0 ? "" : `${table(["gate", "why it waits", "what opens it", "when"], rows)}\n\n`;
  return folded("What it waits for", `${gates}${always} The check \`stagecoach/gate\` says what it waits for now.`);
}

/** Those that a rollback and a revert skip. */
function forward(run: Run, batch: Batch, now: number): GateRow[] {
  if (run.kind === "Rollback" || batch.kind === "Revert") return [];
  return [
    ...depends(run),
    ...approval(run, batch),
    ...(batch.kind === "Hotfix" ? [] : windows(run, now)),
    ...jitter(run, batch),
    ...(batch.kind === "Hotfix" ? [] : stageBegins(run, batch)),
  ];
}

function depends(run: Run): GateRow[] {
  return (run.spec.dependsOn ?? []).slice(0, MOST_NAMED).map(({ rollout, atLeast }) => {
    const name = short(rollout, 60);
    const version = atLeast === "SameVersion" ? "this version" : `least ${short(atLeast, 60)}`;
    return [`after ${name}`, `${name} has to be healthy on each of these clusters, at ${version}`, "that rollout", "not known"];
  });
}

function approval(run: Run, batch: Batch): GateRow[] {
  const wanted = wantsApproval(run, batch);
  if (wanted === undefined) return [];
  const teams = wanted.teams.slice(0, MOST_NAMED).map((team) => `@${short(team, 60)}`);
  const who = wanted.count === 1 ? `a member of ${teams.join(" or ")}` : `${wanted.count} members of ${teams.join(" or ")}`;
  const why = `${who} has to approve, other than who released it`;
  return [["approval", why, "an approving review of this PR at its head, or `/promote` on it", "when they have"]];
}

function windows(run: Run, now: number): GateRow[] {
  const all = run.spec.windows ?? [];
  if (all.length === 0) return [];
  const named = all.map(
    (one) => `${one.kind} ${short(one.schedule, 60)} for ${formatDuration(one.durationMs)} (${short(one.timeZone, 60)})`,
  );
  const { open, changesAt } = windowsAt(all, now);
  const at = changesAt === undefined ? undefined : clockTime(new Date(changesAt).toISOString(), now);
  const when = open ? `open now${at === undefined ? "" : `, until ${at}`}` : at === undefined ? "not within a year" : `next ${at}`;
  return [["windows", firstOf(named, MOST_NAMED), "the next opening", when]];
}

function jitter(run: Run, batch: Batch): GateRow[] {
  const longest = run.spec.stages[batch.stage]?.jitterMs ?? 0;
  if (longest === 0) return [];
  return [["jitter", "the stage spreads its batches over time", "time", `at most ${formatDuration(longest)} from now`]];
}

function stageBegins(run: Run, batch: Batch): GateRow[] {
  const { analysis, hooks } = run.spec.stages[batch.stage] ?? {};
  if (run.batches.some((one) => one.stage === batch.stage && one.number < batch.number && one.merged !== undefined)) return [];
  const rows: GateRow[] = [];
  if (analysis?.when.includes("BeforeStage") === true)
    rows.push(["analysis", `${namesOf(analysis)} before the stage`, "its success", "when it has measured"]);
  if ((hooks?.before.length ?? 0) > 0) rows.push(["hooks", "Stagecoach asks them before the stage", "their answer", "when they answer"]);
  return rows;
}

function merging({ spec }: Run): GateRow[] {
  if (spec.mode === "Run" && spec.delivery.merge !== "Manual") return [];
  const opens = spec.mode === "Run" ? "a merge, or `/promote`" : "a merge";
  return [["a person", "people merge the batches of this rollout", opens, "when somebody does"]];
}

/** What the next batch waits for once this one has merged. */
function afterMerge(run: Run, batch: Batch): GateRow[] {
  const stage = run.spec.stages[batch.stage];
  if (stage === undefined) return [];
  const deadline = formatDuration(stage.progressDeadlineMs);
  const health: GateRow = [
    "health",
    "Argo CD has to show this very change, healthy, on every cluster",
    "Argo CD alone; `/promote` never does",
    `it counts as failed ${deadline} after Argo CD first shows it`,
  ];
  if (batch.kind === "Revert") return [health];
  return [health, ...stepWaits(run, batch), ...(isMidStep(batch) || batch.kind === "Hotfix" ? [] : baking(run, batch))];
}

function stepWaits(run: Run, batch: Batch): GateRow[] {
  if (batch.step === undefined) return [];
  return waitsAfter(run.spec.stages[batch.stage]?.steps, batch.step.index).map((wait) => {
    const timed = wait.kind === "pause" && wait.durationMs !== undefined;
    const opens = wait.kind === "analysis" ? "its success" : timed ? "time, or `/promote`" : "`/promote`";
    return ["step", waitWords(wait), opens, timed ? "as long from then" : ""];
  });
}

function baking(run: Run, batch: Batch): GateRow[] {
  const { bakeMs = 0, analysis } = run.spec.stages[batch.stage] ?? {};
  const rows: GateRow[] = [];
  if (bakeMs > 0)
    rows.push(["bake", "every cluster stays healthy", "time, or `/promote`", `${formatDuration(bakeMs)} after the last is healthy`]);
  if (analysis?.when.includes("AfterBatch") === true)
    rows.push(["analysis", `${namesOf(analysis)} after the batch`, "its success", "when it has measured"]);
  return rows;
}

function namesOf({ templates }: { templates: readonly { templateName: string }[] }): string {
  return short(templates.map(({ templateName }) => templateName).join(", "), 100);
}
