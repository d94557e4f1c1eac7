import type { AnyReason } from "../../base/reason.ts";
import { epoch, formatDuration } from "../../base/time.ts";
import type { Batch, Run } from "../../run/state/run.ts";
import { cell, code } from "../escape.ts";
import { COMMENT_ROOM, fitting } from "../fit.ts";
import { firstOf, folded, table } from "../markdown.ts";
import { LABELS } from "../model/labels.ts";
import { modelOf } from "../model/run-model.ts";
import type { RunModel } from "../model/types.ts";
import { wholeSentence } from "../reasons/say.ts";
import { clockTime, releaseName, runMark, runTitle, shortName } from "../words.ts";
import { batchesDone } from "./run-comment.ts";

const MOST_FAILURES = 50;
const MOST_DEEDS = 100;
const MOST_STAGES = 60;

/**
 * What happened, where, how long it took, and who did what: the run's last word, written once when it has ended. How it stands is the model's;
 * who did what and how long it took is its past, which is in the journal alone.
 */
export function closingSummary(run: Run): string {
  const end = epoch(run.endedAt ?? run.since);
  const model = modelOf(run, end);
  const foot = `<sub>plan ${code(run.plan.hash.slice(0, 12))}</sub>`;
  const all = `All of it: \`stagecoach get ${run.rollout} ${run.number}\`.`;
  const rest = (whole: boolean) => (whole ? [failures(run), deeds(run, end)] : [all]);
  const say = (whole: boolean) => [headline(run, model, end), afterwards(run), stages(run, model, end), ...rest(whole), foot];
  return fitting(COMMENT_ROOM, [true, false], say, "Some of it is too long for this place.");
}

/** What a person may want to do now that nothing goes on by itself. */
function afterwards(run: Run): string {
  if (run.rollback !== undefined && (run.phase === "Failed" || run.phase === "Aborted"))
    return "What was moved is put back now, by pull requests in reverse order: that is a run of its own, told on this page.";
  if (run.of !== undefined && run.phase === "Failed")
    return "Not every cluster is back, and nothing moves any more. `/retry` tries the failed ones again; a pull request by hand puts a pin back as well.";
  if (run.phase === "Failed")
    return "Nothing moves any more. `/retry` tries the failed clusters again and goes on from there; `/rollback` puts the moved clusters back, by pull requests in reverse order; the next release starts a new run.";
  if (run.phase === "Aborted")
    return "Nothing moves any more, and what was moved stays as it is. `/rollback` puts it back, by pull requests in reverse order; the next release starts a new run.";
  return "";
}

function headline(run: Run, model: RunModel, end: number): string {
  const { counts, state } = model;
  const took = formatDuration(end - epoch(run.startedAt));
  const title = `### ${runMark(model)} ${runTitle(run)} ${LABELS[state]}: ${cell(releaseName(run.release.values))}`;
  return `${title}\n\n${cell(wholeSentence(run.why, run), 1000)}\n\n**${counts.healthy} of ${counts.clusters} clusters** are healthy at the release. It took **${took}**, from ${clockTime(run.startedAt, end)} to ${clockTime(new Date(end).toISOString(), end)}.`;
}

function stages(run: Run, { children }: RunModel, end: number): string {
  const rows = run.plan.stages.map((stage, index) => {
    const batches = run.batches.filter((batch) => batch.stage === index);
    const shown = children[index];
    const { healthy = 0, clusters = 0 } = shown?.counts ?? {};
    const pulls = batches.flatMap((batch) => (batch.pull === undefined || batch.merged === undefined ? [] : [`#${batch.pull.number}`]));
    const live = `${healthy}/${clusters}`;
    const done = shown === undefined ? "–" : batchesDone(shown);
    return [cell(stage.name), done, live, tookOf(batches, end), firstOf(pulls, 20, pulls.length, " ")];
  });
  return table(["stage", "batches", "clusters healthy", "took", "merged"], rows, MOST_STAGES, (left) => `and ${left} more stages`);
}

/** From the first batch's PR to the last one's settling, or to the run's end where it did not settle. */
function tookOf(batches: readonly Batch[], end: number): string {
  const starts = batches.flatMap((batch) => [batch.pull?.openedAt, batch.merged?.at].filter((time) => time !== undefined)).map(epoch);
  if (starts.length === 0) return "–";
  const open = batches.some((batch) => batch.settledAt === undefined);
  const last = open ? end : Math.max(...batches.map((batch) => epoch(batch.settledAt ?? batch.since)));
  return formatDuration(Math.max(0, last - Math.min(...starts)));
}

function failures(run: Run): string {
  const line = ({ cluster, why }: { cluster: string; why: AnyReason }, what: string) =>
    `- ${code(shortName(cluster))} ${what}: ${cell(wholeSentence(why, run), 500)}`;
  const failed = run.batches.flatMap(({ targets }) => targets.filter(({ phase }) => phase === "Failed"));
  const rows = [
    ...failed.map((target) => line(target, "failed")),
    ...run.requeued.filter((one) => one.failed === true).map((one) => line(one, "was put off to the last look")),
    ...run.skipped.map((one) => line(one, "was left out")),
  ];
  if (rows.length === 0) return "";
  const more = rows.length > MOST_FAILURES ? `\n- and ${rows.length - MOST_FAILURES} more` : "";
  return `**Not at the release:**\n\n${rows.slice(0, MOST_FAILURES).join("\n")}${more}`;
}

/** Who released, who merged by hand, and every command that was done, in order. Texts are harmless; numbers of our pull requests are links. */
function deeds(run: Run, end: number): string {
  const all = [{ at: run.trigger.at, text: released(run) }];
  for (const { merged, pull } of run.batches) {
    if (merged === undefined || pull === undefined || merged.by === "" || merged.by.endsWith("[bot]")) continue;
    all.push({ at: merged.at, text: `${account(merged.by)} merged #${pull.number}` });
  }
  for (const { outcome, actor, text, at } of run.commands) if (outcome === "done") all.push({ at, text: cell(`@${actor}: ${text}`, 300) });
  if (all.length === 1) return "";
  const rows = all.sort((a, b) => epoch(a.at) - epoch(b.at)).map(({ at, text }) => [clockTime(at, end), text]);
  return folded(
    "Who did what",
    table(["when", "what"], rows, MOST_DEEDS, (left) => `${left} more are in the journal.`),
  );
}

/** Without a PR an account is named only where GitHub knows one: what stands in a commit anybody may have typed. */
function released({ trigger }: Run): string {
  const place = trigger.pull === undefined ? "" : ` (#${trigger.pull})`;
  if (trigger.accounts === undefined) return `${account(trigger.author)} merged the release${place}`;
  if (trigger.accounts.length > 0) return `${trigger.accounts.slice(0, 5).map(account).join(", ")} brought the release in${place}`;
  return `the release was brought in${place} by an account that GitHub does not know; its commit says ${cell(trigger.author, 100)}`;
}

/** Named, and not notified. */
function account(login: string): string {
  return cell(`@${login}`, 100);
}
