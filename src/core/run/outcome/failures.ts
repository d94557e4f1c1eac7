import type { AnyReason } from "../../base/reason.ts";
import { epoch } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { WORTH_REMEMBERING } from "../state/batch.ts";
import { change, type Draft, endSoon, pause } from "../state/draft.ts";
import { clusterCount, unitOf } from "../state/names.ts";
import type { Batch, Run } from "../state/run.ts";
import { asBefore, cannotRevert, changedTargets } from "./put-back.ts";
import { planRollback } from "./rollback.ts";

/** Lists clusters with a failed target that is worse than before its change (docs/spec.md §9.18), and those that stayed put off to the last look. */
export function failedClusters(run: Run): Set<string> {
  const failed = new Set<string>();
  for (const batch of run.batches) for (const cluster of failedIn(batch)) failed.add(cluster);
  for (const one of run.requeued) if (one.failed === true) failed.add(one.cluster);
  return failed;
}

/**
 * Remembers what follows from a batch alone. A batch is never changed in place, so this is a memory and no state: of a large fleet most
 * batches are settled, and stay the same object round after round.
 */
function perBatch<T extends object>(work: (batch: Batch) => T): (batch: Batch) => T {
  const known = new WeakMap<Batch, T>();
  return (batch) => {
    if (batch.targets.length < WORTH_REMEMBERING) return work(batch);
    let result = known.get(batch);
    if (result === undefined) {
      result = work(batch);
      known.set(batch, result);
    }
    return result;
  };
}

const failedIn = perBatch(({ targets }) =>
  targets.filter((target) => target.phase === "Failed" && target.excused !== true).map((target) => target.cluster),
);

/** Failed clusters nobody has accepted yet: what the budget is about. */
export function unacceptedFailures(run: Run): string[] {
  return [...failedClusters(run)].filter((cluster) => !run.failedAccepted.includes(cluster));
}

/** How many clusters may fail before the run pauses: a percentage is of the run's clusters, rounded down. */
export function budget(run: Run): number {
  const { maxFailures: most } = run.spec.onFailure;
  return "count" in most ? most.count : Math.floor((most.percent * clusterCount(run)) / 100);
}

export function withinBudget(run: Run): boolean {
  return run.spec.onFailure.action === "Continue" || unacceptedFailures(run).length <= budget(run);
}

/** Pauses a run whose failures are more than it tolerates, or whose target waits longer than it may. */
export function judgeFailures(draft: Draft): void {
  const { run } = draft;
  const clusters = unacceptedFailures(run);
  const most = budget(run);
  const [cluster] = clusters;
  if (cluster !== undefined && clusters.length > most) {
    const reason = runReason("TOO_MANY_FAILED", { clusters, most, because: whyFailed(run, cluster) });
    const last = canTryLast(run, cluster) ? ({ last: true } as const) : undefined;
    if (failRun(draft, reason, runReason("ASK_FAILED", { cluster, ...last }))) return;
  }
  judgeWaiting(draft);
}

/** Nothing keeps `/requeue` from putting back what it has: it is alone on its pin, and what stood there before is known. */
function canTryLast(run: Run, cluster: string): boolean {
  const batch = run.batches.findLast((one) => one.targets.some((target) => target.cluster === cluster && target.phase === "Failed"));
  if (batch === undefined || unitOf(run, cluster).length > 1) return false;
  const targets = batch.targets.filter((target) => target.cluster === cluster).map((target) => asBefore(run, batch, target));
  return cannotRevert(changedTargets(batch, targets)) === undefined;
}

/** Acts on a failure by the policy, whatever the budget tolerates: also on one that is of no cluster, such as an analysis. True: it is rolled back. */
export function failRun(draft: Draft, reason: AnyReason, ask: AnyReason): boolean {
  const { spec, rollback, ending } = draft.run;
  const isBack = spec.onFailure.action === "Rollback" && rollback === undefined && ending === undefined;
  if (isBack) rollBack(draft, { by: "stagecoach", reason, at: draft.at });
  else if (spec.onFailure.action !== "Continue") pause(draft, "Failure", "stagecoach", reason, ask);
  return isBack;
}

function whyFailed(run: Run, cluster: string): AnyReason {
  const targets = run.batches.flatMap((batch) => batch.targets.filter((one) => one.phase === "Failed" && one.excused !== true));
  const failed = [...targets, ...run.requeued].find((one) => one.cluster === cluster);
  return failed?.why ?? runReason("NOTHING_FAILED");
}

const waitingIn = perBatch(({ targets }) => targets.filter((target) => target.waitingSince !== undefined));

function judgeWaiting(draft: Draft): void {
  const { run } = draft;
  const forMs = run.spec.waitingDeadlineMs;
  for (const { waitingSince, cluster, why } of run.batches.flatMap(waitingIn)) {
    if (waitingSince === undefined || draft.now - epoch(waitingSince) < forMs) continue;
    const reason = runReason("WAITED_TOO_LONG", { cluster, forMs, because: why });
    pause(draft, "Waiting", "stagecoach", reason, runReason("ASK_WAITED", { cluster }));
    return;
  }
}

/** Ends the run, and has it rolled back once nothing of it is open any more. Where it cannot be, it pauses and says why. */
function rollBack(draft: Draft, asked: NonNullable<Run["rollback"]>): void {
  const back = planRollback(draft.run);
  if ("error" in back) {
    const reason = runReason("ROLLBACK_IMPOSSIBLE", { because: asked.reason, cannot: back.error });
    pause(draft, "Failure", "stagecoach", reason, runReason("ASK_ACCEPT_FAILURES"));
    return;
  }
  const reason = runReason("RUN_ROLLED_BACK", { because: asked.reason });
  change(draft, { ...endSoon(draft.run, { phase: "Failed", by: asked.by, reason, at: draft.at }), rollback: asked }, reason);
}
