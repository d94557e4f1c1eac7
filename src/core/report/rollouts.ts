import type { Batch, Run } from "../run/state/run.ts";
import { cell, code } from "./escape.ts";
import { COMMENT_ROOM, fitting } from "./fit.ts";
import { table } from "./markdown.ts";
import { batchNode } from "./model/batch-node.ts";
import { contextOf } from "./model/context.ts";
import { clustersBelow } from "./model/counts.ts";
import { imagesOf, replicaWords, rolloutPhase, weightWords } from "./model/rollout-words.ts";
import type { ModelNode, RunModel } from "./model/types.ts";
import { sentenceOf } from "./reasons/say.ts";
import { batchName } from "./words.ts";

/** Argo Rollouts as people read them, with what `kubectl argo rollouts get rollout` shows. All of it comes from clusters. */

const EMOJI: Record<string, string> = { Healthy: "💚", Progressing: "🔄", Paused: "⏸️", Degraded: "❌", Suspended: "⏸️" };
/** Rows of one table in a comment; the others are counted. */
const MOST_ROWS = 30;

/** The Rollouts below a batch as a table; empty where it has none. */
function rolloutsTable(batch: ModelNode, most = MOST_ROWS): string {
  const lines = clustersBelow(batch).flatMap((cluster) => rolloutsBelow(cluster).map((rollout) => rowOf(cluster, rollout)));
  if (lines.length === 0) return "";
  const head = ["cluster", "Rollout", "state", "step", "weight", "stable", "canary", "replicas", "message"];
  return table(head, lines, most, (left) => `${left} more Rollouts are not shown here.`);
}

function rowOf(cluster: ModelNode, { name, argoRollout: rollout }: ModelNode): string[] {
  if (rollout === undefined) return [code(cluster.name), code(name)];
  const weight = weightWords(rollout).replace("weight ", "");
  const { step, steps } = rollout;
  const at = step === undefined || steps === undefined ? "" : `${Math.min(step, steps)}/${steps}`;
  const state = `${EMOJI[rolloutPhase(rollout)] ?? "⚪"} ${cell(rolloutPhase(rollout), 40)}`;
  const images = [rollout.stableImages, rollout.canaryImages].map((one) => code(imagesOf(one).slice(0, 200)));
  return [code(cluster.name), code(name), state, at, weight, ...images, replicaWords(rollout), cell(rollout.message, 200)];
}

function rolloutsBelow(node: ModelNode): ModelNode[] {
  return node.kind === "rollout" ? [node] : node.children.flatMap(rolloutsBelow);
}

/** For the release PR's page: the Rollouts of the batches under way. */
export function rolloutsOfRun({ children }: RunModel): string {
  const batches = children.flatMap((stage) => stage.children.map((node) => ({ stage, node })));
  const parts = batches.flatMap(({ stage, node }) => {
    const rows = node.kind !== "batch" || node.state === "Closed" ? "" : rolloutsTable(node);
    return rows === "" ? [] : [`**Argo Rollouts of ${cell(`${node.name} of ${stage.name}`)}**\n\n${rows}`];
  });
  if (parts.length === 0) return "";
  const steer = children.flatMap(rolloutsBelow).some(({ argoRollout }) => argoRollout?.paused === true) ? `\n\n${STEER}` : "";
  return `${parts.join("\n\n")}${steer}`;
}

const STEER =
  "<sub>`/promote --rollouts` moves those that are paused on by one step, all clusters together; `--full` to the end; `/abort --rollouts` aborts them, `/retry --rollouts` tries aborted ones again.</sub>";

/** The comment on a batch's own PR: its Rollouts as they stand. */
export function rolloutsComment(run: Run, batch: Batch, now: number): string {
  const title = `### Argo Rollouts of ${cell(batchName(run, batch))}`;
  const node = batchNode(contextOf(run, now), batch);
  if (rolloutsBelow(node).length === 0)
    return `${title}\n\nNothing of them is under way any more: ${cell(sentenceOf(node.reason, run), 500)}.`;
  const say = (most: number) => [title, rolloutsTable(node, most), `As of ${new Date(now).toISOString().slice(11, 19)} UTC. ${STEER}`];
  return fitting(COMMENT_ROOM, [MOST_ROWS, 10, 3], say, "They are too long for this place.");
}
