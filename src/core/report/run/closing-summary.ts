import { epoch, formatDuration } from "../../base/time.ts";
import type { Run } from "../../run/state/run.ts";
import { countedWord, countedWords } from "../counted.ts";
import { cell, code } from "../escape.ts";
import { COMMENT_ROOM, fitting } from "../fit.ts";
import { firstOf, foldText, table } from "../markdown.ts";
import { LABELS } from "../model/labels.ts";
import { type Shown, shownOf } from "../model/shown.ts";
import type { ModelNode, RunModel } from "../model/types.ts";
import { releaseTitle, valuesTable } from "../values.ts";
import { clockTime, runMark, runTitle } from "../words.ts";
import { batchesDone } from "./run-comment.ts";

const MOST_FAILURES = 50;
const MOST_DEEDS = 100;
const MOST_STAGES = 60;

/** What happened, where, how long it took, and who did what: the run's last word, written once when it has ended. */
export function closingSummary(run: Run): string {
  const shown = shownOf(run, epoch(run.endedAt ?? run.since));
  const { model } = shown;
  const foot = `<sub>plan ${code(model.planHash.slice(0, 12))}</sub>`;
  const all = `All of it: \`stagecoach get ${model.rollout} ${model.number}\`.`;
  const rest = (whole: boolean) => (whole ? [failures(shown), deeds(shown)] : [all]);
  const say = (whole: boolean) => [headline(shown), valuesTable(model.values), afterwards(model), stages(shown), ...rest(whole), foot];
  return fitting(COMMENT_ROOM, [true, false], say, "Some of it is too long for this place.");
}

/** What a person may want to do now that nothing goes on by itself. */
function afterwards(model: RunModel): string {
  const { state, of, isPutBack } = model;
  if (isPutBack === true && (state === "Failed" || state === "RolledBack"))
    return "What was moved is put back now, in reverse order: that is a run of its own, told on this page.";
  if (of !== undefined && state === "Failed")
    return `Not every ${countedWord(model)} is back, and nothing moves any more. \`/retry\` tries the failed ones again; a pin put back by hand counts as well.`;
  if (state === "Failed")
    return `Nothing moves any more. \`/retry\` tries the failed ${countedWords(model)} again and goes on from there; \`/rollback\` puts the moved ${countedWords(model)} back, in reverse order; the next release starts a new run.`;
  if (state === "Aborted")
    return "Nothing moves any more, and what was moved stays as it is. `/rollback` puts it back, in reverse order; the next release starts a new run.";
  return "";
}

function headline({ model, now, of }: Shown): string {
  const { counts, state, startedAt } = model;
  const took = formatDuration(now - epoch(startedAt));
  const title = `### ${runMark(model)} ${runTitle(model)} ${LABELS[state]}: ${releaseTitle(model)}`;
  const until = clockTime(new Date(now).toISOString(), now);
  return `${title}\n\n${cell(of(model), 1000)}\n\n**${counts.healthy} of ${counts.clusters} ${countedWords(model)}** are healthy at the release. It took **${took}**, from ${clockTime(startedAt, now)} to ${until}.`;
}

function stages({ model, now }: Shown): string {
  const rows = model.children.flatMap((stage) => {
    if (stage.state === "NotInRun") return [];
    const { healthy = 0, clusters = 0 } = stage.counts ?? {};
    const merged = stage.children.flatMap(({ passed, links }) => (passed?.mergedAt === undefined ? [] : links.map(({ name }) => name)));
    return [[cell(stage.name), batchesDone(stage), `${healthy}/${clusters}`, tookOf(stage, now), firstOf(merged, 20, merged.length, " ")]];
  });
  return table(
    ["stage", "batches", `${countedWords(model)} healthy`, "took", "merged"],
    rows,
    MOST_STAGES,
    (left) => `and ${left} more stages`,
  );
}

/** From the first batch's PR to the last one's end, or to the run's where it did not come to that. */
function tookOf({ children }: ModelNode, end: number): string {
  const all = children.flatMap(({ passed }) => passed ?? []);
  const starts = all.flatMap(({ openedAt, mergedAt }) => [openedAt, mergedAt].filter((time) => time !== undefined)).map(epoch);
  if (starts.length === 0) return "–";
  const ends = all.map(({ doneAt }) => (doneAt === undefined ? end : epoch(doneAt)));
  return formatDuration(Math.max(0, Math.max(...ends) - Math.min(...starts)));
}

function failures(shown: Shown): string {
  const line = (cluster: ModelNode, what: string) => `- ${code(cluster.name)} ${what}: ${cell(shown.of(cluster), 500)}`;
  const below = shown.model.children.flatMap(({ children }) => children);
  const inBatches = below.flatMap((one) => (one.kind === "batch" ? one.children.filter(({ kind }) => kind === "cluster") : []));
  const loose = below.filter(({ kind }) => kind === "cluster");
  const rows = [
    ...inBatches.filter(({ state }) => state === "Failed").map((one) => line(one, "failed")),
    ...loose.filter(({ state }) => state === "Failed").map((one) => line(one, "was put off to the last look")),
    ...[...inBatches, ...loose].filter(({ state }) => state === "Skipped").map((one) => line(one, "was left out")),
  ];
  if (rows.length === 0) return "";
  const more = rows.length > MOST_FAILURES ? `\n- and ${rows.length - MOST_FAILURES} more` : "";
  return `**Not at the release:**\n\n${rows.slice(0, MOST_FAILURES).join("\n")}${more}`;
}

/** Our own words, in which a number is a link to our pull request. */
const OURS = /^(?:merged|merged the release|brought the release in)(?: \(?#\d+\)?)?$/;

/** Texts are harmless, and notify nobody; numbers of our pull requests are links. */
function deeds({ model, now }: Shown): string {
  if (model.deeds.length === 1) return "";
  const rows = model.deeds.map(({ at, by, did }) => [
    clockTime(at, now),
    OURS.test(did) ? `${cell(by, 300)} ${did}` : cell(`${by}: ${did}`, 300),
  ]);
  return foldText(
    "Who did what",
    table(["when", "what"], rows, MOST_DEEDS, (left) => `${left} more are in the journal.`),
  );
}
