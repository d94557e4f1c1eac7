import { count } from "../../base/count.ts";
import { text, type Words } from "../../base/reason.ts";
import { epoch, formatDuration } from "../../base/time.ts";
import type { Quantity } from "../../spec/rollout.ts";
import { endSoon } from "../start.ts";
import { perBatch } from "../state/batch-memo.ts";
import { change, type Draft, pause } from "../state/draft.ts";
import { clusterCount, clusterName, nameList } from "../state/names.ts";
import type { Run } from "../state/run.ts";
import { planRollback } from "./rollback.ts";

/** Clusters with a failed target, but for those no worse than before their change (docs/spec.md §9.18), and those that stayed put off to the last look. */
export function failedClusters(run: Run): Set<string> {
  const failed = new Set<string>();
  for (const batch of run.batches) for (const cluster of failedIn(batch)) failed.add(cluster);
  for (const one of run.requeued) if (one.failed === true) failed.add(one.cluster);
  return failed;
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
  const { maxFailures } = run.spec.onFailure;
  return resolve(maxFailures, clusterCount(run));
}

function resolve(quantity: Quantity, of: number): number {
  return "count" in quantity ? quantity.count : Math.floor((quantity.percent * of) / 100);
}

export function withinBudget(run: Run): boolean {
  return run.spec.onFailure.action === "Continue" || unacceptedFailures(run).length <= budget(run);
}

/** Pauses a run whose failures are more than it tolerates, or whose target waits longer than it may. */
export function judgeFailures(draft: Draft): void {
  const { run } = draft;
  const failed = unacceptedFailures(run);
  const most = budget(run);
  if (failed.length > most && run.spec.onFailure.action !== "Continue") {
    const [first = ""] = failed;
    const reason = `${count(failed.length, "cluster")} failed (${nameList(run, failed)}), at most ${most} may: ${text(whyFailed(run, first))}`;
    if (run.spec.onFailure.action === "Rollback" && run.rollback === undefined && run.ending === undefined) {
      rollBack(draft, { by: "stagecoach", reason, at: draft.at });
      return;
    }
    const name = clusterName(run, first);
    const ask = `\`/retry\` looks again, \`/skip ${name}\` leaves it out, \`/resume\` accepts it as failed (maintain), \`/abort\` ends the run`;
    pause(draft, "Failure", "stagecoach", reason, ask);
  }
  judgeWaiting(draft);
}

/** A failure that is of no cluster, such as an analysis: whatever the budget tolerates, the policy acts on it. */
export function failRun(draft: Draft, reason: Words, ask: Words): void {
  const { spec, rollback, ending } = draft.run;
  if (spec.onFailure.action === "Continue") return;
  if (spec.onFailure.action === "Rollback" && rollback === undefined && ending === undefined)
    rollBack(draft, { by: "stagecoach", reason, at: draft.at });
  else pause(draft, "Failure", "stagecoach", reason, ask);
}

function whyFailed(run: Run, cluster: string): Words {
  for (const batch of run.batches) {
    const target = batch.targets.find((one) => one.cluster === cluster && one.phase === "Failed" && one.excused !== true);
    if (target !== undefined) return target.why;
  }
  return run.requeued.find((one) => one.cluster === cluster)?.why ?? "";
}

const waitingIn = perBatch(({ targets }) => targets.filter((target) => target.waitingSince !== undefined));

function judgeWaiting(draft: Draft): void {
  const { run } = draft;
  const most = run.spec.waitingDeadlineMs;
  for (const batch of run.batches) {
    for (const target of waitingIn(batch)) {
      if (target.waitingSince === undefined || draft.now - epoch(target.waitingSince) < most) continue;
      const reason = `${clusterName(run, target.cluster)} has waited ${formatDuration(most)}: ${text(target.why)}`;
      const name = clusterName(run, target.cluster);
      pause(draft, "Waiting", "stagecoach", reason, `\`/resume\` waits on, \`/skip ${name}\` leaves it out, \`/abort\` ends the run`);
      return;
    }
  }
}

/**
 * Ends the run, and has it rolled back once nothing of it is open any more. Where it cannot be, it pauses and says why: a
 * failure is never left alone in silence.
 */
function rollBack(draft: Draft, asked: NonNullable<Run["rollback"]>): void {
  const back = planRollback(draft.run);
  if ("error" in back) {
    const ask = "`/retry` looks again, `/resume` accepts the failures (maintain), `/abort` ends the run";
    pause(draft, "Failure", "stagecoach", `${text(asked.reason)}; it cannot be rolled back: ${back.error}`, ask);
    return;
  }
  const reason = `${text(asked.reason)}; it is rolled back`;
  change(draft, { ...endSoon(draft.run, { phase: "Failed", by: asked.by, reason, at: draft.at }), rollback: asked }, reason);
}
