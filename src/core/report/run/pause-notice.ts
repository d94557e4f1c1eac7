/**
 * What is said in a comment of its own when a run stands still and wants something of somebody, since edits notify nobody: why, what to do, what
 * holds it up by its name, where to look at it in Argo CD, and the way back. Called by the publisher for each pause.
 */
import { formatSelector } from "../../base/selector.ts";
import type { BatchTarget, Requeued, Run } from "../../run/state/run.ts";
import { cell, code } from "../escape.ts";
import { COMMENT_ROOM, fitting } from "../fit.ts";
import type { LinkTo } from "../links.ts";
import { present } from "../markdown.ts";
import { modelOf } from "../model/run-model.ts";
import { ended } from "../reasons/phrases.ts";
import { isToldIn, namesOf, sentenceOf, wholeSentence } from "../reasons/say.ts";
import { targetsNow } from "../steps.ts";
import { runMark, runTitle, stageName } from "../words.ts";
import { turn } from "./run-comment.ts";

const MOST_NAMED = 10;
const MOST_ROLLOUTS = 3;

export function pauseNotice(run: Run, now: number, linkTo: LinkTo = () => undefined): string {
  const { paused } = run;
  if (paused === undefined) return "";
  const model = modelOf(run, now, { linkTo });
  const tried = triedBefore(run);
  const title = `### ${runMark(model)} ${runTitle(run)} waits for a person${tried === undefined ? "" : " again"}`;
  const again = tried === undefined ? "" : `${code(tried.text.slice(0, 100))} of ${cell(tried.actor)} has been tried, and it did not help.`;
  const why = cell(wholeSentence(paused.reason, run), 1000);
  const say = (most: number) => present(title, again, why, holders(run, linkTo, most), turn({ run, model, now }).join("\n\n"));
  const whole = `What it asks for is too long for this place: \`stagecoach get ${run.rollout} ${run.number}\`.`;
  return fitting(COMMENT_ROOM, [MOST_NAMED, 0], say, whole);
}

/** The `/retry` of what failed again: who gave it is told so, instead of the same words a second time. */
function triedBefore({ commands, batches }: Run): Run["commands"][number] | undefined {
  const open = batches.filter(({ phase }) => phase !== "Settled" && phase !== "Closed");
  const failedAgain = open.some(({ targets }) => targets.some(({ phase, retriedAt }) => phase === "Failed" && retriedAt !== undefined));
  return failedAgain ? commands.findLast(({ outcome, text }) => outcome === "done" && text.startsWith("/retry")) : undefined;
}

/** What holds the run up: the Applications that failed or wait, and the clusters that a label keeps out. */
function holders(run: Run, linkTo: LinkTo, most: number): string {
  const targets = run.batches.flatMap((batch) => (batch.phase === "Settled" || batch.phase === "Closed" ? [] : targetsNow([batch])));
  const held = targets.filter(({ phase, waitingSince, excused }) => (phase === "Failed" && excused !== true) || waitingSince !== undefined);
  const lines = [
    ...held.map((target) => targetLine(run, target, linkTo)),
    ...run.requeued.filter(({ failed }) => failed === true).map((one) => requeuedLine(run, one)),
    ...quarantinedLines(run),
  ];
  if (lines.length === 0 || most === 0) return "";
  const more = lines.length > most ? `\n- and ${lines.length - most} more` : "";
  return `**What holds it up:**\n\n${lines.slice(0, most).join("\n")}${more}`;
}

function targetLine(run: Run, { key, cluster, application, why, rollouts = [] }: BatchTarget, linkTo: LinkTo): string {
  const url = linkTo(key);
  const name = url === undefined ? code(application) : `[${code(application)}](${url})`;
  const ill = rollouts.filter(({ phase }) => phase !== "Healthy").slice(0, MOST_ROLLOUTS);
  const resources = ill.map(
    (one) => `Rollout ${code(`${one.namespace}/${one.name}`)} is ${cell(one.phase)}${one.paused ? ", paused" : ""}`,
  );
  const at = `Application ${name} on ${code(namesOf(run).cluster(cluster))}`;
  // What the pause is about stands above.
  const isTold = run.paused !== undefined && isToldIn(sentenceOf(run.paused.reason, run), sentenceOf(why, run));
  const says = present(!isTold && cell(wholeSentence(why, run), 500), ...resources).join(" ");
  return `- ${says === "" ? ended(at) : `${at}: ${says}`}`;
}

/** By the label that puts it off, which somebody has to take away. */
function requeuedLine(run: Run, { cluster, stage, why }: Requeued): string {
  const rule = run.spec.stages[stage]?.requeue;
  const label =
    rule === undefined
      ? ""
      : ` \`requeue\` of stage ${cell(stageName(run, stage))} puts off what has ${code(formatSelector(rule.selector))}.`;
  return `- Cluster ${code(namesOf(run).cluster(cluster))}: ${cell(wholeSentence(why, run), 500)}${label}`;
}

function quarantinedLines(run: Run): string[] {
  const { quarantine, paused } = { quarantine: run.spec.quarantine, paused: run.paused };
  if (paused?.kind !== "Quarantine") return [];
  const label =
    quarantine?.selector === undefined ? "" : ` \`quarantine\` leaves out what has ${code(formatSelector(quarantine.selector))}.`;
  return (run.quarantined ?? []).map(
    ({ cluster, why }) => `- Cluster ${code(namesOf(run).cluster(cluster))}: ${cell(wholeSentence(why, run), 500)}${label}`,
  );
}
