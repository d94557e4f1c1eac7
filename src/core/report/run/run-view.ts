import type { PlannedBatch } from "../../plan/plan-types.ts";
import { stepWords } from "../../plan/steps.ts";
import { targetsOf } from "../../run/state/names.ts";
import { type Batch, type BatchTarget, isEnded, type Requeued, type Run, type TargetPhase } from "../../run/state/run.ts";
import { isMidStep } from "../../run/state/steps.ts";
import { placesOf } from "../places.ts";
import { type NextView, nextView } from "../reasons/next.ts";
import { BATCH_NOUNS } from "../reasons/phrases.ts";
import { sentenceOf } from "../reasons/say.ts";
import { awaitsBatches } from "../requeued.ts";
import { type RolloutLine, rolloutLine } from "../rollouts.ts";
import { targetsShown } from "../steps.ts";
import { batchesOfStage, pinValue, releaseName, releaser, shortName } from "../words.ts";
import { type GateLine, gatesOfBatch, gatesOfStage } from "./analysis.ts";
import { type Beside, besides } from "./membership.ts";
import { unaskedNotes } from "./sign-of-life.ts";

/** A run as the page draws it: everything is text or numbers, times are ISO. */
export interface RunView {
  rollout: string;
  number: number;
  release: string;
  phase: string;
  since: string;
  why: string;
  next: NextView | null;
  ask: string | null;
  /** Control planes that cannot be seen: their clusters wait. */
  unseen: { plane: string; since: string; why: string }[];
  notes: string[];
  startedAt: string;
  endedAt: string | null;
  trigger: { pull: number | null; author: string };
  planHash: string;
  counts: { clusters: number; live: number; failed: number; requeued: number };
  stages: StageView[];
}

interface StageView {
  name: string;
  state: "done" | "current" | "to come";
  maxUnavailable: number;
  /** What was measured and asked of it as a whole. */
  gates?: GateLine[] | undefined;
  batches: BatchView[];
}

interface BatchView {
  name: string;
  phase: string;
  since: string | null;
  why: string;
  next: NextView | null;
  pull: { number: number; url: string } | null;
  /** What was measured of it. */
  gates?: GateLine[] | undefined;
  clusters: ClusterView[];
}

interface ClusterView {
  name: string;
  applications: string[];
  phase: TargetPhase;
  since: string | null;
  why: string;
  from: string;
  to: string;
  /** Failed as it had been before its batch: outside the budget. */
  excused?: boolean | undefined;
  /** Argo Rollouts of it that are under way. */
  rollouts?: RolloutLine[] | undefined;
}

/** Worst first: a cluster is as far as its least advanced Application. */
const RANK: TargetPhase[] = ["Failed", "Pending", "Requeued", "Proposed", "Merged", "Syncing", "Healthy", "Baked", "RolledBack", "Skipped"];

export function runView(run: Run): RunView {
  const stages = run.plan.stages.map((_, index) => stageView(run, index));
  const shown = stages.flatMap((stage) => stage.batches.flatMap((batch) => batch.clusters));
  // One that was put back stands in that batch, and where it is tried again.
  const clusters = [...new Map(shown.map((one) => [`${one.name} ${one.applications.join()}`, one])).values()];
  const count = (...phases: TargetPhase[]) => clusters.filter((cluster) => phases.includes(cluster.phase)).length;
  return {
    rollout: run.rollout,
    number: run.number,
    release: releaseName(run.release.values),
    phase: run.phase,
    since: run.since,
    why: sentenceOf(run.why, run),
    next: nextView(run.next, run),
    ask: run.paused === undefined ? null : sentenceOf(run.paused.ask, run),
    unseen: (run.unseen ?? []).map((one) => ({ ...one, why: sentenceOf(one.why, run) })),
    notes: unaskedNotes(run.batches),
    startedAt: run.startedAt,
    endedAt: run.endedAt ?? null,
    trigger: { pull: run.trigger.pull ?? null, author: releaser(run) },
    planHash: run.plan.hash,
    counts: { clusters: clusters.length, live: count("Healthy", "Baked"), failed: count("Failed"), requeued: count("Requeued") },
    stages: [...stages, ...outsideView(run)],
  };
}

function stageView(run: Run, index: number): StageView {
  const planned = run.plan.stages[index];
  // A weight that has been followed by the next is shown there.
  const opened = run.batches.filter((batch) => batch.stage === index && batch.phase !== "Closed" && isShown(run, batch));
  const moved = new Set(opened.flatMap((batch) => placesOf(targetsShown(run, batch))));
  const put = run.requeued.filter((item) => item.stage === index && !moved.has(item.cluster));
  const beside = besides(run).filter((one) => one.stage === index);
  const elsewhere = new Set([...moved, ...[...put, ...beside].map((one) => one.cluster)]);
  const state = index < run.stage || run.phase === "Succeeded" ? "done" : index === run.stage ? "current" : "to come";
  return {
    name: planned?.name ?? "",
    state,
    maxUnavailable: planned?.maxUnavailable ?? 0,
    gates: someOf(gatesOfStage(run, index)),
    batches: [
      ...opened.map((batch) => openedBatch(run, batch)),
      ...batchesToCome(run, planned?.batches ?? [], elsewhere),
      ...requeuedView(run, put),
      ...besideViews(run, beside),
    ],
  };
}

/** Of a group of clusters that no batch holds. */
const NOTHING_OPENED = { since: null, why: "", next: null, pull: null };

/** Planned batches of which clusters are left. */
function batchesToCome(run: Run, planned: readonly PlannedBatch[], elsewhere: ReadonlySet<string>): BatchView[] {
  const skipped = new Map(run.skipped.map((item) => [item.cluster, item]));
  const views: BatchView[] = [];
  for (const [index, batch] of planned.entries()) {
    const left = batch.clusters.filter((cluster) => !elsewhere.has(cluster));
    if (left.length === 0) continue;
    const clusters = left.map((key) => {
      const skip = skipped.get(key);
      const targets = batch.targets.filter((target) => target.cluster === key);
      const phase: TargetPhase = skip === undefined ? "Pending" : "Skipped";
      return clusterView(key, targets, phase, skip?.at ?? null, sentenceOf(skip?.why ?? "its batch has not begun", run));
    });
    const phase = isEnded(run) ? "Not begun" : "To come";
    views.push({ ...NOTHING_OPENED, name: `batch ${index + 1} of ${planned.length}`, phase, clusters });
  }
  return views;
}

/** Clusters put off to the stage's end; of one that was put off twice the last time. */
function requeuedView(run: Run, put: readonly Requeued[]): BatchView[] {
  if (put.length === 0) return [];
  const items = [...new Map(put.map((item) => [item.cluster, item])).values()];
  const clusters = items.map(({ cluster, failed, since, why }) =>
    clusterView(cluster, targetsOf(run, cluster), failed === true ? "Failed" : "Requeued", since, sentenceOf(why, run)),
  );
  return [{ ...NOTHING_OPENED, name: "requeued to the stage's end", phase: "Requeued", next: nextLook(run, items), clusters }];
}

/** Clusters that stand beside the batches, by what they are. */
function besideViews(run: Run, beside: readonly Beside[]): BatchView[] {
  return [...Map.groupBy(beside, (one) => one.status)].map(([status, rows]) => ({
    ...NOTHING_OPENED,
    name: { Quarantined: "in quarantine", Joined: "joined during the run", "Not in this run": "appeared during the run" }[status],
    phase: status,
    clusters: rows.map(({ cluster, phase, since, why }) => clusterView(cluster, targetsOf(run, cluster), phase, since, why)),
  }));
}

/** Clusters that appeared and that no stage has: a stage of their own, at the end. */
function outsideView(run: Run): StageView[] {
  const beside = besides(run).filter((one) => one.stage === undefined);
  if (beside.length === 0) return [];
  return [{ name: "not in this run", state: "to come", maxUnavailable: 0, batches: besideViews(run, beside) }];
}

/** What comes next for requeued clusters of one stage; null where nothing does. */
function nextLook(run: Run, requeued: readonly Requeued[]): NextView | null {
  const open = isEnded(run) ? [] : requeued.filter((item) => item.failed !== true);
  if (open.some((item) => awaitsBatches(run, item))) return { what: "after the stage's batches" };
  const [at] = open.map((item) => item.nextAt).sort();
  return at === undefined ? null : { what: "the next look", eta: at };
}

/** The page shows it inside its stage, so the stage is not named again. */
function nameInStage(run: Run, { kind, ...batch }: Batch): string {
  return kind !== "Planned" ? BATCH_NOUNS[kind] : `batch ${batch.ofStage} of ${batchesOfStage(run, batch.stage)}${stepWords(batch)}`;
}

function isShown(run: Run, batch: Batch): boolean {
  return !isMidStep(batch) || targetsShown(run, batch).length > 0;
}

function openedBatch(run: Run, batch: Batch): BatchView {
  const byCluster = Map.groupBy(targetsShown(run, batch), (target) => target.cluster);
  return {
    name: nameInStage(run, batch),
    gates: someOf(gatesOfBatch(run, batch)),
    phase: batch.phase,
    since: batch.since,
    why: sentenceOf(batch.why, run),
    next: nextView(batch.next, run),
    pull: batch.pull === undefined ? null : { number: batch.pull.number, url: batch.pull.url },
    clusters: [...byCluster].map(([key, targets]) => {
      const worst = worstOf(targets);
      const why = worst.excused === true ? worst.why : (worst.evidence?.sentence ?? worst.why);
      const rollouts = someOf(targets.flatMap((target) => (target.rollouts ?? []).map(rolloutLine)));
      return { ...clusterView(key, targets, worst.phase, worst.since, sentenceOf(why, run)), excused: worst.excused, rollouts };
    }),
  };
}

/** The page leaves out what there is nothing of. */
function someOf<T>(list: T[]): T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function worstOf(targets: readonly BatchTarget[]): BatchTarget {
  const [first] = [...targets].sort((a, b) => RANK.indexOf(a.phase) - RANK.indexOf(b.phase));
  if (first === undefined) throw new Error("a cluster of a batch has no target");
  return first;
}

function clusterView(
  key: string,
  targets: readonly Pick<BatchTarget, "application" | "edits">[],
  phase: TargetPhase,
  since: string | null,
  why: string,
): ClusterView {
  const edit = targets[0]?.edits[0];
  return {
    name: shortName(key),
    applications: targets.map((target) => target.application),
    phase,
    since,
    why,
    from: edit === undefined ? "" : pinValue(edit, "from"),
    to: edit === undefined ? "" : pinValue(edit, "to"),
  };
}
