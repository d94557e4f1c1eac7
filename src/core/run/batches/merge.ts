/**
 * Merges what may be merged: the gates judge (`gates/gates.ts`), and what they answer is carried out here and nowhere else. First the
 * intention is in the journal, then comes the call; it is tried again until its outcome is seen. Of a run that is paused only what puts
 * clusters back goes on (docs/spec.md §9.14). Called by `advance` once a round, last of all.
 */
import { defined } from "../../base/defined.ts";
import { epoch, iso } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { beforeStage } from "../checks/stage-checks.ts";
import { approvedBy } from "../gates/approval.ts";
import { freshHealthGate } from "../gates/fresh-health.ts";
import { judgeOutside, judgeRun } from "../gates/gates.ts";
import { haltGate } from "../gates/halt.ts";
import { isInTurn } from "../state/batch.ts";
import type { Decision } from "../state/decision.ts";
import { batchOf, type Draft, moveBatch, pause, sayBatch, wakeAt } from "../state/draft.ts";
import { pullRef } from "../state/names.ts";
import { INTENTION_MS } from "../state/progress.ts";
import { type Batch, mayMove } from "../state/run.ts";
import type { ObservedPull } from "../state/world.ts";
import { close } from "./close.ts";

export function mergeOpen(draft: Draft): void {
  fenceHalted(draft);
  for (const { number } of draft.run.batches) {
    const batch = batchOf(draft.run, number);
    if (!mayMove(draft.run, batch)) continue;
    if ((batch.phase === "Open" || batch.phase === "Merging") && batch.closing === undefined) mergeOne(draft, batch);
  }
}

/**
 * Nobody merges a PR whose clusters are halted (docs/spec.md §9.13): its gate fails and it leaves the merge queue, and what was asked
 * of the queue is taken back. A merge call that may be under way is waited for as ever.
 */
function fenceHalted(draft: Draft): void {
  for (const { number } of draft.run.batches) {
    const batch = batchOf(draft.run, number);
    if ((batch.phase !== "Open" && batch.phase !== "Merging") || haltGate(draft, batch)?.kind !== "stop") continue;
    const pull = draft.world.pulls.get(number);
    if (batch.intention !== undefined && (pull == null || pull.queue == null)) continue;
    draft.fenced.push(number);
    if (batch.intention === undefined) continue;
    moveBatch(draft, number, "Open", { intention: undefined }, runReason("HALTED_IN_QUEUE", { pull: pullRef(batch.pull) }));
  }
}

function mergeOne(draft: Draft, batch: Batch): void {
  const pull = draft.world.pulls.get(batch.number);
  if (pull === undefined || pull === null) {
    sayBatch(draft, batch.number, runReason("PULL_UNSEEN"), { what: runReason("NEXT_LOOKED_AGAIN") });
    return;
  }
  const decision = judge(draft, batch, pull);
  if (decision === undefined) merge(draft, batch, pull);
  else carryOut(draft, batch, pull, decision);
}

function judge(draft: Draft, batch: Batch, pull: ObservedPull): Decision | undefined {
  const ours = judgeRun(draft, batch, pull) ?? stageBegins(draft, batch, pull);
  if (ours !== undefined) return ours;
  // From here on it is up to GitHub or a person, and the gate on the PR says so.
  draft.cleared.push(batch.number);
  if (pull.queue == null) {
    const outside = judgeOutside(draft, batch, pull);
    if (outside !== undefined) return outside;
  }
  return intended(batch, pull) ?? freshHealthGate(draft, batch, pull);
}

/** Begins what a stage wants measured and asked before its first merge, last of all: what is answered is of the moment it may merge. */
function stageBegins(draft: Draft, batch: Batch, pull: ObservedPull): Decision | undefined {
  const begun = draft.run.batches.some((one) => one.stage === batch.stage && (one.merged !== undefined || one.intention !== undefined));
  if (begun || !isInTurn(batch)) return undefined;
  const waits = beforeStage(draft, batch);
  return waits && { ...waits, why: runReason("PULL_WAITS", { pull: pullRef(pull), because: waits.why }) };
}

/** What was asked of GitHub before, and is not to be asked again: it is in the queue, or was asked of another head. */
function intended({ intention }: Batch, { queue, head, ...pull }: ObservedPull): Decision | undefined {
  if (intention === undefined) return undefined;
  if (queue != null) {
    const why = runReason("PULL_QUEUED", { pull: pullRef(pull), place: queue.position, state: queue.state });
    return { kind: "wait", why, next: { what: runReason("NEXT_QUEUE") } };
  }
  if (intention.head === head) return undefined;
  const deadline = iso(epoch(intention.at) + INTENTION_MS);
  return { kind: "wait", why: runReason("HEAD_MOVED"), next: { what: runReason("NEXT_JUDGED_AGAIN"), deadline } };
}

function carryOut(draft: Draft, batch: Batch, pull: ObservedPull, decision: Decision): void {
  if (decision.again !== undefined) wakeAt(draft, decision.again);
  if (decision.kind === "read") for (const target of decision.targets) draft.wantsHealth.add(target);
  // A merge call may be under way: its outcome is waited for before the PR is touched. In a merge queue closing takes it out.
  const mayTouch = batch.intention === undefined || pull.queue != null;
  if (mayTouch && (decision.kind === "rebuild" || decision.kind === "pause")) {
    if (decision.closing !== undefined) close(draft, batch, decision.closing);
    if (decision.kind === "pause") pause(draft, "Refused", "stagecoach", decision.reason, decision.ask);
    // It is being closed, or the run is paused, and that is what is said then.
    if (batchOf(draft.run, batch.number).closing !== undefined || !mayMove(draft.run, batch)) return;
  }
  sayBatch(draft, batch.number, decision.why, decision.next);
}

function merge(draft: Draft, batch: Batch, observed: ObservedPull): void {
  const pull = pullRef(observed);
  if (batch.intention === undefined) {
    const event = runReason("MERGE_BEGINS", { pull, head: observed.head });
    const patch = { intention: { head: observed.head, at: draft.at }, refused: undefined, ...approvedBy(draft.run, batch) };
    moveBatch(draft, batch.number, "Merging", patch, event);
    wakeAt(draft, draft.now + INTENTION_MS);
  }
  draft.effects.push({ kind: "Merge", batch: batch.number, pull: observed.number, head: observed.head });
  const { intention } = batchOf(draft.run, batch.number);
  const deadline = intention === undefined ? undefined : iso(epoch(intention.at) + INTENTION_MS);
  sayBatch(draft, batch.number, runReason("PULL_MERGING", { pull }), defined({ what: runReason("NEXT_MERGED"), deadline }));
}
