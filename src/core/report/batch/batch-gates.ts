import { formatDuration } from "../../base/time.ts";
import { waitsAfter } from "../../plan/steps.ts";
import { wantsApproval } from "../../run/gates/approval.ts";
import type { Batch, Run } from "../../run/state/run.ts";
import { isMidStep } from "../../run/state/steps.ts";
import { windowsAt } from "../../spec/windows.ts";
import { cell } from "../escape.ts";
import { short } from "../plan/plan-chart.ts";
import { waitWords } from "../steps.ts";
import { clockTime } from "../words.ts";

/** One gate of a batch's PR, in words. `when`: when it opens at the latest, as far as that is known as the PR is opened. */
interface GateRow {
  gate: string;
  why: string;
  /** Ours, as Markdown. */
  opens: string;
  when: string;
}

const MOST_NAMED = 5;

/**
 * What stands between this PR and the next batch, a line for each gate: why it waits, what opens it, and when. Said once, as the PR is
 * opened; which of them is waited for now is the check's to say. The order is that in which they are asked.
 */
export function gateTable(run: Run, batch: Batch, now: number): string {
  const before = [...always(run), ...forward(run, batch, now), ...last(run)];
  const rows = [...before, ...afterMerge(run, batch)].map(
    ({ gate, why, opens, when }) => `| ${cell(gate, 80)} | ${cell(why, 300)} | ${opens} | ${cell(when, 120)} |`,
  );
  const table = `| gate | why it waits | what opens it | when |\n| --- | --- | --- | --- |\n${rows.join("\n")}`;
  const summary = "What it waits for, and what opens each gate";
  return `<details><summary>${summary}</summary>\n\nThe check \`stagecoach/gate\` says which of these it waits for now.\n\n${table}\n\n</details>`;
}

function always(run: Run): GateRow[] {
  return [
    {
      gate: "settings",
      why: ".github/stagecoach.yaml has to be readable: it may freeze or limit",
      opens: "correcting it",
      when: "at once",
    },
    { gate: "halt", why: "no halt may cover its clusters", opens: "the halt's end, or `/halt --off`", when: "as said with the halt" },
    {
      gate: "limits",
      why: "room in what all runs of the repo may have in flight together, where the settings limit that",
      opens: "clusters of other batches being confirmed",
      when: "unknown",
    },
    ...(run.spec.source.controlPlanes.length > 1
      ? [{ gate: "control planes", why: "its clusters' control plane has to be reachable", opens: "the connection", when: "unknown" }]
      : []),
  ];
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
  return (run.spec.dependsOn ?? []).slice(0, MOST_NAMED).map(({ rollout, atLeast }) => ({
    gate: `after ${short(rollout, 60)}`,
    why: `each of its clusters has to have ${short(rollout, 60)} confirmed there, at ${atLeast === "SameVersion" ? "this version" : `least ${short(atLeast, 60)}`}`,
    opens: "that rollout",
    when: "unknown",
  }));
}

function approval(run: Run, batch: Batch): GateRow[] {
  const wanted = wantsApproval(run, batch);
  if (wanted === undefined) return [];
  const teams = wanted.teams.slice(0, MOST_NAMED).map((team) => `@${short(team, 60)}`);
  const who = wanted.count === 1 ? `a member of ${teams.join(" or ")}` : `${wanted.count} members of ${teams.join(" or ")}`;
  const why = `the stage wants the approval of ${who}, not of who released it`;
  return [{ gate: "approval", why, opens: "an approving review of this PR at its head, or `/promote` on it", when: "when they have" }];
}

function windows(run: Run, now: number): GateRow[] {
  const all = run.spec.windows ?? [];
  const freezes = {
    gate: "freezes",
    why: "those of the repo's settings and of the server",
    opens: "their end",
    when: "the check says when",
  };
  if (all.length === 0) return [freezes];
  const named = all
    .slice(0, MOST_NAMED)
    .map((one) => `${one.kind} ${short(one.schedule, 60)} for ${formatDuration(one.durationMs)} (${short(one.timeZone, 60)})`);
  const { open, changesAt } = windowsAt(all, now);
  const at = changesAt === undefined ? undefined : clockTime(new Date(changesAt).toISOString(), now);
  const when = open ? `open now${at === undefined ? "" : `, until ${at}`}` : at === undefined ? "not within a year" : `next ${at}`;
  const more = all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : "";
  return [{ gate: "windows", why: `${named.join(", ")}${more}`, opens: "the next opening", when }, freezes];
}

function jitter(run: Run, batch: Batch): GateRow[] {
  const longest = run.spec.stages[batch.stage]?.jitterMs ?? 0;
  if (longest === 0) return [];
  const when = `at most ${formatDuration(longest)} from now`;
  return [{ gate: "jitter", why: "batches of the stage are not to move at once", opens: "time", when }];
}

function stageBegins(run: Run, batch: Batch): GateRow[] {
  const stage = run.spec.stages[batch.stage];
  const begun = run.batches.some((one) => one.stage === batch.stage && one.number < batch.number && one.merged !== undefined);
  if (stage === undefined || begun) return [];
  return [
    ...(stage.analysis?.when.includes("BeforeStage") === true
      ? [{ gate: "analysis", why: `${namesOf(stage.analysis)} before the stage`, opens: "its success", when: "when it has measured" }]
      : []),
    ...((stage.hooks?.before.length ?? 0) > 0
      ? [{ gate: "hooks before", why: "they are asked before the stage", opens: "their answer", when: "when they answer" }]
      : []),
  ];
}

function last(run: Run): GateRow[] {
  const byHand = run.spec.mode !== "Run" || run.spec.delivery.merge === "Manual";
  return [
    {
      gate: "render guard",
      why: "the merge may delete, rename or move no Application",
      opens: "rendering it on the present base",
      when: "seconds",
    },
    {
      gate: "GitHub's rules",
      why: "required checks, reviews, and the merge queue, where the repository has them",
      opens: "whoever they ask",
      when: "GitHub says",
    },
    ...(byHand
      ? [
          {
            gate: "a person",
            why: "the rollout has people merge",
            opens: `a merge${run.spec.mode === "Run" ? ", or `/promote`" : ""}`,
            when: "when somebody does",
          },
        ]
      : []),
  ];
}

/** What the next batch waits for once this one has merged. */
function afterMerge(run: Run, batch: Batch): GateRow[] {
  const stage = run.spec.stages[batch.stage];
  if (stage === undefined) return [];
  const deadline = formatDuration(stage.progressDeadlineMs);
  const health = {
    gate: "health",
    why: "every cluster has to be live at this very change and healthy",
    opens: "Argo CD showing it; never `/promote`",
    when: `failed ${deadline} after it is first seen, at the latest`,
  };
  if (batch.kind === "Revert") return [health];
  return [health, ...stepWaits(run, batch), ...(isMidStep(batch) || batch.kind === "Hotfix" ? [] : baking(run, batch))];
}

function stepWaits(run: Run, batch: Batch): GateRow[] {
  if (batch.step === undefined) return [];
  return waitsAfter(run.spec.stages[batch.stage]?.steps, batch.step.index).map((wait) => {
    const timed = wait.kind === "pause" && wait.durationMs !== undefined;
    const opens = wait.kind === "analysis" ? "its success" : timed ? "time, or `/promote`" : "`/promote`";
    return { gate: "step", why: waitWords(wait), opens, when: timed ? "as long from then" : "" };
  });
}

function baking(run: Run, batch: Batch): GateRow[] {
  const { bakeMs = 0, analysis } = run.spec.stages[batch.stage] ?? {};
  return [
    ...(bakeMs > 0
      ? [
          {
            gate: "bake",
            why: "healthy without a break",
            opens: "time, or `/promote`",
            when: `${formatDuration(bakeMs)} after the last is confirmed`,
          },
        ]
      : []),
    ...(analysis?.when.includes("AfterBatch") === true
      ? [{ gate: "analysis", why: `${namesOf(analysis)} after the batch`, opens: "its success", when: "when it has measured" }]
      : []),
  ];
}

function namesOf({ templates }: { templates: readonly { templateName: string }[] }): string {
  return short(templates.map(({ templateName }) => templateName).join(", "), 100);
}
