import type { Batch, BatchTarget, RolloutState, Run } from "../run/state/run.ts";
import { cell, code } from "./escape.ts";
import { COMMENT_ROOM, fitting } from "./fit.ts";
import { present, table } from "./markdown.ts";
import { rolloutPhrase } from "./reasons/commands-rollouts.ts";
import { sentenceOf } from "./reasons/say.ts";
import { batchName, shortName } from "./words.ts";

/** Argo Rollouts as people read them, with what `kubectl argo rollouts get rollout` shows. All of it comes from clusters. */

const EMOJI: Record<string, string> = { Healthy: "💚", Progressing: "🔄", Paused: "⏸️", Degraded: "❌", Suspended: "⏸️" };
/** Rows of one table in a comment; the others are counted. */
const MOST_ROWS = 30;

/** As all reports call it: one that is paused is, whatever its controller says besides. */
export function rolloutPhase(rollout: RolloutState): string {
  return rollout.paused && rollout.phase !== "Degraded" ? "Paused" : rollout.phase;
}

/** `step 1/4 · weight 20 (actual 25) · shop:v1 → shop:v2 · 5/5 available, 1 updated · CanaryPauseStep`. Not escaped. */
export function rolloutDetails(rollout: RolloutState): string {
  const { step, steps, message } = rollout;
  const at = step !== undefined && steps !== undefined && `step ${Math.min(step, steps)}/${steps}`;
  return present(at, weightWords(rollout), imageWords(rollout), replicaWords(rollout), message).join(" · ");
}

function weightWords({ setWeight, actualWeight }: RolloutState): string {
  if (setWeight === undefined) return "";
  return actualWeight === undefined || actualWeight === setWeight ? `weight ${setWeight}` : `weight ${setWeight} (actual ${actualWeight})`;
}

function replicaWords({ replicas }: RolloutState): string {
  return `${replicas.available}/${replicas.desired} available, ${replicas.updated} updated`;
}

function imageWords({ stableImages, canaryImages }: RolloutState): string {
  const [stable, canary] = [imagesOf(stableImages), imagesOf(canaryImages)];
  if (canary === "") return stable;
  return stable === "" ? `canary ${canary}` : `${stable} → ${canary}`;
}

/** The last part of each, which is what differs: `ghcr.io/acme/shop:v2` → `shop:v2`. */
function imagesOf(images: readonly string[]): string {
  return images.map((image) => image.slice(image.lastIndexOf("/") + 1)).join(", ");
}

interface Row {
  target: BatchTarget;
  rollout: RolloutState;
}

function rowsOf(batch: Batch): Row[] {
  return batch.targets.flatMap((target) => (target.rollouts ?? []).map((rollout) => ({ target, rollout })));
}

/** The Rollouts of one batch as a table; empty where it has none. */
function rolloutsTable(batch: Batch, most = MOST_ROWS): string {
  const rows = rowsOf(batch);
  if (rows.length === 0) return "";
  const lines = rows.map(({ target, rollout }) => {
    const weight = weightWords(rollout).replace("weight ", "");
    const { step, steps } = rollout;
    const at = step === undefined || steps === undefined ? "" : `${Math.min(step, steps)}/${steps}`;
    const state = `${EMOJI[rolloutPhase(rollout)] ?? "⚪"} ${cell(rolloutPhase(rollout), 40)}`;
    const images = [rollout.stableImages, rollout.canaryImages].map((one) => code(imagesOf(one).slice(0, 200)));
    const name = [code(shortName(target.cluster)), code(rollout.name)];
    return [...name, state, at, weight, ...images, replicaWords(rollout), cell(rollout.message, 200)];
  });
  const head = ["cluster", "Rollout", "state", "step", "weight", "stable", "canary", "replicas", "message"];
  return table(head, lines, most, (left) => `${left} more Rollouts are not shown here.`);
}

/** For the release PR's page: the Rollouts of the batches under way. */
export function rolloutsOfRun(run: Run): string {
  const parts = run.batches.flatMap((batch) => {
    const rows = batch.phase === "Closed" ? "" : rolloutsTable(batch);
    return rows === "" ? [] : [`**Argo Rollouts of ${cell(batchName(run, batch))}**\n\n${rows}`];
  });
  if (parts.length === 0) return "";
  const steer = run.batches.some((batch) => rowsOf(batch).some(({ rollout }) => rollout.paused)) ? `\n\n${STEER}` : "";
  return `${parts.join("\n\n")}${steer}`;
}

const STEER =
  "<sub>`/promote --rollouts` moves those that are paused on by one step, all clusters together; `--full` to the end; `/abort --rollouts` aborts them, `/retry --rollouts` tries aborted ones again.</sub>";

/** The comment on a batch's own PR: its Rollouts as they stand. */
export function rolloutsComment(run: Run, batch: Batch, now: number): string {
  const title = `### Argo Rollouts of ${cell(batchName(run, batch))}`;
  if (rowsOf(batch).length === 0) return `${title}\n\nNothing of them is under way any more: ${cell(sentenceOf(batch.why, run), 500)}.`;
  const say = (most: number) => [title, rolloutsTable(batch, most), `As of ${new Date(now).toISOString().slice(11, 19)} UTC. ${STEER}`];
  return fitting(COMMENT_ROOM, [MOST_ROWS, 10, 3], say, "They are too long for this place.");
}

/**
 * What of a batch's Rollouts is worth an edit of a comment at once: their steps and phases, but not how many pods are
 * ready just now. Empty where it has none.
 */
export function rolloutsSign(batch: Batch): string {
  return rowsOf(batch)
    .map(({ target, rollout }) => `${target.key} ${rollout.namespace}/${rollout.name} ${rolloutPhrase(rollout)}`)
    .join("\n");
}

/**
 * At which steps Rollouts of a batch are paused now, some or all of them: what waits for a person, and that it waits for nothing
 * else any more. Empty where none is. However many clusters a batch has, it changes twice a step.
 */
export function pausedSign(batch: Batch): string {
  const rows = rowsOf(batch);
  const paused = rows.filter(({ rollout }) => rollout.paused);
  if (paused.length === 0) return "";
  const steps = new Set(paused.map(({ rollout }) => `${rollout.name} ${rollout.step ?? ""}`));
  return [paused.length === rows.length ? "all" : "some", ...[...steps].sort()].join();
}
