import { text } from "../../../core/base/reason.ts";
import { problemsComment } from "../../../core/report/plan/plan-comment.ts";
import { sayProblem } from "../../../core/report/reasons/problems.ts";
import { pausedSign } from "../../../core/report/rollouts.ts";
import { runComment } from "../../../core/report/run/run-comment.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { Advanced } from "../../../core/run/state/world.ts";
import type { PlanProblem } from "../../resolve/make-plan.ts";
import type { RepoContext } from "../context.ts";
import type { RepoMemory } from "../memory.ts";
import { publishEnd, publishHandOver } from "./closing-summary.ts";
import { SLOW_ROUND_MS, slowness } from "./pace.ts";

/** Marks the one comment of ours on a release PR, by rollout. */
export function stickyMarker(rollout: string): string {
  return `stagecoach:rollout:${rollout}`;
}

/** A burst of transitions is over when none has come for so long: then it is one edit. */
const CALM_MS = 15_000;
/** A batch that takes long is shown as it stands this often; else there is one edit a batch (docs/spec.md §5). */
const LONG_MS = 5 * 60_000;

/**
 * Brings the release PR's comment up to date: at once for what needs people, else once a batch. Gives the time (epoch
 * milliseconds) at which an edit that waits is due. A trouble with the comment never holds a run.
 */
export function publishRun(context: RepoContext, memory: RepoMemory, advanced: Advanced<Run>, seen: readonly string[]): number | undefined {
  const { run } = advanced;
  const { pull } = run.trigger;
  if (pull === undefined) return undefined;
  const now = context.clock.now();
  const slow = slowness(context);
  const others = [memory.analyses.remarkOf(run.rollout), memory.labels.remarkOf(run.rollout), slow];
  const remarks = [...seen, ...others.filter((one) => one !== undefined)];
  const key = `${run.rollout} ${pull}`;
  const page = memory.pages.get(key) ?? { run: 0, phase: "", at: 0, batches: 0, changedAt: 0, waiting: false, remarks: "" };
  if (advanced.change === "transition") page.changedAt = now;
  page.waiting ||= advanced.change !== "none" || page.remarks !== JSON.stringify(remarks);
  memory.pages.set(key, page);
  publishHandOver(memory.comments, run, pull);
  const due = page.run !== run.number || page.phase !== phaseOf(run) ? now : dueAt(page, run, slow !== undefined);
  if (!page.waiting && page.run === run.number) return undefined;
  if (due > now) return Number.isFinite(due) ? due : undefined;
  Object.assign(page, {
    run: run.number,
    phase: phaseOf(run),
    at: now,
    batches: editsOf(run),
    waiting: false,
    remarks: JSON.stringify(remarks),
  });
  memory.comments.send({ key, pull, marker: stickyMarker(run.rollout), body: runComment(run, now, remarks) }, () => {
    // Not sent: the next round wants it again.
    page.waiting = true;
    page.phase = "";
  });
  if (run.endedAt !== undefined) {
    publishEnd(memory.comments, run, pull);
    memory.issues.close(run);
  }
  return undefined;
}

/** What people have to see at once: a pause and its reason, a control plane lost, Argo Rollouts that wait for them, going on, the end. */
function phaseOf(run: Run): string {
  const rollouts = run.batches.map((batch) => (batch.phase === "Settled" ? "" : pausedSign(batch))).join("");
  const unseen = (run.unseen ?? []).map((one) => one.plane).join();
  return `${run.phase} ${text(run.paused?.reason ?? "")} ${unseen} ${rollouts}`;
}

/** One a batch, and one more where a person merges it: that merge is no write of ours. */
function editsOf(run: Run): number {
  const byHand = run.spec.mode !== "Run" || run.spec.delivery.merge === "Manual";
  const merged = run.batches.filter((batch) => batch.merged !== undefined).length;
  const begun = run.batches.filter((batch) => batch.pull !== undefined || batch.merged !== undefined).length;
  return byHand ? begun + merged : begun;
}

function dueAt(page: { at: number; changedAt: number; batches: number }, run: Run, slow: boolean): number {
  if (slow) return Number.POSITIVE_INFINITY;
  const long = page.at + LONG_MS;
  return editsOf(run) > page.batches ? Math.min(long, page.changedAt + CALM_MS) : long;
}

/** While the limit is near, a round that nothing asks for comes later. */
export function slowedWake(context: RepoContext, wakeAt: number): number {
  return slowness(context) === undefined ? wakeAt : Math.max(wakeAt, context.clock.now() + SLOW_ROUND_MS);
}

export function publishRefusal(
  context: RepoContext,
  memory: RepoMemory,
  refused: { pull: number | undefined; problems: readonly PlanProblem[] },
): void {
  if (refused.pull === undefined) {
    context.log.warn({ problems: refused.problems.map((p) => sayProblem(p).message) }, "a release cannot start");
    return;
  }
  const body = problemsComment(refused.problems);
  memory.comments.send({ key: `refused ${refused.pull}`, pull: refused.pull, marker: "stagecoach:refused", body });
}
