/**
 * What is said in a comment of its own when a run stands still and wants something of somebody, since edits notify nobody: why, what to do, what
 * holds it up by its name, where to look at it in Argo CD, and the way back. Called by the publisher for each pause.
 */
import { holdsReason } from "../../base/reason.ts";
import type { Run } from "../../run/state/run.ts";
import { cell, code } from "../escape.ts";
import { COMMENT_ROOM, fitting } from "../fit.ts";
import type { LinkTo } from "../links.ts";
import { present } from "../markdown.ts";
import { LABELS } from "../model/labels.ts";
import { type Shown, shownOf } from "../model/shown.ts";
import type { ModelNode } from "../model/types.ts";
import type { PageOf } from "../page-places.ts";
import { addStop } from "../reasons/phrases.ts";
import { runMark, runTitle } from "../words.ts";
import { turn } from "./run-comment.ts";

const MOST_NAMED = 10;
const MOST_ROLLOUTS = 3;

export function pauseNotice(run: Run, now: number, linkTo: LinkTo = () => undefined, page: PageOf = () => undefined): string {
  const shown = shownOf(run, now, { linkTo });
  const { model } = shown;
  const { pause } = model;
  if (pause === undefined) return "";
  const { tried } = pause;
  const title = `### ${runMark(model)} ${runTitle(model)} waits for a person${tried === undefined ? "" : " again"}`;
  const again = tried === undefined ? "" : `${code(tried.text.slice(0, 100))} of ${cell(tried.by)} has been tried, and it did not help.`;
  const why = cell(shown.whole(pause.reason), 1000);
  const url = page(run);
  const live = url !== undefined && `[See it live](${url})`;
  const say = (most: number) => present(title, again, why, holders(shown, pause, most), turn(shown).join("\n\n"), live);
  const whole = `What it asks for is too long for this place: \`stagecoach get ${model.rollout} ${model.number}\`.`;
  return fitting(COMMENT_ROOM, [MOST_NAMED, 0], say, whole);
}

type Pause = NonNullable<Shown["model"]["pause"]>;

/** What holds the run up: the Applications that failed or wait, and the clusters that a label keeps out. */
function holders(shown: Shown, pause: Pause, most: number): string {
  const below = shown.model.children.flatMap(({ children }) => children);
  const batches = below.filter(({ kind, when }) => kind === "batch" && when === "now");
  const clusters = batches.flatMap(({ children }) => children.filter(({ kind }) => kind === "cluster"));
  const isOut = ({ kind, state }: ModelNode) =>
    kind === "cluster" && (state === "Failed" || (state === "Quarantined" && pause.kind === "Quarantine"));
  const lines = [
    ...clusters.flatMap((cluster) => cluster.children.filter(holds).map((one) => applicationLine(shown, pause, cluster, one))),
    ...below.filter(isOut).map((cluster) => clusterLine(shown, cluster)),
  ];
  if (lines.length === 0 || most === 0) return "";
  const more = lines.length > most ? `\n- and ${lines.length - most} more` : "";
  return `**What holds it up:**\n\n${lines.slice(0, most).join("\n")}${more}`;
}

function holds({ state, excused, waitingSince }: ModelNode): boolean {
  return (state === "Failed" && excused !== true) || waitingSince !== undefined;
}

function applicationLine(shown: Shown, pause: Pause, cluster: ModelNode, { name, links, children, ...node }: ModelNode): string {
  const [link] = links;
  const shownName = link === undefined ? code(name) : `[${code(name)}](${link.url})`;
  const ill = children.filter(({ kind, state }) => kind === "rollout" && state !== "Healthy").slice(0, MOST_ROLLOUTS);
  const rollouts = ill.map((one) => `Rollout ${code(`${one.argoRollout?.namespace ?? ""}/${one.name}`)} is ${LABELS[one.state]}.`);
  const at = `Application ${shownName}${shown.model.targetBy === "application" ? "" : ` on ${code(cluster.name)}`}`;
  // What the pause is about stands above.
  const says = present(!holdsReason(pause.reason, node.reason) && cell(shown.of(node), 500), ...rollouts).join(" ");
  return `- ${says === "" ? addStop(at) : `${at}: ${says}`}`;
}

/** By the label that keeps it out, which somebody has to take away. */
function clusterLine(shown: Shown, { name, rule, ...node }: ModelNode): string {
  const keeps = rule?.setting === "requeue" ? `\`requeue\` of stage ${cell(rule.stage ?? "")} puts off` : "`quarantine` leaves out";
  return `- Cluster ${code(name)}: ${cell(shown.of(node), 500)}${rule === undefined ? "" : ` ${keeps} what has ${code(rule.selector)}.`}`;
}
