import { defined } from "../../base/defined.ts";
import type { AnyReason } from "../../base/reason.ts";
import { iso, parseDuration, type Time } from "../../base/time.ts";
import type { RunReason } from "../../reasons/run.ts";
import type { Command } from "../../spec/commands.ts";
import { rebuild, revert } from "../batches/build.ts";
import { close, makeRoom } from "../batches/close.ts";
import { release } from "../batches/quarantine.ts";
import { requeue, skip } from "../batches/requeue.ts";
import { failedClusters, withinBudget } from "../outcome/failures.ts";
import { asBefore, cannotRevert, changedTargets } from "../outcome/put-back.ts";
import { batchOf, change, type Draft, mapTargets, moveTarget } from "../state/draft.ts";
import { clusterKey, clustersOf, isOut, liveTargets, stageOf, unitOf } from "../state/names.ts";
import { done, type Reply, reasonOf, refuse } from "../state/reply.ts";
import type { Batch, BatchTarget, Run } from "../state/run.ts";
import { isMidStep, midwayBatch } from "../state/steps.ts";
import { failedAfter, mergeUnderWay, unpause } from "./steer.ts";

/** Where a cluster is in the run: the last batch that has it, and what of it is there. */
export interface Place {
  cluster: string;
  batch?: Batch;
  targets: BatchTarget[];
}

export function placeOf(run: Run, cluster: string): Place {
  const batch = run.batches.findLast((one) => one.targets.some((target) => target.cluster === cluster && !isOut(target)));
  if (batch === undefined) return { cluster, targets: [] };
  return { cluster, batch, targets: batch.targets.filter((target) => target.cluster === cluster && !isOut(target)) };
}

export function has(place: Place, ...phases: BatchTarget["phase"][]): boolean {
  return place.targets.some((target) => phases.includes(target.phase));
}

/** Finds the clusters that a command names, each with all that share its pins; or says why not. */
export function clustersNamed(run: Run, names: readonly string[]): { clusters: string[] } | { error: AnyReason } {
  const clusters: string[] = [];
  for (const name of names) {
    const found = clusterKey(run, name);
    if ("error" in found) return found;
    if (!clusters.includes(found.key)) clusters.push(found.key);
  }
  for (const cluster of clusters) {
    const others = unitOf(run, cluster).filter((member) => !clusters.includes(member));
    if (others.length > 0) return { error: sharesPin(cluster, others) };
  }
  return { clusters };
}

function sharesPin(cluster: string, others: readonly string[]): RunReason {
  return { code: "CLUSTER_SHARES_PIN", cluster, others };
}

function unnamed(command: "skip" | "requeue" | "hotfix"): RunReason {
  return { code: "CLUSTERS_NOT_NAMED", command };
}

export function skipCommand(draft: Draft, command: Command): Reply {
  const { run } = draft;
  if (command.args.length === 0) return refuse(unnamed("skip"));
  const asked = clustersNamed(run, command.args);
  if ("error" in asked) return refuse(asked.error);
  const places = asked.clusters.map((cluster) => placeOf(run, cluster));
  for (const place of places) {
    const why = cannotSkip(run, place);
    if (why !== undefined) return refuse(why);
  }
  if (places.some(isUnmerged) && mustWait(draft, command, places)) return "later";
  const why: RunReason = defined({ code: "LEFT_OUT_BY" as const, by: command.actor, text: reasonOf(command) });
  release(draft, asked.clusters);
  for (const { cluster } of places) skip(draft, cluster, why, { code: "CLUSTER_LEFT_OUT", cluster, because: why });
  for (const place of places) putOut(draft, movedPlace(run, place), "Skipped", why);
  reopen(draft, places, { code: "BATCH_LOSES_CLUSTER", by: "skip" });
  goOn(draft, command);
  return done({ code: "SKIP_DONE", clusters: asked.clusters });
}

function cannotSkip(run: Run, place: Place): RunReason | undefined {
  const { cluster } = place;
  if (run.skipped.some((one) => one.cluster === place.cluster)) return { code: "LEFT_OUT_ALREADY", cluster };
  const confirmed = place.targets.length > 0 && !has(place, "Pending", "Proposed", "Merged", "Syncing", "Failed");
  if (confirmed && run.paused?.kind !== "Drift" && midwayBatch(run, cluster) === undefined) return { code: "CONFIRMED_ALREADY", cluster };
  return undefined;
}

export function requeueCommand(draft: Draft, command: Command): Reply {
  const { run } = draft;
  const asked = requeueClusters(run, command);
  if ("error" in asked) return refuse(asked.error);
  const until = untilOf(draft, command);
  if (until === "invalid") return refuse({ code: "DURATION_INVALID", text: String(command.flags.for) });
  const places = asked.clusters.map((cluster) => placeOf(run, cluster));
  for (const place of places) {
    const why = cannotRequeue(run, place, until);
    if (why !== undefined) return refuse(why);
  }
  if (places.some(isUnmerged) && mustWait(draft, command, places)) return "later";
  // What is tried again with the same release keeps its pin; what is put off gets back what it had.
  const back = isRetry(command) ? [] : places.flatMap((place) => toRevert(run, movedPlace(run, place)));
  const cannot = cannotRevert(back);
  if (cannot !== undefined) return refuse(cannot);
  const why = defined({ code: "PUT_OFF_BY" as const, by: command.actor, text: reasonOf(command) });
  for (const place of places) putToEnd(draft, place, why, until);
  reopen(draft, places, { code: "BATCH_LOSES_CLUSTER", by: "requeue" });
  revert(draft, back);
  goOn(draft, command);
  return done({ code: "REQUEUE_DONE", clusters: asked.clusters, back: clustersOf(back) });
}

/** `/requeue failed`: the very same release once more. */
function isRetry({ args }: Command): boolean {
  return args.length === 1 && args[0] === "failed";
}

/** Finds the merged batch of a cluster whose next weight is in flight, as if it had failed. Else where it is. */
export function movedPlace(run: Run, place: Place): Place {
  const batch = isUnmerged(place) ? (midwayBatch(run, place.cluster) ?? failedMidway(run, place.cluster)) : undefined;
  if (batch === undefined) return place;
  return { cluster: place.cluster, batch, targets: batch.targets.filter((target) => target.cluster === place.cluster && !isOut(target)) };
}

function failedMidway(run: Run, cluster: string): Batch | undefined {
  return run.batches.findLast(
    (batch) =>
      isMidStep(batch) &&
      batch.merged !== undefined &&
      batch.targets.some((target) => target.cluster === cluster && target.phase === "Failed"),
  );
}

function toRevert(run: Run, { batch, targets }: Place): (BatchTarget & { stage: number })[] {
  const whole = batch === undefined ? targets : targets.map((target) => asBefore(run, batch, target));
  return changedTargets(batch, whole).map((target) => ({ ...target, stage: batch?.stage ?? 0 }));
}

/** Clusters on one pin that are between two weights go together: with one of them its mates at that weight. */
export function withMates(run: Run, clusters: readonly string[]): string[] {
  const all = new Set(clusters);
  for (const cluster of clusters) {
    const { batch } = movedPlace(run, placeOf(run, cluster));
    if (batch === undefined || !isMidStep(batch)) continue;
    const there = clustersOf(liveTargets(batch));
    for (const member of unitOf(run, cluster)) if (there.includes(member)) all.add(member);
  }
  return [...all];
}

function untilOf(draft: Draft, command: Command): Time | undefined | "invalid" {
  const { for: text } = command.flags;
  if (text === undefined) return undefined;
  const ms = text === true ? undefined : parseDuration(text);
  return ms === undefined ? "invalid" : iso(draft.now + ms);
}

function requeueClusters(run: Run, command: Command): { clusters: string[] } | { error: AnyReason } {
  const failed = failedClusters(run);
  if (isRetry(command)) {
    const later = failedAfter(run, failed, command);
    const known = [...failed].filter((cluster) => !later.includes(cluster));
    if (known.length > 0) return { clusters: withMates(run, known) };
    const none: RunReason = later.length > 0 ? { code: "FAILED_SINCE", clusters: later } : { code: "NOTHING_FAILED" };
    return { error: none };
  }
  if (command.args.length > 0) return clustersNamed(run, command.args);
  const batch = run.batches.find((one) => one.number === command.batch);
  if (batch === undefined) return { error: unnamed("requeue") };
  const clusters = clustersOf(batch.targets.filter((target) => !isOut(target)));
  const mine = clusters.filter((cluster) => failed.has(cluster));
  return { clusters: mine.length > 0 ? withMates(run, mine) : clusters };
}

function cannotRequeue(run: Run, place: Place, until: Time | undefined): RunReason | undefined {
  const { cluster } = place;
  if (run.skipped.some((one) => one.cluster === place.cluster)) return { code: "LEFT_OUT_ALREADY", cluster };
  if (place.batch?.kind === "Revert" && !has(place, "Failed")) return { code: "BEING_PUT_BACK", cluster, because: place.batch.why };
  if (isUnmerged(place) || has(place, "Failed", "Merged", "Syncing", "Healthy")) return undefined;
  if (place.targets.length > 0) return { code: "CONFIRMED_ALREADY", cluster };
  const waiting = run.requeued.find((one) => one.cluster === place.cluster && one.failed !== true);
  if (waiting !== undefined && until === undefined) return { code: "PUT_OFF_ALREADY", cluster, because: waiting.why };
  return undefined;
}

/** In a batch that has not merged, or that was closed. */
export function isUnmerged(place: Place): boolean {
  return place.batch !== undefined && place.batch.merged === undefined;
}

/** A merge call, or the making of the PR, may be under way: it is seen first. */
export function mustWait(draft: Draft, command: Command, places: readonly Place[]): boolean {
  if (mergeUnderWay(draft, command)) return true;
  return places.some(({ batch }) => batch?.phase === "Proposing" && draft.world.pulls.get(batch.number) !== null);
}

export function putToEnd(draft: Draft, place: Place, why: RunReason, until: Time | undefined): void {
  const stage = place.batch?.stage ?? stageOf(draft.run, place.cluster) ?? 0;
  release(draft, [place.cluster]);
  putOut(draft, movedPlace(draft.run, place), "Requeued", why);
  requeue(draft, stage, [place.cluster], why, until);
  goBack(draft, stage);
}

/** An earlier stage has something to catch up on: what is open of a later one is closed, and built again when its turn comes. */
export function goBack(draft: Draft, stage: number): void {
  if (stage < draft.run.stage) change(draft, { stage });
  makeRoom(draft, stage);
}

/** Takes a cluster's targets out of a batch that has merged. */
function putOut(draft: Draft, place: Place, phase: "Skipped" | "Requeued", why: RunReason): void {
  if (place.batch === undefined || isUnmerged(place)) return;
  const patch = { deadlineAt: undefined, waitingSince: undefined };
  mapTargets(draft, place.batch.number, (target) =>
    target.cluster === place.cluster && !isOut(target) ? moveTarget(draft, target, phase, why, patch) : target,
  );
}

/** Builds the batches again that have to go on without some of their clusters. */
export function reopen(draft: Draft, places: readonly Place[], why: RunReason): void {
  for (const number of new Set(places.filter(isUnmerged).map(({ batch }) => batch?.number ?? 0))) {
    const batch = batchOf(draft.run, number);
    if (batch.phase === "Proposing") rebuild(draft, batch);
    // In a merge queue closing takes it out.
    else if (batch.phase === "Open" || batch.intention?.queued !== undefined) close(draft, batch, why);
  }
}

/** A run paused on failures goes on when none is left that it does not tolerate. */
function goOn(draft: Draft, command: Command): void {
  const { run } = draft;
  if (run.paused?.kind === "Failure" && withinBudget(run))
    unpause(draft, {}, { code: "GOES_ON_AFTER", command: command.name, by: command.actor });
}
