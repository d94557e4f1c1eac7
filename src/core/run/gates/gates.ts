/**
 * The gates in their order (docs/spec.md §9.10): what stands against merging a batch, from what is over for its run to what is GitHub's.
 * Each gate answers with a value and does nothing; the first answer counts. Called by `batches/merge.ts`, which carries it out, and by who
 * wants to know whether somebody merged too early.
 */
import type { AnyReason } from "../../base/reason.ts";
import { epoch, iso, type Time } from "../../base/time.ts";
import { runReason } from "../../reasons/run.ts";
import { isInTurn, putsBack } from "../state/batch.ts";
import { type Decision, type Gate, type Scene, type Wait, wait } from "../state/decision.ts";
import { batchRef, clustersOf, liveTargets, pullRef } from "../state/names.ts";
import { comesBefore, INTENTION_MS, isSettled, listOccupied } from "../state/progress.ts";
import type { Batch, Run } from "../state/run.ts";
import type { ObservedPull } from "../state/world.ts";
import { lostPlane, lostWords, planeOf } from "../targets/unseen.ts";
import { approvalGate } from "./approval.ts";
import { dependsGate } from "./depends.ts";
import { knownHealthGate } from "./fresh-health.ts";
import { githubGate } from "./github.ts";
import { haltGate } from "./halt.ts";
import { jitterGate } from "./jitter.ts";
import { limitsGate, sizeGate } from "./limits.ts";
import { protectionGate } from "./protection.ts";
import { soundGate } from "./sound.ts";
import { windowGate } from "./window.ts";

interface Row {
  gate: Gate;
  /** forward: what does not put anything back; inTurn: neither that nor a hotfix. Absent: every batch. */
  of?: "forward" | "inTurn";
  /**
   * What it does to a merge that has begun, which is not called back: nothing, or it is not tried again; `inQueue`: that is said also of what
   * GitHub's queue is to merge. Absent: what it does before.
   */
  begun?: "nothing" | "noTry" | "noTryInQueue";
  /** Its answer says nothing of the PR, which is named before it. */
  bare?: true;
  /** Whoever merges is bound by it. */
  binds?: true;
}

/** What of the run stands against a merge. */
const OF_THE_RUN: readonly Row[] = [
  { gate: roundGate, of: "forward" },
  { gate: turnGate, bare: true },
  { gate: soundGate },
  { gate: settingsGate, begun: "noTry", bare: true },
  { gate: protectionGate, begun: "nothing", bare: true },
  { gate: clockGate, of: "inTurn", begun: "noTry", bare: true },
  { gate: planeGate, begun: "nothing", bare: true },
  { gate: haltGate, begun: "noTryInQueue", bare: true, binds: true },
  { gate: othersGate, begun: "nothing", bare: true },
  { gate: sizeGate, of: "forward", begun: "nothing", bare: true },
  { gate: dependsGate, of: "forward", begun: "nothing", bare: true, binds: true },
  { gate: approvalGate, of: "forward", begun: "nothing", bare: true, binds: true },
  { gate: windowGate, of: "inTurn", begun: "noTry", bare: true, binds: true },
  { gate: limitsGate, begun: "nothing", bare: true },
  { gate: jitterGate, of: "forward", begun: "nothing" },
  { gate: guardGate },
  { gate: knownHealthGate },
];

/** Answers what of the run stands against merging this batch now; undefined: nothing does. */
export function judgeRun(scene: Scene, batch: Batch, pull: ObservedPull): Decision | undefined {
  for (const row of OF_THE_RUN) {
    if (!isAsked(row, batch, pull)) continue;
    const decision = row.gate(scene, batch, pull);
    if (decision === undefined) continue;
    if (row.begun !== undefined && batch.intention !== undefined) return notTried(decision, batch.intention, pull);
    return row.bare ? { ...decision, why: runReason("PULL_WAITS", { pull: pullRef(pull), because: decision.why }) } : decision;
  }
  return undefined;
}

function isAsked({ of, begun }: Row, batch: Batch, { queue }: ObservedPull): boolean {
  if (batch.intention !== undefined && (begun === "nothing" || (begun === "noTry" && queue != null))) return false;
  if (of === "inTurn") return isInTurn(batch);
  return of === undefined || !putsBack(batch);
}

/** The call of a merge that has begun may be under way, or never have been made. */
function notTried(decision: Decision, { at }: NonNullable<Batch["intention"]>, pull: ObservedPull): Decision {
  const why = runReason("MERGE_NOT_TRIED", { pull: pullRef(pull), because: decision.why });
  return { ...decision, why, next: { what: runReason("NEXT_MERGE_ENDS"), deadline: iso(epoch(at) + INTENTION_MS) } };
}

/** Answers what GitHub, or the way the rollout is delivered, leaves to others. Asked once nothing of the run stands against it. */
export function judgeOutside(scene: Scene, batch: Batch, pull: ObservedPull): Decision | undefined {
  return deliveryGate(scene, batch, pull) ?? githubGate(scene, batch, pull);
}

/** Says what a merge by somebody else came before: what stood against merging the batch at that moment, whoever merges. */
export function tooEarlyFor({ run, world }: Scene, batch: Batch, pull: ObservedPull, at: Time): AnyReason | undefined {
  const then: Scene = { run, world, now: epoch(at) };
  const before = turnGate(then, batch, pull);
  if (before !== undefined || putsBack(batch)) return before?.why;
  for (const { gate, of, binds } of OF_THE_RUN) {
    if (binds !== true || (of === "inTurn" && !isInTurn(batch))) continue;
    const decision = gate(then, batch, pull);
    if (decision !== undefined) return decision.why;
  }
  return undefined;
}

function roundGate({ hold }: Scene): Decision | undefined {
  return hold === undefined ? undefined : wait(runReason("ROUND_HELD", { because: hold }), { what: runReason("NEXT_JUDGED_AGAIN") });
}

/** Builds of a batch before its turn: where the base moves under it more often, it is built anew once that has come. */
const MOST_AHEAD = 3;

/** The batches before it, and the window of its stage. One that was opened ahead is kept as it would have to be when its turn comes. */
function turnGate(scene: Scene, batch: Batch, pull: ObservedPull): Decision | undefined {
  const why = outOfTurn(scene.run, batch);
  if (why === undefined) return undefined;
  const unsound = batch.ahead === true && batch.attempt < MOST_AHEAD ? soundGate(scene, batch, pull) : undefined;
  return unsound?.kind === "rebuild" ? unsound : wait(why, { what: runReason("NEXT_JUDGED_AGAIN") });
}

function outOfTurn(run: Run, batch: Batch): AnyReason | undefined {
  if (run.phase === "Paused" && !putsBack(batch)) return runReason("RUN_PAUSED");
  const isRolling = run.spec.stages[batch.stage]?.batching === "Rolling";
  const first = run.batches.find((other) => comesBefore(other, batch, isRolling) && !isSettled(other));
  if (first !== undefined) return runReason("BATCH_BEFORE", { batch: batchRef(run, first) });
  // Its turn is taken where it would have been made.
  if (batch.ahead === true) return runReason("STAGE_BEFORE", { stage: run.plan.stages[run.stage]?.name ?? "" });
  const most = run.plan.stages[batch.stage]?.maxUnavailable ?? 1;
  const there = listOccupied(run, batch.stage, batch.number);
  const coming = clustersOf(liveTargets(batch));
  const clusters = [...new Set([...there, ...coming])];
  // The next weight of clusters in flight, a retried one among them, adds none to those.
  if (clusters.length > most && coming.some((cluster) => !there.has(cluster))) return runReason("WINDOW_FULL", { clusters, most });
  return undefined;
}

function settingsGate({ world }: Scene): Decision | undefined {
  if (world.settingsBroken === undefined) return undefined;
  return wait(runReason("SETTINGS_BROKEN", { because: world.settingsBroken }), { what: runReason("NEXT_SETTINGS") });
}

/** A halt is said on one rollout's pull request and binds all: what is not known is not taken for good. */
function othersGate({ world }: Scene): Decision | undefined {
  return world.others === undefined ? wait(runReason("OTHERS_UNREAD"), { what: runReason("NEXT_READ") }) : undefined;
}

/** Whether this run merges such a PR at all, or a person does. */
function deliveryGate({ run }: Scene, batch: Batch, observed: ObservedPull): Decision | undefined {
  const { mode, delivery } = run.spec;
  const pull = pullRef(observed);
  if (mode !== "Run")
    return wait(runReason("MODE_MERGES_NOT", { pull, mode }), { what: runReason("NEXT_PERSON_MERGES", { pull, promote: false }) });
  if (delivery.merge !== "Manual" || batch.promoted !== undefined) return undefined;
  return wait(runReason("PULL_MANUAL", { pull }), { what: runReason("NEXT_PERSON_MERGES", { pull, promote: true }) });
}

/** Nobody tells when a clock is set right. */
const AGAIN_MS = 15_000;

/** Waits until our clock and GitHub's agree: a wait that a wrong clock has ended is not over. */
function clockGate({ world, now }: Scene): Wait | undefined {
  const { clockAheadMs: ms } = world;
  if (ms === undefined) return undefined;
  const why = runReason("CLOCKS_DIFFER", { seconds: Math.round(Math.abs(ms) / 1000), ahead: ms > 0 });
  return wait(why, { what: runReason("NEXT_CLOCKS_AGREE") }, now + AGAIN_MS);
}

/**
 * What would not be seen is not merged: a batch with targets on a control plane that cannot be read waits for that, whole. One
 * whose targets are all on others goes on, if the order of batches and stages lets it.
 */
function planeGate(scene: Scene, batch: Batch): Wait | undefined {
  const clusters = clustersOf(liveTargets(batch)).filter((cluster) => lostPlane(scene, cluster) !== undefined);
  const [first] = clusters;
  const lost = first === undefined ? undefined : lostPlane(scene, first);
  if (first === undefined || lost === undefined) return undefined;
  const why = runReason("PLANE_UNSEEN", { clusters, because: lostWords(planeOf(first), lost) });
  return wait(why, { what: runReason("NEXT_PLANE", { clusters }) });
}

/** How old a guard's answer may be. */
const GUARD_MS = 60_000;
/** How soon one that is missing is looked for. */
const GUARD_AGAIN_MS = 2_000;

/** docs/spec.md §9.4: nothing would be deleted, renamed or moved, judged on this very base. */
function guardGate({ world, now }: Scene, batch: Batch, observed: ObservedPull): Decision | undefined {
  const pull = pullRef(observed);
  const guard = world.guards.get(batch.number);
  const next = { what: runReason("NEXT_GUARD") };
  if (guard === undefined || guard.base !== world.base.commit || Math.abs(now - epoch(guard.at)) >= GUARD_MS)
    return wait(runReason("GUARD_PENDING", { pull }), next, now + GUARD_AGAIN_MS);
  if (guard.ok) return undefined;
  const because = guard.why;
  const why = runReason("NOT_MERGED_YET", { pull, because });
  if (guard.retry) return wait(why, next);
  const reason = runReason("GUARD_REFUSES", { pull, because });
  return { kind: "pause", closing: because, reason, ask: runReason("ASK_GUARD"), why, next };
}
