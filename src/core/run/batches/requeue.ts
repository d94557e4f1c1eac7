import type { AnyReason } from "../../base/reason.ts";
import { matches } from "../../base/selector.ts";
import { epoch, iso, type Time } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { change, type Draft, wakeAt } from "../state/draft.ts";
import { unitOf } from "../state/names.ts";
import type { Requeued } from "../state/run.ts";
import { seesClusterOf } from "../targets/unseen.ts";

/** Whether a cluster's labels say that it is to be put off. undefined: the clusters cannot be read now. */
export function isPutOff(draft: Draft, stage: number, cluster: string): boolean | undefined {
  const rule = draft.run.spec.stages[stage]?.requeue;
  if (rule === undefined) return false;
  const unit = unitOf(draft.run, cluster);
  if (!unit.every((member) => seesClusterOf(draft, member))) return undefined;
  // Gone from the inventory: its pin and Application tell whether it has left, once its batch is made.
  return unit.some((member) => {
    const seen = draft.world.clusters.get(member);
    return seen !== undefined && matches(rule.selector, seen);
  });
}

/** Puts clusters to the stage's end. */
export function requeue(draft: Draft, stage: number, clusters: readonly string[], why: AnyReason, until?: Time): void {
  const entry = { stage, attempts: 0, since: draft.at, nextAt: until ?? draft.at, why, until };
  const others = draft.run.requeued.filter((one) => !clusters.includes(one.cluster));
  const requeued = [...others, ...clusters.map((cluster) => ({ cluster, ...entry }))];
  change(draft, { requeued }, runReason("PUT_TO_END", { clusters: [...clusters], because: why }));
}

/** Leaves a cluster out of the rest of the run. */
export function skip(draft: Draft, cluster: string, why: AnyReason, event: AnyReason): void {
  const skipped = [...draft.run.skipped.filter((one) => one.cluster !== cluster), { cluster, why, at: draft.at }];
  change(draft, { skipped, requeued: draft.run.requeued.filter((one) => one.cluster !== cluster) }, event);
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
      wakeAt(draft, epoch(entry.nextAt));
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
  const { cluster } = entry;
  const attempts = entry.attempts + 1;
  const failed = attempts >= rule.attempts;
  const why = failed
    ? runReason("REQUEUED_TOO_OFTEN", { attempts })
    : runReason("REQUEUE_STILL_MATCHES", { attempt: attempts, of: rule.attempts });
  const nextAt = iso(draft.now + rule.intervalMs);
  const looked: Requeued = { ...entry, attempts, nextAt, why, failed: failed || undefined };
  const requeued = draft.run.requeued.map((one) => (one === entry ? looked : one));
  const event = failed
    ? runReason("TARGET_FAILED", { cluster, baseline: false, because: why })
    : runReason("CLUSTER_EVENT", { cluster, because: why });
  change(draft, { requeued }, event);
  if (!failed) wakeAt(draft, epoch(nextAt));
}

/** They are tried in a batch now. */
export function takeRequeued(draft: Draft, clusters: readonly string[]): void {
  change(draft, { requeued: draft.run.requeued.filter((one) => !clusters.includes(one.cluster)) });
}
