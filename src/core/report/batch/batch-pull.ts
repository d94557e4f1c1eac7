import type { Batch, Evidence, Run } from "../../run/state/run.ts";
import { BODY_LIMIT, cell, code, html } from "../escape.ts";
import { fitting } from "../fit.ts";
import { firstOf, folded, present, table } from "../markdown.ts";
import { sentenceOf } from "../reasons/say.ts";
import { measuredOfBatch } from "../run/analysis-markdown.ts";
import { unaskedNotes } from "../run/sign-of-life.ts";
import { age, batchName, phaseWord, releaseName, shortName } from "../words.ts";
import { gateTable } from "./batch-gates.ts";
import { batchIntro } from "./batch-intro.ts";

/** Subject and body of the batch's commit. The trailers let a restarted bot recognise its own commit. */
export function batchCommitMessage(run: Run, batch: Batch): string {
  const clusters = [...new Set(batch.targets.map((target) => shortName(target.cluster)))];
  const what = batch.kind === "Revert" ? `back from ${releaseName(run.release.values)}` : releaseName(run.release.values);
  const subject = `${run.rollout} ${what}: ${firstOf(clusters, 3)}`;
  return `${subject.slice(0, 200)}\n\n${batchName(run, batch)}\n\n${batchTrailers(run, batch)}\n`;
}

export function batchTrailers(run: Run, batch: Batch): string {
  return [`Stagecoach-Run: ${run.rollout}/${run.number}`, `Stagecoach-Batch: ${batch.number}`, `Stagecoach-Attempt: ${batch.attempt}`].join(
    "\n",
  );
}

/** What a reviewer of the batch's PR needs: what it does and what comes next, the diff as a table, why now, and what can be said. */
export function batchBody(run: Run, batch: Batch, now: number): string {
  const say = (rows: number) => [
    batchIntro(run, batch, now),
    diffTable(batch, rows),
    gateTable(run, batch, now),
    // Of a batch that is opened ahead the one before is not proven yet: its gate shows that once it is.
    batch.ahead === true ? "" : evidenceBefore(run, batch, now, rows),
    commands(),
    FOOTER,
  ];
  return fitting(BODY_LIMIT, MOST_ROWS, say, "Some of it is too long for this place: what changes is in the diff.");
}

/** Of each table: fewer until all of it fits. */
const MOST_ROWS = [Number.POSITIVE_INFINITY, 50, 20, 5, 0];

function diffTable(batch: Batch, limit: number): string {
  const rows = batch.targets.flatMap(({ cluster, application, edits }) =>
    edits.flatMap(({ from, to, file, path }) =>
      from === to ? [] : [[shortName(cluster), application, from ?? "", to, file, path].map((text) => code(text))],
    ),
  );
  if (limit === 0) return `What changes is in the diff: ${rows.length} values, too long to be listed here.`;
  return table(["cluster", "application", "from", "to", "file", "pin"], rows, limit, (left) => `${left} more rows are in the diff.`);
}

/** The proof that the batches this one waited for are live: without it the PR would not be open. */
export function evidenceBefore(run: Run, batch: Batch, now: number, limit = Number.POSITIVE_INFINITY): string {
  const before = run.batches.filter((other) => other.number < batch.number && other.phase === "Settled").at(-1);
  if (before === undefined) return "";
  const settled = before.settledAt === undefined ? "" : `, settled ${age(before.settledAt, now)} before this PR`;
  const summary = `Why now: ${html(batchName(run, before))}${settled}`;
  if (limit === 0)
    return `Why now: ${cell(batchName(run, before))}${settled}. What was seen of it is too long for this place: \`stagecoach get ${run.rollout} ${run.number}\`.`;
  const rows = before.targets.map((target) => {
    const proof = target.evidence;
    const fields = proof === undefined ? "" : evidenceWords(proof);
    const why = cell(sentenceOf(proof?.sentence ?? target.why, run));
    return [code(shortName(target.cluster)), phaseWord(target), why, code(fields.slice(0, 300))];
  });
  const more = (left: number) => `${left} more are in \`stagecoach get ${run.rollout} ${run.number}\`.`;
  const seen = table(["cluster", "state", "why", "evidence"], rows, limit, more);
  return folded(summary, present(seen, ...unaskedNotes([before]), measuredOfBatch(run, before, limit)).join("\n\n"));
}

const COMMANDS_HERE = [
  ["/promote", "ends a wait; with `merge: Manual` merges this PR once GitHub allows it"],
  ["/pause [reason]", "nothing merges until `/resume`"],
  ["/requeue CLUSTER… [--for 2h]", "puts clusters to the stage's end"],
  ["/skip CLUSTER…", "leaves clusters out of this run"],
  ["/abort [reason]", "ends the run and closes this PR"],
] as const;

function commands(): string {
  const rows = COMMANDS_HERE.map(([usage, does]) => [code(usage), does]);
  return folded("What you can comment here", table(["command", "does"], rows));
}

const FOOTER = "<sub>Please do not push to this branch: a changed head is never merged, and pauses the run.</sub>";

/** Fields whose names alone do not say it; all others stand as `name=value`. */
const WORDS: Record<string, (value: string) => string> = {
  clockAheadSeconds: (value) => `the cluster's clock is ${value}s ahead`,
  clockBehindSeconds: (value) => `the cluster's clock is ${value}s behind`,
  syncWindow: (value) => `sync window ${value}`,
  goodSince: (value) => `all well since ${value}`,
  refreshRequested: () => "a refresh is asked for",
};

/** What a verdict was given on, for a reader: the fields and times, those in words first. */
export function evidenceWords({ fields }: Pick<Evidence, "fields">): string {
  const told: string[] = [];
  const plain: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const word = Object.hasOwn(WORDS, name) ? WORDS[name] : undefined;
    if (word === undefined) plain.push(`${name}=${String(value)}`);
    else told.push(word(String(value)));
  }
  return [...told.map((one) => `${one};`), ...plain].join(" ");
}
