import { iso } from "../base/time.ts";
import type { Edit, Plan, Release } from "../plan/plan-types.ts";
import { runReason } from "../reasons/run.ts";
import type { Rollout } from "../spec/rollout.ts";
import { supersededBefore } from "./outcome/overlap.ts";
import { goodBefore, goodReleaseFor, lastGoodFor, type Rollback } from "./outcome/rollback.ts";
import { brokenAfter } from "./state/broken.ts";
import { endSoon } from "./state/draft.ts";
import { haltsOn } from "./state/halts.ts";
import { hostOf } from "./state/names.ts";
import { isEnded, type Run } from "./state/run.ts";

interface StartInput {
  rollout: Rollout;
  /** Of the rollout's runs, from 1. */
  number: number;
  release: Release;
  trigger: Run["trigger"];
  plan: Plan;
  /** Epoch milliseconds. */
  now: number;
  /** The rollout's last run, which has ended; what was good before it may still be what is good. */
  before?: Run | undefined;
  /** The release that was asked for until now. */
  lastRelease?: Readonly<Record<string, string>>;
}

/** A new run: nothing is open yet, its first round makes the first batch. Rollout and plan are kept as they are and never changed. */
export function startRun({ rollout, number, release, trigger, plan, now, before, lastRelease = {} }: StartInput): Run {
  const at = iso(now);
  const late = { attempts: 0, since: at, nextAt: at, why: runReason("REQUEUE_MATCHED") };
  return {
    format: 2,
    rollout: rollout.name,
    number,
    release,
    trigger,
    spec: rollout,
    plan,
    phase: "Pending",
    since: at,
    why: runReason("RUN_BEGINS"),
    next: { what: runReason("NEXT_FIRST_BATCH"), eta: at },
    stage: 0,
    batches: [],
    requeued: plan.stages.flatMap((stage, index) => stage.requeued.map((cluster) => ({ cluster, stage: index, ...late }))),
    skipped: [],
    failedAccepted: [],
    brokenSince: before && brokenAfter(before),
    superseded: supersededBefore(before) || undefined,
    goodRelease: goodReleaseFor(before, { ...lastRelease }),
    lastGood: lastGoodFor(plan, before),
    unproven: before && orNone(unprovenAfter(before)),
    commands: [],
    startedAt: at,
  };
}

interface RollbackInput {
  /** The run whose clusters are put back: ended, and asked to be rolled back. */
  of: Run;
  back: Rollback;
  number: number;
  asked: NonNullable<Run["rollback"]>;
  /** The edits that restore the release values, made with the last batch. */
  restore?: Edit[];
  now: number;
}

/** A rollback: a run of its own, steered from where the run it takes back was. */
export function startRollback({ of, back, number, asked, restore, now }: RollbackInput): Run {
  const { accounts: _, merger: __, unlinked: ___, reviewers: ____, ...brought } = of.trigger;
  const trigger = { ...brought, author: asked.by, at: asked.at };
  const run = startRun({ rollout: back.spec, number, release: back.plan.release, trigger, plan: back.plan, now });
  return {
    ...run,
    kind: "Rollback",
    of: of.number,
    why: asked.reason,
    skipped: back.left.map((one) => ({ ...one, at: run.startedAt })),
    restore: restore && orNone(restore),
    goodRelease: of.goodRelease ?? run.goodRelease,
    // Where it does not get to its end, the next run must not take what it was to take back for good.
    lastGood: goodBefore(of),
    unproven: unprovenAfter(of),
    brokenSince: brokenAfter(of) ?? asked.at,
    stays: staying(of),
    halts: orNone(haltsOn(of, now)),
  };
}

/** What the run never came to, with the clusters that it is on: other rollouts may count these. */
function staying(of: Run): string[] {
  const isMoved = (cluster: string) => of.batches.some((batch) => batch.merged && batch.targets.some((one) => one.cluster === cluster));
  const left = clustersOfPlan(of.plan).filter((cluster) => !isMoved(cluster));
  return [...new Set([...left, ...left.map((cluster) => hostOf(of, cluster))])];
}

/** What is empty is not journalled. */
function orNone<T>(list: T[]): T[] | undefined {
  return list.length === 0 ? undefined : list;
}

export function clustersOfPlan(plan: Plan): string[] {
  return plan.stages.flatMap((stage) => [...stage.clusters, ...stage.requeued]);
}

/** What stands at a target when a run is over and was never seen healthy there, by any run. */
function unprovenAfter(run: Run): string[] {
  const unproven = new Set(run.unproven);
  for (const batch of run.batches) {
    if (batch.merged === undefined) continue;
    for (const { key, phase, edits } of batch.targets) {
      if (phase === "Healthy" || phase === "Baked") unproven.delete(key);
      else if (edits.some((edit) => edit.from !== edit.to)) unproven.add(key);
    }
  }
  return [...unproven];
}

/**
 * A newer release takes over: nothing of this run merges any more, and it ends as Superseded once its PRs are observed
 * closed or merged and what it has in flight is confirmed or has failed. The successor starts after that, so a cluster is never in flight
 * for two runs, and their windows need no common count. The same run where it has ended or is ending already.
 */
export function supersede(run: Run, by: { values: Record<string, string>; commit: string }, now: number): Run {
  if (isEnded(run) || run.ending !== undefined) return run;
  const at = iso(now);
  const reason = runReason("RUN_SUPERSEDED", { values: Object.values(by.values), commit: by.commit });
  return endSoon(run, { phase: "Superseded", by: by.commit, reason, at });
}
