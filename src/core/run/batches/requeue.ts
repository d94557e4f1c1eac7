import { count } from "../../base/count.ts";
import { text, type Words } from "../../base/reason.ts";
import { matches } from "../../base/selector.ts";
import { epoch, iso, type Time } from "../../base/time.ts";
import { change, type Draft, wakeAtTime } from "../state/draft.ts";
import { clusterName, unitOf } from "../state/names.ts";
import type { Requeued } from "../state/run.ts";
import { seesClusterOf } from "../targets/unseen.ts";

/** Whether a cluster's labels say that it is to be put off. undefined: the clusters cannot be read now. */
export function isPutOff(draft: Draft, stage: number, cluster: string): boolean | undefined {
  const rule = draft.run.spec.stages[stage]?.requeue;
  if (rule === undefined) return false;
  if (!unitOf(draft.run, cluster).every((member) => seesClusterOf(draft, member))) return undefined;
  // Gone from the inventory: its pin and Application tell whether it has left, once its batch is made.
  return unitOf(draft.run, cluster).some((member) => {
    const seen = draft.world.clusters.get(member);
    return seen !== undefined && matches(rule.selector, seen);
  });
}

/** Puts clusters to the stage's end. */
export function requeue(draft: Draft, stage: number, clusters: readonly string[], why: Words, until?: Time): void {
  const names = clusters.map((cluster) => clusterName(draft.run, cluster)).join(", ");
  const entries = clusters.map((cluster): Requeued => {
    const entry: Requeued = { cluster, stage, attempts: 0, since: draft.at, nextAt: until ?? draft.at, why };
    return until === undefined ? entry : { ...entry, until };
  });
  const others = draft.run.requeued.filter((one) => !clusters.includes(one.cluster));
  change(draft, { requeued: [...others, ...entries] }, `${names} put to the stage's end: ${text(why)}`);
}

/** Those of the stage that are still to be tried. */
export function requeuedOf(draft: Draft, stage: number): Requeued[] {
  return draft.run.requeued.filter((one) => one.stage === stage && one.failed !== true);
}

/**
 * Looks at the stage's requeued clusters that are due, each look counted once (docs/spec.md §9.14). Gives back those that are no longer
 * to be put off and can join a catch-up batch; `unknown` where the clusters cannot be read.
 */
export function lookAtRequeued(draft: Draft, stage: number): string[] | "unknown" {
  const ready: string[] = [];
  for (const entry of requeuedOf(draft, stage)) {
    if (draft.now < epoch(entry.nextAt)) {
      wakeAtTime(draft, entry.nextAt);
      continue;
    }
    const still = isPutOff(draft, stage, entry.cluster);
    if (still === undefined) return "unknown";
    if (still) countLook(draft, entry);
    else ready.push(entry.cluster);
  }
  return ready;
}

function countLook(draft: Draft, entry: Requeued): void {
  const rule = draft.run.spec.stages[entry.stage]?.requeue;
  if (rule === undefined) return;
  const attempts = entry.attempts + 1;
  const name = clusterName(draft.run, entry.cluster);
  const failed = attempts >= rule.attempts;
  const nextAt = iso(draft.now + rule.intervalMs);
  const why = failed
    ? `still put off after ${count(attempts, "look")}`
    : `still matches the requeue selector (look ${attempts} of ${rule.attempts})`;
  const looked: Requeued = { ...entry, attempts, nextAt, why, ...(failed ? { failed } : {}) };
  const requeued = draft.run.requeued.map((one) => (one === entry ? looked : one));
  change(draft, { requeued }, `${name} ${failed ? "failed: " : ""}${text(why)}`);
  if (!failed) wakeAtTime(draft, nextAt);
}

/** They are tried in a batch now. */
export function takeRequeued(draft: Draft, clusters: readonly string[]): void {
  change(draft, { requeued: draft.run.requeued.filter((one) => !clusters.includes(one.cluster)) });
}
