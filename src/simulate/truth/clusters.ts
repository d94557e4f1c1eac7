import { hasCode } from "../../core/base/reason.ts";
import { type Batch, isMoving, type Run } from "../../core/run/state/run.ts";
import type { World } from "../../core/run/state/world.ts";
import type { ModelRollout } from "../generate/scenario.ts";
import { pinOf } from "../world/git.ts";
import { isUnreachable, type Truth } from "../world/world.ts";
import type { Moment } from "./moment.ts";

type Place = Pick<Moment, "truth" | "index" | "now">;

function modelOf({ truth, index }: Pick<Place, "truth" | "index">): ModelRollout | undefined {
  return truth.rollouts[index]?.model;
}

/** Clusters that appeared, as the policy says: taken into the stage that selects them, or named. */
export function joinersLand(truth: Truth, before: Run, world: World, after: Run): string[] {
  const model = truth.rollouts.find((one) => one.name === after.rollout)?.model;
  const closed = after.kind === "Rollback" || before.endedAt !== undefined || after.endedAt !== undefined || after.ending !== undefined;
  if (model === undefined || closed || !world.clustersKnown) return [];
  const wrong: string[] = [];
  for (const { cluster } of world.joiners ?? []) {
    const name = `truth: ${after.rollout} #${after.number}: ${cluster.key}`;
    const stage = model.stages.findIndex(({ region }) => region === null || region === cluster.labels["region"]);
    const joined = after.joined?.find((one) => one.cluster === cluster.key);
    const named =
      after.notJoined?.some((one) => one.cluster === cluster.key) || after.plan.uncovered.some((one) => one.cluster === cluster.key);
    const wanted = stage >= 0 && model.joiners !== "Ignore" && !after.plan.uncovered.some((one) => one.cluster === cluster.key);
    if (wanted && joined === undefined && (model.joiners !== "Hold" || (isMoving(before) && isMoving(after))))
      wrong.push(`${name} appeared and did not join`);
    if (wanted && joined !== undefined && joined.stage !== stage)
      wrong.push(`${name} joined stage ${joined.stage + 1}, and ${stage + 1} selects it`);
    if (!wanted && joined !== undefined) wrong.push(`${name} joined, and its policy is ${model.joiners}`);
    if (!wanted && named !== true) wrong.push(`${name} appeared, and is neither taken nor named`);
  }
  return wrong;
}

/** A batch that has just been made holds clusters of its own stage, and none that cannot be reached; who joined comes last. */
export function batchIsOfItsClusters(place: Place, run: Run, batch: Batch): string[] {
  const model = modelOf(place);
  const planned = run.plan.stages[batch.stage];
  if (model === undefined || planned === undefined) return [];
  const wrong: string[] = [];
  const say = (cluster: string, what: string) =>
    wrong.push(`truth: batch ${batch.number} of ${run.rollout} #${run.number} holds ${cluster}, ${what}`);
  for (const cluster of new Set(batch.targets.map((target) => target.cluster))) {
    const joined = run.joined?.find((one) => one.cluster === cluster);
    const own = planned.clusters.includes(cluster) || planned.requeued.includes(cluster);
    if (!own && joined?.stage !== batch.stage) say(cluster, "which is of another stage");
    if (joined !== undefined) for (const what of landsWrong(model, run, batch, joined)) say(cluster, what);
    const fresh = batch.step === undefined || batch.step.index === 1;
    if (fresh && isShut(place, model, run, batch, cluster)) say(cluster, "which is to be in quarantine");
  }
  return wrong;
}

function landsWrong(model: ModelRollout, run: Run, batch: Batch, joined: { cluster: string; at: string }): string[] {
  const wrong: string[] = [];
  const done = (name: string) => run.commands.some((one) => one.outcome === "done" && one.text.startsWith(name) && one.at >= joined.at);
  if (batch.kind === "Planned") wrong.push("which joined, in a batch of the plan");
  if (batch.kind === "CatchUp" && run.stage < run.plan.stages.length && !done("/requeue") && !done("/retry"))
    wrong.push("which joined, before its last stage was done");
  if (model.joiners === "Hold" && !done("/resume") && !done("/hotfix")) wrong.push("which joined, and nobody has said that it may");
  return wrong;
}

/** By the rule of quarantine, as far as it could be known. */
function isShut({ truth, now }: Place, model: ModelRollout, run: Run, batch: Batch, cluster: string): boolean {
  const rule = model.quarantine;
  const turn = batch.kind === "Planned" || batch.kind === "CatchUp";
  if (rule === undefined || !turn || now < truth.argoDownUntil || !truth.clusters.has(cluster)) return false;
  if (isUnreachable(truth, cluster, now)) return true;
  return rule.drained && run.kind !== "Rollback" && truth.chaos.missing === 0 && truth.clusters.get(cluster)?.labels["drained"] === "true";
}

/** At a merge that is intended now. */
export function quarantineIsKept(moment: Moment, run: Run, batch: Batch): string[] {
  const model = modelOf(moment);
  if (model?.quarantine === undefined) return [];
  const wrong: string[] = [];
  const name = `truth: ${run.rollout} #${run.number} began to merge batch ${batch.number}`;
  for (const cluster of new Set(batch.targets.map((target) => target.cluster)))
    if (isShut(moment, model, run, batch, cluster)) wrong.push(`${name} with ${cluster}, which is to be in quarantine`);
  const inside = run.quarantined ?? [];
  if (batch.kind !== "Revert" && inside.length > model.quarantine.max && inside.some((one) => one.asked !== true))
    wrong.push(`${name} with ${inside.length} clusters in quarantine of ${model.quarantine.max}, and nobody was asked`);
  return wrong;
}

const MOMENT_MS = 600_000;

/** What is back is caught up before the run succeeds. */
export function nobodyIsForgotten({ truth, index, now }: Place, run: Run): string[] {
  const model = modelOf({ truth, index });
  if (run.phase !== "Succeeded" || model?.quarantine?.onReturn !== "CatchUp" || model.sharedPins || truth.chaos.missing > 0) return [];
  const wrong: string[] = [];
  for (const { cluster } of run.quarantined ?? []) {
    const until = Math.max(truth.argoDownUntil, ...(truth.outages.get(cluster) ?? []).map(({ to }) => to));
    const seen = truth.clusters.get(cluster);
    const stopped = model.quarantine.drained && seen?.labels["drained"] === "true";
    if (seen !== undefined && !stopped && now > until + MOMENT_MS)
      wrong.push(`truth: ${run.rollout} #${run.number} succeeded, and ${cluster} is back and was not caught up`);
  }
  return wrong;
}

/** What was put off after it had moved is put back: by a batch that is under way, or it holds nothing of this run any more. */
export function requeuedGoesBack(truth: Truth, before: Run | undefined, run: Run): string[] {
  if (before === undefined || run.requeued === before.requeued) return [];
  const wrong: string[] = [];
  for (const one of run.requeued) {
    if (!hasCode(one.why, "PUT_OFF_BY") || before.requeued.some((known) => known.cluster === one.cluster && known.since === one.since))
      continue;
    const asked = run.commands.findLast((command) => command.text.startsWith("/requeue") && command.outcome === "done");
    if (asked?.text.startsWith("/requeue failed") === true || one.failed === true) continue;
    const under = run.batches.some(
      (batch) => batch.kind === "Revert" && batch.phase !== "Settled" && batch.targets.some(({ cluster }) => cluster === one.cluster),
    );
    const ours = pinsOf(truth, run, one.cluster).find((pin) => isWrittenBy(truth, run, pin));
    if (!under && ours !== undefined)
      wrong.push(`truth: ${run.rollout} #${run.number} put ${one.cluster} off, and ${ours} keeps its value`);
  }
  return wrong;
}

function pinsOf(truth: Truth, run: Run, cluster: string): string[] {
  const rollout = truth.rollouts.find((one) => one.name === run.rollout);
  return (rollout?.targets ?? []).filter((one) => one.cluster === cluster).flatMap((one) => one.edits.map(pinOf));
}

function forward(run: Run): Set<string> {
  return new Set(
    run.batches.flatMap((batch) =>
      batch.kind === "Revert" || batch.merged === undefined || batch.pull === undefined ? [] : [batch.merged.commit],
    ),
  );
}

/** What stands there now came with a batch of this run, and is not what stood there before. */
function isWrittenBy(truth: Truth, run: Run, pin: string): boolean {
  const commits = forward(run);
  const log = truth.git.log.get(pin) ?? [];
  let at = log.length - 1;
  while (at >= 0 && commits.has(truth.git.commits[log[at]?.index ?? 0]?.id ?? "")) at -= 1;
  return at < log.length - 1 && log[at]?.value !== log.at(-1)?.value;
}

/** A cluster that was put back has what it had before this run came to it. */
export function revertIsRight(truth: Truth, before: Batch | undefined, run: Run, batch: Batch): string[] {
  if (batch.kind !== "Revert" || batch.phase !== "Settled" || before?.phase === "Settled") return [];
  const commits = forward(run);
  const ours = new Set(run.batches.flatMap(({ merged }) => merged?.commit ?? []));
  const wrong: string[] = [];
  for (const { phase, cluster } of batch.targets) {
    if (phase !== "RolledBack") continue;
    for (const pin of pinsOf(truth, run, cluster)) {
      const log = truth.git.log.get(pin) ?? [];
      const idOf = (at: number) => truth.git.commits[log[at]?.index ?? 0]?.id ?? "";
      // What others wrote meanwhile is theirs, and what they put back was theirs to put back.
      if (
        log.slice(log.findIndex((_, at) => commits.has(idOf(at)))).some((_, at, since) => !ours.has(idOf(log.length - since.length + at)))
      )
        continue;
      let at = log.length - 1;
      if (!commits.has(idOf(at))) at -= 1;
      // Written again by somebody, as it was.
      while (at > 0 && (commits.has(idOf(at)) || log[at]?.value === log[at - 1]?.value)) at -= 1;
      if (log[at]?.value !== log.at(-1)?.value)
        wrong.push(
          `truth: ${run.rollout} #${run.number} put ${cluster} back, and ${pin} is ${log.at(-1)?.value}; it was ${log[at]?.value}`,
        );
    }
  }
  return wrong;
}
