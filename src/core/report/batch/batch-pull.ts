import type { Batch, Evidence, Run } from "../../run/state/run.ts";
import { BODY_LIMIT, cell, code, html, prose } from "../escape.ts";
import { fitting } from "../fit.ts";
import { firstOf, folded, present, table } from "../markdown.ts";
import { LABELS, TARGET_STATES } from "../model/states.ts";
import { wholeSentence } from "../reasons/say.ts";
import { measuredOfBatch } from "../run/analysis-markdown.ts";
import { batchName, clockTime, releaseName, shortName } from "../words.ts";
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
    batch.ahead === true ? "" : evidenceBefore(run, batch, now, Math.min(rows, MOST_EVIDENCE)),
    FOOTER,
  ];
  return fitting(BODY_LIMIT, MOST_ROWS, say, "Some of it is too long for this place; the diff has all of it.");
}

/** Of each table: a body has at most 40 lines, whatever it changes, and fewer rows until all of it fits. */
const MOST_ROWS = [8, 5, 0];
const MOST_EVIDENCE = 5;

function diffTable(batch: Batch, limit: number): string {
  const rows = batch.targets.flatMap(({ cluster, application, edits }) =>
    edits.flatMap(({ from, to, file, path }) =>
      from === to ? [] : [[shortName(cluster), application, from ?? "", to, file, path].map((text) => code(text))],
    ),
  );
  if (limit === 0) return `The diff has what changes: ${rows.length} values, too long to list here.`;
  return table(["cluster", "application", "from", "to", "file", "pin"], rows, limit, (left) => `The diff has ${left} more.`);
}

/** The proof that the batch before this one is healthy: without it the PR would not be open. */
export function evidenceBefore(run: Run, batch: Batch, now: number, limit = Number.POSITIVE_INFINITY): string {
  const before = run.batches.filter((other) => other.number < batch.number && other.phase === "Settled").at(-1);
  if (before === undefined) return "";
  const failed = before.targets.some(({ phase }) => phase === "Failed");
  const done = before.settledAt === undefined ? "" : ` since ${clockTime(before.settledAt, now)}`;
  const is = failed ? `is done${done}, with failures that the stage tolerates` : `is healthy${done}`;
  const summary = `Why now: ${html(batchName(run, before))} ${is}`;
  if (limit === 0)
    return `Why now: ${cell(batchName(run, before))} ${is}. \`stagecoach get ${run.rollout} ${run.number}\` shows each cluster.`;
  const rows = before.targets.map((target) => {
    const { cluster, phase, evidence: proof, excused } = target;
    const state = LABELS[TARGET_STATES[phase]] + (excused === true ? ", as before its batch" : "");
    const told = proof === undefined ? [] : evidenceWords(proof);
    const why = [wholeSentence(proof?.sentence ?? target.why, run), ...told].filter((part) => part !== "").join(" ");
    return [code(shortName(cluster)), state, prose(why.slice(0, 500)), proof === undefined ? "–" : clockTime(proof.readAt, now)];
  });
  const more = (left: number) => `\`stagecoach get ${run.rollout} ${run.number}\` shows ${left} more.`;
  const seen = table(["cluster", "state", "what Argo CD shows", "read at"], rows, limit, more);
  return folded(summary, present(seen, measuredOfBatch(run, before, limit)).join("\n\n"));
}

const COMMANDS_HERE =
  "Until the run has ended you can comment `/promote` (ends a wait), `/pause`, `/requeue CLUSTER…` (later), `/skip CLUSTER…` (not in this run) or `/abort`; `/help` says what each does.";

const FOOTER = `<sub>${COMMANDS_HERE}<br>Please do not push to this branch: Stagecoach never merges a changed head, and pauses the run.</sub>`;

/** Fields of the evidence that the sentence does not tell. All others are in the journal. */
const WORDS: Record<string, (value: string) => string> = {
  clockAheadSeconds: (value) => `The cluster's clock is ${value}s ahead.`,
  clockBehindSeconds: (value) => `The cluster's clock is ${value}s behind.`,
  syncWindow: (value) => `Its sync window: ${value}.`,
  refreshRequested: () => "Argo CD is asked to refresh it.",
};

/** What a verdict was given on besides its sentence, in sentences. */
export function evidenceWords({ fields }: Pick<Evidence, "fields">): string[] {
  return Object.entries(fields).flatMap(([name, value]) => (Object.hasOwn(WORDS, name) ? (WORDS[name]?.(String(value)) ?? []) : []));
}
