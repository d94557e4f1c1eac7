import { epoch } from "../../core/base/time.ts";
import type { Batch, Run } from "../../core/run/state/run.ts";
import type { ModelStage, ModelStep } from "../generate/scenario.ts";
import { SETTLE_MS, segmentsOf } from "../world/argocd.ts";
import type { ModelPull } from "../world/forge.ts";
import { pinOf } from "../world/git.ts";
import type { Truth } from "../world/world.ts";
import { isInTurn } from "./checks.ts";
import type { Moment } from "./moment.ts";

/** The weights of a stage as they stand in the scenario; the last is the whole one. */
function weightsIn({ steps = [] }: ModelStage): number[] {
  const weights = steps.flatMap((step) => ("weight" in step ? [step.weight] : []));
  return weights.at(-1) === 100 ? weights : [...weights, 100];
}

/** What stands between the weight `index`, from 1, and the next. */
export function waitsOf({ steps = [] }: ModelStage, index: number): Exclude<ModelStep, { weight: number }>[] {
  const waits: Exclude<ModelStep, { weight: number }>[] = [];
  let at = 0;
  for (const step of steps) {
    if ("weight" in step) at += 1;
    else if (at === index) waits.push(step);
  }
  return waits;
}

/** What a merge truly did to the weights of its clusters: each from one weight of its stage to the next, and all of them to the same. */
export function weightsAreInOrder(truth: Truth, run: Run, pull: ModelPull): string[] {
  const rollout = truth.rollouts.find((one) => one.name === run.rollout);
  const batch = run.batches[pull.batch - 1];
  const stage = batch === undefined ? undefined : rollout?.model?.stages[batch.stage];
  if (batch === undefined || stage?.steps === undefined || run.kind === "Rollback" || batch.kind === "Revert") return [];
  const weights = weightsIn(stage);
  const index = isInTurn(batch) ? (batch.step?.index ?? 0) : weights.length;
  const wanted = weights[index - 1];
  const before = isInTurn(batch) ? weights[index - 2] : undefined;
  const name = `truth: batch ${batch.number} of ${run.rollout} #${run.number}`;
  const wrong: string[] = [];
  for (const { key, edits } of batch.targets) {
    for (const edit of edits) {
      if (edit.steps === undefined && edit.weigh === undefined && !edit.path.endsWith(".weight")) continue;
      const moved = pull.edits.get(pinOf(edit));
      if (moved === undefined) continue;
      if (moved.to !== String(wanted)) wrong.push(`${name} brings ${key} to weight ${moved.to}, and ${wanted} is next`);
      if (before !== undefined && moved.from !== String(before) && moved.from !== moved.to)
        wrong.push(`${name} brings ${key} from weight ${moved.from} to ${moved.to}, and ${before} comes before`);
    }
  }
  return wrong;
}

/** A pause between two weights ends in time, or by somebody who may: there were as many of them as it takes. */
export function pausesAreKept({ truth, index, now }: Moment, run: Run, batch: Batch): string[] {
  const stage = truth.rollouts[index]?.model?.stages[batch.stage];
  const { step } = batch;
  if (stage?.steps === undefined || step === undefined || step.index < 2 || run.kind === "Rollback" || run.promotedFully !== undefined)
    return [];
  const before = run.batches.filter(
    (one) => one.stage === batch.stage && one.ofStage === batch.ofStage && one.step?.index === step.index - 1 && one.merged !== undefined,
  );
  const since = Math.min(...before.map((one) => confirmableAt(truth, one, now)));
  const merged = Math.min(...before.map((one) => epoch(one.merged?.at ?? "")));
  const pauses = waitsOf(stage, step.index - 1).flatMap((wait) => ("pauseMs" in wait ? [wait.pauseMs] : []));
  const promotes = run.commands.filter(
    (one) => one.outcome === "done" && one.text.startsWith("/promote") && epoch(one.at) >= merged,
  ).length;
  const endless = pauses.filter((ms) => ms === null).length;
  const name = `truth: ${run.rollout} #${run.number} began to merge batch ${batch.number}`;
  if (promotes < endless) return [`${name}, and the pause before its weight was ended by nobody`];
  const timed = pauses.filter((ms) => ms !== null).sort((a, b) => a - b);
  const left = timed.slice(0, Math.max(0, timed.length - (promotes - endless))).reduce((sum, ms) => sum + ms, 0);
  return now - since < left ? [`${name} before the pause before its weight was over`] : [];
}

/** When the first of its clusters could truly be confirmed. */
function confirmableAt(truth: Truth, batch: Batch, now: number): number {
  const from = epoch(batch.merged?.at ?? "");
  let first = Number.POSITIVE_INFINITY;
  for (const { key, edits, excused, since } of batch.targets) {
    const target = truth.targets.get(key);
    if (target === undefined) continue;
    // No worse than before its change: what follows begins then.
    if (excused === true) first = Math.min(first, epoch(since));
    const good = segmentsOf(truth.git, target).find(
      (one) =>
        one.state === "Healthy" && one.to - Math.max(one.from, from) >= SETTLE_MS && edits.every(({ to }, at) => one.values[at] === to),
    );
    if (good !== undefined) first = Math.min(first, Math.max(good.from, from));
  }
  // Found at this weight already, or never well: what was so before is no worse than before.
  return first <= now ? first : from;
}
