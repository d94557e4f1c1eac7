import type { Edit } from "../../plan/plan-types.ts";
import { putsBack } from "../../run/state/batch.ts";
import type { Batch, Run } from "../../run/state/run.ts";
import { countedWord, eachOnceNamed } from "../counted.ts";
import { BODY_LIMIT, cell, code, html, prose } from "../escape.ts";
import { fitting } from "../fit.ts";
import { firstOf, foldText, present, table } from "../markdown.ts";
import { batchNode } from "../model/batch-node.ts";
import { batchPlan, changeOf } from "../model/batch-plan.ts";
import { contextOf } from "../model/context.ts";
import { clustersBelow } from "../model/counts.ts";
import { LABELS } from "../model/labels.ts";
import type { ModelNode } from "../model/types.ts";
import { type History, NO_HISTORY } from "../plan/duration.ts";
import { wholeSentence } from "../reasons/say.ts";
import { measuredOf } from "../run/analysis-markdown.ts";
import { batchName, clockTime, copiedWords, pinValue, releaseName, shortName } from "../words.ts";
import { gateTable } from "./batch-gates.ts";
import { batchIntro } from "./batch-intro.ts";

/** What a batch brings, as titles say it: on the way back what each of its targets goes back to, where that is not the one release. */
export function broughtBy(run: Run, batch: Batch): string {
  const release = releaseName(run.release.values);
  if (run.kind !== "Rollback") return release;
  const back = [...new Set(batch.targets.flatMap((target) => changeOf(target, run)?.to ?? []))];
  const isPlain = Object.keys(run.release.values).length < 2;
  if (back.length === 0 || (back.length === 1 && (back[0] === release || !isPlain))) return release;
  return `back to ${back.length > MOST_IN_TITLE ? `${back.length} versions` : back.map((one) => (one === "nothing" ? "none" : one)).join(" and ")}`;
}

const MOST_IN_TITLE = 3;

/** Subject and body of the batch's commit. The trailers let a restarted bot recognise its own commit. */
export function batchCommitMessage(run: Run, batch: Batch): string {
  const clusters = [...new Set(batch.targets.map((target) => shortName(target.cluster)))];
  const what = batch.kind === "Revert" ? `back from ${releaseName(run.release.values)}` : broughtBy(run, batch);
  const subject = `${run.rollout} ${what}: ${firstOf(clusters, 3)}`;
  return `${subject.slice(0, 200)}\n\n${batchName(run, batch)}\n\n${batchTrailers(run, batch)}\n`;
}

export function batchTrailers(run: Run, batch: Batch): string {
  return [`Stagecoach-Run: ${run.rollout}/${run.number}`, `Stagecoach-Batch: ${batch.number}`, `Stagecoach-Attempt: ${batch.attempt}`].join(
    "\n",
  );
}

/**
 * What a reviewer of the batch's PR needs: what it does and what comes next, the diff as a table, why now, and what can be said. All of it
 * draws the model, but for the diff: which line of which file is written is the batch's own matter, and no state of a run.
 * `labelled`: clusters by key, where their labels are known, for windows that go by them.
 */
export function batchBody(run: Run, batch: Batch, now: number, labelled?: History["clusters"]): string {
  const context = contextOf(run, now, { history: { ...NO_HISTORY, clusters: labelled } });
  const plan = batchPlan(context, batch);
  const clusters = clustersBelow(batchNode(context, batch)).map(({ name }) => name);
  const say = (rows: number) => [
    batchIntro(plan, clusters),
    diffTable(run, batch, rows),
    gateTable(plan.gates),
    // Of a batch that is opened ahead the one before is not proven yet: its gate shows that once it is.
    batch.ahead === true ? "" : evidenceBefore(run, batch, now, Math.min(rows, MOST_EVIDENCE)),
    footer(run),
  ];
  return fitting(BODY_LIMIT, MOST_ROWS, say, "Some of it is too long for this place; the diff has all of it.");
}

/** Of each table: a body has at most 40 lines, whatever it changes, and fewer rows until all of it fits. */
const MOST_ROWS = [8, 5, 0];
const MOST_EVIDENCE = 5;

function diffTable({ plan, kind }: Run, batch: Batch, limit: number): string {
  const isBack = kind === "Rollback" || putsBack(batch);
  const rows = batch.targets.flatMap(({ cluster, application, edits }) =>
    edits.flatMap((edit) => {
      if (edit.from === edit.to) return [];
      const [file, pin] = edit.kind === "copy" ? [`${edit.file}/`, isBack ? "as it was before" : copyWords(edit)] : [edit.file, edit.path];
      const [from, to] = edit.kind === "copy" ? [pinValue(edit, "from"), pinValue(edit, "to")] : [edit.from ?? "", pinValue(edit, "to")];
      return [eachOnceNamed([shortName(cluster), application, from, to, file, pin], 0, plan).map((text) => code(text))];
    }),
  );
  if (limit === 0) return `The diff has what changes: ${rows.length} values, too long to list here.`;
  return table(
    eachOnceNamed([countedWord(plan), "application", "from", "to", "file", "pin"], 0, plan),
    rows,
    limit,
    (left) => `The diff has ${left} more.`,
  );
}

/** What a directory is a copy of, and what of it becomes another, as it was planned. */
function copyWords(edit: Edit): string {
  const files = copiedWords(edit);
  return `copy of ${edit.path}/${files === undefined ? "" : `: ${files}`}`;
}

/** The proof that the batch before this one is healthy: without it the PR would not be open. */
export function evidenceBefore(run: Run, batch: Batch, now: number, limit = Number.POSITIVE_INFINITY): string {
  const before = run.batches.filter((other) => other.number < batch.number && other.phase === "Settled").at(-1);
  if (before === undefined) return "";
  const proof = batchNode(contextOf(run, now), before);
  const done = before.settledAt === undefined ? "" : ` since ${clockTime(before.settledAt, now)}`;
  const is = (proof.counts?.failed ?? 0) > 0 ? `is done${done}, with failures that the stage tolerates` : `is healthy${done}`;
  const summary = `Why now: ${html(batchName(run, before))} ${is}`;
  if (limit === 0)
    return `Why now: ${cell(batchName(run, before))} ${is}. \`stagecoach get ${run.rollout} ${run.number}\` shows each ${countedWord(run.plan)}.`;
  const rows = proof.children.flatMap((cluster) => cluster.children.map((application) => proofRow(run, now, cluster, application)));
  const more = (left: number) => `\`stagecoach get ${run.rollout} ${run.number}\` shows ${left} more.`;
  const seen = table([countedWord(run.plan), "state", "what Argo CD shows", "read at"], rows, limit, more);
  return foldText(summary, present(seen, measuredOf(proof, limit)).join("\n\n"));
}

function proofRow(run: Run, now: number, cluster: ModelNode, { state, facts, evidence, reason, says }: ModelNode): string[] {
  const why = present(reason === undefined ? says : wholeSentence(reason, run), ...(evidence?.notes ?? [])).join(" ");
  const word = present(LABELS[state], ...facts).join(", ");
  return [code(cluster.name), word, prose(why.slice(0, 500)), evidence === undefined ? "–" : clockTime(evidence.readAt, now)];
}

/** A body is written once: what may be said at a time stands where it is kept up to date. */
function footer({ rollout, number, trigger: { pull } }: Run): string {
  const kept = pull === undefined ? `\`stagecoach get ${rollout} ${number}\`` : `#${pull}`;
  const here = `How the run stands, and what you can comment now: ${kept}. A comment here counts as much as one there; \`/help\` lists them all.`;
  return `<sub>${here}<br>Please do not push to this branch: Stagecoach never merges a changed head, and pauses the run.</sub>`;
}
