import { epoch } from "../../core/base/time.ts";
import { targetsOfStage } from "../../core/plan/plan-types.ts";
import type { Run } from "../../core/run/state/run.ts";
import { BOT, lastChange, pinOf, pinValue } from "../world/git.ts";
import type { Truth } from "../world/world.ts";
import { wasHealthyAt } from "./checks.ts";

/** By pin: what was last good there, as people could mean it: at the last success, or right before the first change since. */
export type Goods = Map<string, Set<string>>;

export function goodsAtFirst(truth: Truth): Goods {
  const goods: Goods = new Map();
  for (const rollout of truth.rollouts)
    for (const target of rollout.targets) for (const edit of target.edits) goods.set(pinOf(edit), new Set([edit.from ?? ""]));
  return goods;
}

/** A run begins: what stands there is good as well, unless the run before it failed to bring something there. */
export function noteGoods(goods: Goods, truth: Truth, before: Run | undefined, run: Run): void {
  const rollout = truth.rollouts.find((one) => one.name === run.rollout);
  if (rollout === undefined || run.kind === "Rollback") return;
  const good = before === undefined || before.phase === "Succeeded" || before.phase === "RolledBack";
  for (const target of rollout.targets) {
    for (const edit of target.edits) {
      const pin = pinOf(edit);
      const value = pinValue(truth.git, pin);
      const byPerson = lastChange(truth.git, pin)?.by !== BOT;
      if (value !== null && (good || byPerson)) goods.set(pin, new Set([...(good ? [] : (goods.get(pin) ?? [])), value]));
    }
  }
}

/** By rollback: what the run that it takes back has written, and where. */
export type Moved = Map<string, { cluster: string; pin: string }[]>;

export function noteMoved(moved: Moved, truth: Truth, before: Run | undefined, run: Run): void {
  if (run.kind !== "Rollback" || before === undefined) return;
  let list: { cluster: string; pin: string }[] = [];
  for (const batch of before.batches) {
    if (batch.kind === "Revert" && batch.merged !== undefined) {
      list = list.filter(({ cluster }) => !batch.targets.some((target) => target.cluster === cluster));
      continue;
    }
    const made = truth.git.byId.get(batch.merged?.commit ?? "");
    const pins = new Set(batch.pull === undefined ? [] : made?.changes.map(([pin]) => pin));
    for (const { cluster, edits } of batch.targets)
      for (const edit of edits) if (pins.has(pinOf(edit))) list.push({ cluster, pin: pinOf(edit) });
  }
  moved.set(`${run.rollout} #${run.number}`, list);
}

/** One active run a rollout, and none begins while a PR of the one before it may still merge. */
export function startIsSound(truth: Truth, before: Run | undefined, run: Run): string[] {
  const wrong: string[] = [];
  if (before !== undefined && before.endedAt === undefined)
    wrong.push(`truth: ${run.rollout} #${run.number} began before #${before.number} had ended`);
  for (const pull of truth.forge.pulls) {
    if (pull.rollout === run.rollout && pull.run !== run.number && pull.state === "open")
      wrong.push(`truth: ${run.rollout} #${run.number} began while #${pull.number} of run #${pull.run} is open`);
  }
  return wrong;
}

/** A run that makes way for a newer release: the policy lets it, or it had failed. `inARow`: how many before it made way, one after the other. */
export function makesWayRightly(truth: Truth, before: Run | undefined, run: Run, inARow: number): string[] {
  if (run.ending?.phase !== "Superseded" || before?.ending !== undefined) return [];
  const policy = truth.rollouts.find((one) => one.name === run.rollout)?.spec.onNewRelease;
  if (before?.paused?.kind === "Failure" && policy !== "Reject") return [];
  const name = `truth: ${run.rollout} #${run.number} makes way`;
  if (policy !== "Supersede" || run.kind === "Rollback")
    return [`${name} though its policy is ${policy}${run.kind === "Rollback" ? " and it is a rollback" : ""}`];
  return inARow >= 3 ? [`${name} after ${inARow} in a row`] : [];
}

/** How long after a release that was rejected it is still a matter of the same moment. */
const SAME_MOMENT_MS = 3_600_000;

/** Under `Reject`, what was released while a run was in progress starts by `/retry` only. */
export function rejectsRightly(truth: Truth, before: Run | undefined, run: Run): string[] {
  const rollout = truth.rollouts.find((one) => one.name === run.rollout);
  if (rollout?.spec.onNewRelease !== "Reject" || before?.endedAt === undefined || run.kind === "Rollback") return [];
  const releasedAt = epoch(run.trigger.at);
  if (releasedAt < epoch(before.startedAt) || releasedAt > epoch(before.endedAt) - SAME_MOMENT_MS) return [];
  const retried = truth.commands.some(({ command, pull }) => pull === run.trigger.pull && command.name === "retry");
  return retried
    ? []
    : [`truth: ${run.rollout} #${run.number} began, and a rollout that rejects had a run in progress when it was released`];
}

/** What a run says at its end is so. */
export function endIsSound(truth: Truth, judge: { goods: Goods; moved: Moved }, run: Run, now: number): string[] {
  if (run.phase === "Succeeded") return allThere(truth, run, now);
  return run.phase === "RolledBack" ? allBack(truth, judge, run) : [];
}

/** Clusters that a run names as not being where it wanted them. */
function named(run: Run): Set<string> {
  const clusters = new Set<string>([...run.skipped, ...(run.quarantined ?? [])].map((one) => one.cluster));
  for (const cluster of run.failedAccepted) clusters.add(cluster);
  for (const one of run.requeued) if (one.failed === true) clusters.add(one.cluster);
  for (const batch of run.batches)
    for (const target of batch.targets) if (target.phase === "Failed" || target.phase === "Skipped") clusters.add(target.cluster);
  return clusters;
}

function allThere(truth: Truth, run: Run, now: number): string[] {
  const wrong: string[] = [];
  const out = named(run);
  const planned = run.plan.stages.map(targetsOfStage);
  for (const targets of [...planned, ...(run.joined ?? []).map((one) => one.targets)]) {
    for (const target of targets) {
      // One that leaves as the run ends is seen to have left by nobody.
      if (out.has(target.cluster) || !truth.clusters.has(target.cluster)) continue;
      const batch = run.batches.findLast((one) => one.targets.some(({ key, phase }) => key === target.key && phase !== "Requeued"));
      const real = truth.targets.get(target.key);
      const there = target.edits.every((edit) => pinValue(truth.git, pinOf(edit)) === edit.to);
      const healthy = batch !== undefined && real !== undefined && wasHealthyAt(truth, real, batch, target.edits, now);
      if (!there || !healthy)
        wrong.push(`truth: ${run.rollout} #${run.number} succeeded, and ${target.key} neither is there nor is it named`);
    }
  }
  return wrong;
}

function allBack(truth: Truth, { goods, moved }: { goods: Goods; moved: Moved }, run: Run): string[] {
  const wrong: string[] = [];
  const out = named(run);
  const asked = Object.values(run.release.values);
  for (const { cluster, pin } of moved.get(`${run.rollout} #${run.number}`) ?? []) {
    const value = pinValue(truth.git, pin);
    if (out.has(cluster) || value === null) continue;
    // What joined had at first what was good there.
    const good = goods.get(pin) ?? new Set([truth.git.log.get(pin)?.[0]?.value ?? ""]);
    if (!good.has(value) && !asked.includes(value))
      wrong.push(`truth: ${run.rollout} #${run.number} rolled back, and ${pin} is ${value}; good was ${[...good].join(" or ")}`);
  }
  return wrong;
}

/** What people pinned is never written over by a rollback. */
export function overwritesNobody(truth: Truth, run: Run, commitId: string): string[] {
  if (run.kind !== "Rollback") return [];
  const wrong: string[] = [];
  const made = truth.git.byId.get(commitId);
  for (const [pin] of made?.changes ?? []) {
    if (pin.startsWith("releases/")) continue;
    const log = truth.git.log.get(pin) ?? [];
    const last = log[log.findIndex((entry) => entry.index === made?.index) - 1];
    const by = last === undefined ? undefined : truth.git.commits[last.index]?.by;
    const ours = run.plan.stages.some((stage) =>
      stage.batches.some((batch) =>
        batch.targets.some((one) => one.edits.some((edit) => pinOf(edit) === pin && edit.from === last?.value)),
      ),
    );
    if (by !== BOT && !ours) wrong.push(`truth: ${run.rollout} #${run.number} wrote over ${pin}, which ${by} had set to ${last?.value}`);
  }
  return wrong;
}
