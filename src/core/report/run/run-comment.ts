import type { AnyReason } from "../../base/reason.ts";
import { epoch, formatDuration } from "../../base/time.ts";
import type { Batch, Requeued, Run } from "../../run/state/run.ts";
import { cell, code, prose } from "../escape.ts";
import { COMMENT_ROOM, fitting } from "../fit.ts";
import { folded, present, table } from "../markdown.ts";
import { nextOfRun, nextTime } from "../reasons/next.ts";
import { sentenceOf } from "../reasons/say.ts";
import { awaitsBatches } from "../requeued.ts";
import { rolloutsOfRun } from "../rollouts.ts";
import { isLive, settledBatches, targetsNow } from "../steps.ts";
import {
  age,
  batchesOfStage,
  batchName,
  clockTime,
  phaseWord,
  pinValue,
  releaseName,
  runMark,
  shortName,
  stageName,
  targetMark,
} from "../words.ts";
import { measuredOfRun } from "./analysis-markdown.ts";
import { besides } from "./membership.ts";
import { unaskedNotes } from "./sign-of-life.ts";

/**
 * The live page of a run: the one sticky comment on its release PR. Never over GitHub's limit: a run with too many clusters
 * is shown by stage and by what needs attention, with the whole in `stagecoach get`.
 */
export function runComment(run: Run, now: number, remarks: readonly AnyReason[] = []): string {
  // Of a run that has ended every age is as of its end: it reads the same whenever it is written again.
  const at = run.endedAt === undefined ? now : epoch(run.endedAt);
  const said = remarks.map((remark) => sentenceOf(remark, run));
  const say = (whole: boolean) => compose(run, at, whole ? said : said.slice(0, 3), whole);
  return fitting(COMMENT_ROOM, [true, false], say, "Some of it is too long for this place.");
}

/** Rows of a run too large to be shown whole. */
const MOST_STAGES = 60;
const MOST_LINES = 20;

function compose(run: Run, now: number, remarks: readonly string[], everyCluster: boolean): string[] {
  const parts = [
    headline(run, now),
    ask(run),
    notes([...unseenPlanes(run, now), ...remarks]),
    stageTable(run, everyCluster ? Number.POSITIVE_INFINITY : MOST_STAGES),
    attention(run, now),
  ];
  if (everyCluster) parts.push(rolloutsOfRun(run), measuredOfRun(run), details(run, now));
  else parts.push(`The fleet is too large to show every cluster here: \`stagecoach get ${run.rollout} ${run.number}\` shows them all.`);
  parts.push(footer(run));
  return parts;
}

function headline(run: Run, now: number): string {
  const title = `### ${runMark(run.phase)} ${cell(run.rollout)} #${run.number}: ${cell(releaseName(run.release.values))}`;
  const since =
    run.endedAt === undefined ? `for ${age(run.since, now)}` : `at ${run.endedAt.slice(0, 10)} ${run.endedAt.slice(11, 19)} UTC`;
  const lines = [title, "", `**${run.phase}** ${since}: ${cell(sentenceOf(run.why, run), 1000)}`];
  // While it is paused that is what it asks for, below.
  const next = nextOfRun(run);
  if (next !== undefined) lines.push("", `**Next:** ${prose(next.what)}${nextTime(next, now)}`);
  if (run.endedAt !== undefined) lines.push("", `Took ${formatDuration(epoch(run.endedAt) - epoch(run.startedAt))}.`);
  return lines.join("\n");
}

function ask(run: Run): string {
  if (run.paused === undefined) return "";
  const by = run.paused.kind === "Command" ? ` by ${cell(run.paused.by)}` : "";
  return `> [!WARNING]\n> Paused${by}: ${cell(sentenceOf(run.paused.reason, run), 1000)}\n>\n> ${prose(sentenceOf(run.paused.ask, run))}`;
}

/** Which control planes cannot be seen: what of the run waits for them, and what goes on. */
function unseenPlanes(run: Run, now: number): string[] {
  return (run.unseen ?? []).map(({ plane, since, why }) => {
    const clusters = new Set(
      run.batches.flatMap((batch) => batch.targets.filter((target) => target.key.startsWith(`${plane}/`)).map((target) => target.cluster)),
    );
    const held = clusters.size === 0 ? "" : ` ${clusters.size} of its clusters are in this run's batches so far.`;
    return `Control plane ${plane} cannot be seen since ${clockTime(since, now)}: ${sentenceOf(why, run)}. Its clusters wait, those of other control planes go on.${held}`;
  });
}

/** What is worth knowing beside the run itself: a team that does not exist, a limit of GitHub's that is near. */
function notes(remarks: readonly string[]): string {
  if (remarks.length === 0) return "";
  const lines = remarks.slice(0, 10).map((text) => `> ${prose(text)}`);
  return `> [!NOTE]\n${lines.join("\n>\n")}`;
}

function stageTable(run: Run, most: number): string {
  const rows = run.plan.stages.map((stage, index) => {
    const batches = run.batches.filter((batch) => batch.stage === index);
    const settled = settledBatches(batches);
    const targets = targetsNow(batches);
    const open = batches.filter((batch) => batch.phase !== "Closed");
    const live = new Set(open.flatMap((batch) => batch.targets.filter((t) => isLive(batch, t)).map((t) => t.cluster))).size;
    const failed = new Set(targets.filter((t) => t.phase === "Failed").map((t) => t.cluster)).size;
    const total = stage.clusters.length + stage.requeued.length;
    const state =
      index < run.stage ? "done" : index > run.stage ? "to come" : run.phase === "Progressing" ? "in progress" : run.phase.toLowerCase();
    const requeued = run.requeued.filter((item) => item.stage === index && item.failed !== true).length;
    const notes = present(failed > 0 && `${failed} failed`, requeued > 0 && `${requeued} requeued`).join(", ");
    return [cell(stage.name), state, `${settled}/${batchesOfStage(run, index)}`, `${live}/${total} ${bar(live, total)}`, notes];
  });
  return stagesAround(run.stage, ["stage", "state", "batches", "clusters live", ""], rows, most);
}

/** A table of stages; of too many, those around the one that the run is at. */
export function stagesAround(stage: number, head: readonly string[], rows: readonly (string | number)[][], most: number): string {
  const from = Math.max(0, Math.min(stage - 5, rows.length - most));
  return table(head, [...rows.slice(from), ...rows.slice(0, from)], most, (left) => `${left} more stages are not shown.`);
}

function bar(done: number, total: number): string {
  if (total === 0) return "";
  const filled = Math.floor(Math.min(1, done / total) * 10);
  return `\`${"█".repeat(filled)}${"░".repeat(10 - filled)}\``;
}

function attention(run: Run, now: number): string {
  const active = run.batches.filter((batch) => batch.phase !== "Settled" && batch.phase !== "Closed");
  const lines = active
    .slice(0, MOST_LINES)
    .map(
      (batch) =>
        `- ${pull(batch)}${cell(batchName(run, batch))}: **${batch.phase}** for ${age(batch.since, now)}, ${cell(sentenceOf(batch.why, run), 500)}`,
    );
  const later = run.requeued.filter((item) => item.failed !== true);
  for (const item of later.slice(0, MOST_LINES)) lines.push(requeuedLine(run, item, now));
  if (later.length > MOST_LINES) lines.push(`- and ${later.length - MOST_LINES} more are requeued`);
  const beside = besides(run);
  for (const { cluster, status, why } of beside.slice(0, MOST_BESIDE)) {
    const is = status === "Quarantined" ? "in quarantine" : status.toLowerCase();
    lines.push(`- ${code(shortName(cluster))} is ${is}: ${cell(why, 300)}`);
  }
  if (beside.length > MOST_BESIDE) lines.push(`- and ${beside.length - MOST_BESIDE} more beside the batches`);
  return lines.join("\n");
}

const MOST_BESIDE = 20;

function requeuedLine(run: Run, item: Requeued, now: number): string {
  const next = awaitsBatches(run, item) ? "It is looked at after the stage's batches." : `Next look ${clockTime(item.nextAt, now)}.`;
  return `- ${code(shortName(item.cluster))} is requeued: ${cell(sentenceOf(item.why, run), 500)} ${next}`;
}

function pull(batch: Batch): string {
  return batch.pull === undefined ? "" : `#${batch.pull.number} `;
}

function details(run: Run, now: number): string {
  const rows = run.batches.flatMap((batch) =>
    targetsNow([batch]).map((target) => {
      const edit = target.edits.find(({ from, to }) => from !== to) ?? target.edits[0];
      const change = edit === undefined ? "" : `${code(pinValue(edit, "from"))} → ${code(pinValue(edit, "to"))}`;
      const why = target.excused === true ? target.why : (target.evidence?.sentence ?? target.why);
      const place = [cell(stageName(run, batch.stage)), pull(batch).trim(), code(shortName(target.cluster)), code(target.application)];
      const state = `${targetMark(target.phase)} ${phaseWord(target)}`;
      return [...place, change, state, age(target.since, now), cell(sentenceOf(why, run))];
    }),
  );
  if (rows.length === 0) return "";
  const head = ["stage", "PR", "cluster", "application", "change", "state", "since", "why"];
  return folded("Every cluster moved so far", [table(head, rows), ...unaskedNotes(run.batches)].join("\n\n"));
}

/** What may still be said to a run that has ended. */
const ENDED: Partial<Record<Run["phase"], string>> = {
  Failed: "This run has ended. `/retry` tries the failed clusters again, `/rollback` puts the moved ones back",
  Aborted: "This run has ended. `/rollback` puts the moved clusters back",
};

function footer(run: Run): string {
  const commands =
    run.endedAt === undefined
      ? "Steer with a comment: `/promote` `/pause` `/resume` `/requeue CLUSTER…` `/skip CLUSTER…` `/abort` `/help`"
      : (ENDED[run.phase] ?? "This run has ended.");
  return `<sub>${commands} · plan ${code(run.plan.hash.slice(0, 12))}</sub>`;
}
