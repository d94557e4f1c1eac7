import type { PlannedBatch, PlannedTarget } from "../../plan/plan-types.ts";
import { stepWords } from "../../plan/steps.ts";
import { type Batch, type BatchTarget, isEnded, type Requeued, type Run, type TargetPhase } from "../../run/state/run.ts";
import { isMidStep } from "../../run/state/steps.ts";
import { placesOf, shownIn } from "../places.ts";
import { sentenceOf } from "../reasons/say.ts";
import { besides } from "../run/membership.ts";
import { phaseWord, shortName } from "../words.ts";
import { batchGateNodes, stageGateNodes } from "./analysis-tree.ts";
import { BATCH_MARKS, mark, RUN_MARKS, TARGET_MARKS, type TreeNode, within } from "./tree-marks.ts";
import { awaitsBatches } from "./tree-requeued.ts";
import { rolloutNodes } from "./tree-rollouts.ts";

/** A run as a tree of lines: stage → batch → cluster → Application. No layout, no colour. */

/** The one that says most about a cluster comes first. */
const WORST_FIRST: readonly TargetPhase[] = [
  "Failed",
  "RolledBack",
  "Requeued",
  "Pending",
  "Proposed",
  "Merged",
  "Syncing",
  "Healthy",
  "Skipped",
  "Baked",
];

const OVER: ReadonlySet<TargetPhase> = new Set(["Baked", "Skipped", "Failed", "RolledBack"]);

interface Seen {
  run: Run;
  now: number;
  live: ReadonlyMap<string, string>;
}

/** The whole run as nodes, stages not begun from the frozen plan. */
export function runNode(run: Run, now: number, live: ReadonlyMap<string, string> = new Map()): TreeNode {
  const seen = { run, now, live };
  return {
    kind: "run",
    name: `${run.rollout} #${run.number}`,
    mark: RUN_MARKS[run.phase],
    status: run.phase,
    since: run.since,
    info: "",
    children: [...run.plan.stages.map((_, stage) => stageNode(seen, stage)), ...besideNodes(run, undefined)],
    state: "now",
    folded: "",
  };
}

function stageNode(seen: Seen, stage: number): TreeNode {
  const { run } = seen;
  const planned = run.plan.stages[stage];
  const batches = run.batches.filter((batch) => batch.stage === stage);
  const opened = new Set(batches.flatMap((batch) => (batch.kind === "Planned" ? [batch.ofStage] : []))).size;
  const later = planned?.batches.slice(opened) ?? [];
  const taken = new Set(batches.flatMap((batch) => (batch.phase === "Closed" ? [] : placesOf(shownIn(run, batch)))));
  const children = batches.map((batch) => batchNode(seen, batch));
  for (const [at, batch] of later.entries()) children.push(plannedBatchNode(seen, batch, opened + at + 1));
  const requeued = run.requeued.filter((one) => one.stage === stage && !taken.has(one.cluster));
  children.push(...requeued.map((one) => requeuedNode(seen, one)));
  const known = new Set([...taken, ...run.requeued.map((one) => one.cluster)]);
  if (stage >= run.stage) {
    for (const cluster of planned?.requeued ?? []) if (!known.has(cluster)) children.push(putOffNode(seen, cluster));
  }
  children.push(...stageGateNodes(run, stage));
  children.push(...besideNodes(run, stage));
  const joined = (run.joined ?? []).filter((one) => one.stage === stage).length;
  const clusters = (planned?.clusters.length ?? 0) + (planned?.requeued.length ?? 0) + joined;
  const done = countDone(batches);
  return {
    kind: "stage",
    name: `${stage + 1} ${planned?.name ?? ""}`,
    ...stageStatus(run, stage, batches),
    info: clusters === 0 ? "no clusters" : `${done}/${clusters} clusters`,
    children,
    folded: `${batches.length + later.length} ${batches.length + later.length === 1 ? "batch" : "batches"}`,
  };
}

function stageStatus(run: Run, stage: number, batches: readonly Batch[]): Pick<TreeNode, "mark" | "status" | "since" | "state"> {
  const failed = batches.some((batch) => batch.targets.some((target) => target.phase === "Failed"));
  if (stage < run.stage) {
    const since = batches.at(-1)?.settledAt ?? batches.at(-1)?.since;
    const settled = failed ? mark("⚠", "warn") : mark("✔", "good");
    return { mark: settled, status: "Settled", state: "done", ...(since === undefined ? {} : { since }) };
  }
  if (stage > run.stage || (batches.length === 0 && run.phase === "Pending")) {
    return { mark: mark("○", "dim"), status: isEnded(run) ? "Not reached" : "Pending", state: "later" };
  }
  const since = batches[0]?.since;
  return { mark: RUN_MARKS[run.phase], status: run.phase, state: "now", ...(since === undefined ? {} : { since }) };
}

/** Clusters of one stage, or of none, that stand beside the batches. */
function besideNodes(run: Run, stage: number | undefined): TreeNode[] {
  const rows = besides(run).filter((one) => one.stage === stage);
  return rows.map(({ cluster, status, phase, since, why }) => {
    const node = { kind: "cluster" as const, name: shortName(cluster), mark: TARGET_MARKS[phase], status, since, info: why };
    return { ...node, children: [], state: "now" as const, folded: "" };
  });
}

/** Clusters of these batches whose every target is confirmed. */
function countDone(batches: readonly Batch[]): number {
  const phases = new Map<string, boolean>();
  for (const batch of batches) {
    if (batch.phase === "Closed") continue;
    for (const { cluster, phase } of batch.targets) {
      // Put off to a later batch, which counts.
      if (phase !== "Requeued" && phase !== "RolledBack") phases.set(cluster, (phases.get(cluster) ?? true) && phase === "Baked");
    }
  }
  return [...phases.values()].filter(Boolean).length;
}

const NAMES: Partial<Record<Batch["kind"], string>> = { CatchUp: "catch-up batch", Hotfix: "hotfix batch", Revert: "revert batch" };

function batchNode(seen: Seen, batch: Batch): TreeNode {
  const failed = batch.targets.some((target) => target.phase === "Failed");
  const here = shownIn(seen.run, batch);
  const clusters = Map.groupBy(here, (target) => target.cluster);
  const over = batch.phase === "Settled" || batch.phase === "Closed";
  const info: string[] = [];
  if (batch.pull !== undefined) info.push(`PR #${batch.pull.number}`);
  if (batch.attempt > 1) info.push(`attempt ${batch.attempt}`);
  if (batch.phase === "Settled" && batch.merged !== undefined) info.push(`merged ${batch.merged.commit.slice(0, 7)}`);
  if (!over) info.push(sentenceOf(batch.why, seen.run));
  else if (here.length < batch.targets.length && here.length === 0 && !isMidStep(batch))
    info.push("its clusters were put to the stage's end");
  return {
    kind: "batch",
    name: `${NAMES[batch.kind] ?? `batch ${batch.ofStage}`}${stepWords(batch)}`,
    mark: failed && batch.phase === "Settled" ? mark("⚠", "warn") : BATCH_MARKS[batch.phase],
    status: batch.phase,
    since: batch.since,
    info: info.join(" · "),
    children: [...[...clusters].map(([cluster, targets]) => clusterNode(seen, cluster, targets, over)), ...batchGateNodes(seen.run, batch)],
    state: over ? "done" : "now",
    folded: `${clusters.size} ${clusters.size === 1 ? "cluster" : "clusters"}`,
  };
}

function clusterNode(seen: Seen, cluster: string, targets: readonly BatchTarget[], over: boolean): TreeNode {
  const worst = targets.toSorted((a, b) => WORST_FIRST.indexOf(a.phase) - WORST_FIRST.indexOf(b.phase))[0];
  const phase = worst?.phase ?? "Pending";
  return {
    kind: "cluster",
    name: shortName(cluster),
    mark: TARGET_MARKS[phase],
    status: worst === undefined ? phase : phaseWord(worst),
    ...(worst === undefined ? {} : { since: worst.since }),
    info: "",
    children: targets.map((target) => applicationNode(seen, target)),
    state: over || OVER.has(phase) ? "done" : "now",
    folded: targets.length === 1 ? "" : `${targets.length} Applications`,
  };
}

function applicationNode({ live }: Seen, target: BatchTarget): TreeNode {
  const seen = live.get(target.key);
  const why = target.phase === "Baked" ? "" : target.why;
  return {
    kind: "application",
    name: target.application,
    mark: TARGET_MARKS[target.phase],
    status: phaseWord(target),
    since: target.since,
    info: [seen, why].filter((part) => part !== undefined && part !== "").join(" · "),
    children: rolloutNodes(target),
    state: OVER.has(target.phase) ? "done" : "now",
    folded: "",
  };
}

function plannedBatchNode(seen: Seen, batch: PlannedBatch, number: number): TreeNode {
  const byCluster = Map.groupBy(batch.targets, (target) => target.cluster);
  return {
    kind: "batch",
    name: `batch ${number}`,
    ...pending(seen.run),
    info: "",
    children: batch.clusters.map((cluster) => plannedClusterNode(seen, cluster, byCluster.get(cluster) ?? [])),
    state: "later",
    folded: `${batch.clusters.length} ${batch.clusters.length === 1 ? "cluster" : "clusters"}`,
  };
}

function plannedClusterNode({ run }: Seen, cluster: string, targets: readonly PlannedTarget[]): TreeNode {
  const skipped = run.skipped.find((one) => one.cluster === cluster);
  const state = skipped === undefined ? pending(run) : { mark: TARGET_MARKS.Skipped, status: "Skipped" };
  const children = targets.map((target): TreeNode => {
    return { kind: "application", name: target.application, ...state, info: "", children: [], state: "later", folded: "" };
  });
  return {
    kind: "cluster",
    name: shortName(cluster),
    ...state,
    info: sentenceOf(skipped?.why ?? "", run),
    children,
    state: "later",
    folded: "",
  };
}

function pending(run: Run): Pick<TreeNode, "mark" | "status"> {
  return { mark: TARGET_MARKS.Pending, status: isEnded(run) ? "Not reached" : "Pending" };
}

/** When it is tried, and how often that was in vain; nothing of either where the run is over. */
function turnOf({ run, now }: Seen, one: Requeued): string[] {
  if (awaitsBatches(run, one)) return ["after the stage's batches"];
  const looks = one.attempts === 1 ? "1 look" : `${one.attempts} looks`;
  if (one.failed === true) return ["given up", looks];
  return isEnded(run) ? [looks] : [`next look ${within(one.nextAt, now)}`, looks];
}

function requeuedNode(seen: Seen, one: Requeued): TreeNode {
  return {
    kind: "cluster",
    name: shortName(one.cluster),
    mark: one.failed === true ? TARGET_MARKS.Failed : TARGET_MARKS.Requeued,
    status: one.failed === true ? "Failed" : "Requeued",
    since: one.since,
    info: [...turnOf(seen, one), one.why].join(" · "),
    children: [],
    state: "now",
    folded: "",
  };
}

function putOffNode({ run }: Seen, cluster: string): TreeNode {
  const mark = isEnded(run) ? TARGET_MARKS.Pending : TARGET_MARKS.Requeued;
  const status = isEnded(run) ? "Not reached" : "Requeued";
  return { kind: "cluster", name: shortName(cluster), mark, status, info: "at the stage's end", children: [], state: "later", folded: "" };
}
