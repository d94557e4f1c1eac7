import { count } from "../../base/count.ts";
import type { PlannedBatch, PlannedTarget } from "../../plan/plan-types.ts";
import { stepWords } from "../../plan/steps.ts";
import { type Batch, type BatchTarget, isEnded, type Requeued, type Run, type TargetPhase } from "../../run/state/run.ts";
import { isMidStep } from "../../run/state/steps.ts";
import { present } from "../markdown.ts";
import { placesOf, shownIn } from "../places.ts";
import { BATCH_NOUNS } from "../reasons/phrases.ts";
import { sentenceOf } from "../reasons/say.ts";
import { awaitsBatches } from "../requeued.ts";
import { rolloutDetails, rolloutPhase } from "../rollouts.ts";
import { type GateLine, gatesOfBatch, gatesOfStage } from "../run/analysis.ts";
import { besides } from "../run/membership.ts";
import { phaseWord, shortName } from "../words.ts";
import { BATCH_MARKS, line, type Mark, mark, RUN_MARKS, TARGET_MARKS, type TreeNode, within } from "./tree-marks.ts";

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
  const children = [...run.plan.stages.map((_, stage) => stageNode(seen, stage)), ...besideNodes(run, undefined)];
  return line("run", `${run.rollout} #${run.number}`, { mark: RUN_MARKS[run.phase], status: run.phase, since: run.since, children });
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
  const all = batches.length + later.length;
  return line("stage", `${stage + 1} ${planned?.name ?? ""}`, {
    ...stageStatus(run, stage, batches),
    info: clusters === 0 ? "no clusters" : `${done}/${clusters} clusters`,
    children,
    folded: all === 1 ? "1 batch" : `${all} batches`,
  });
}

function stageStatus(run: Run, stage: number, batches: readonly Batch[]): Pick<TreeNode, "mark" | "status" | "since" | "state"> {
  const failed = batches.some((batch) => batch.targets.some((target) => target.phase === "Failed"));
  if (stage < run.stage) {
    const since = batches.at(-1)?.settledAt ?? batches.at(-1)?.since;
    const settled = failed ? mark("⚠", "warn") : mark("✔", "good");
    return { mark: settled, status: "Settled", state: "done", since };
  }
  if (stage > run.stage || (batches.length === 0 && run.phase === "Pending")) {
    return { mark: mark("○", "dim"), status: isEnded(run) ? "Not reached" : "Pending", state: "later" };
  }
  return { mark: RUN_MARKS[run.phase], status: run.phase, state: "now", since: batches[0]?.since };
}

/** Clusters of one stage, or of none, that stand beside the batches. */
function besideNodes(run: Run, stage: number | undefined): TreeNode[] {
  const rows = besides(run).filter((one) => one.stage === stage);
  return rows.map(({ cluster, status, phase, since, why }) =>
    line("cluster", shortName(cluster), { mark: TARGET_MARKS[phase], status, since, info: why }),
  );
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

function batchNode(seen: Seen, batch: Batch): TreeNode {
  const failed = batch.targets.some((target) => target.phase === "Failed");
  const here = shownIn(seen.run, batch);
  const clusters = Map.groupBy(here, (target) => target.cluster);
  const over = batch.phase === "Settled" || batch.phase === "Closed";
  const allPutOff = here.length === 0 && batch.targets.length > 0 && !isMidStep(batch);
  const info = present(
    batch.pull && `PR #${batch.pull.number}`,
    batch.attempt > 1 && `attempt ${batch.attempt}`,
    batch.phase === "Settled" && batch.merged && `merged ${batch.merged.commit.slice(0, 7)}`,
    over ? allPutOff && "its clusters were put to the stage's end" : sentenceOf(batch.why, seen.run),
  );
  return line("batch", `${BATCH_NOUNS[batch.kind]}${batch.kind === "Planned" ? ` ${batch.ofStage}` : ""}${stepWords(batch)}`, {
    mark: failed && batch.phase === "Settled" ? mark("⚠", "warn") : BATCH_MARKS[batch.phase],
    status: batch.phase,
    since: batch.since,
    info: info.join(" · "),
    children: [...[...clusters].map(([cluster, targets]) => clusterNode(seen, cluster, targets, over)), ...batchGateNodes(seen.run, batch)],
    state: over ? "done" : "now",
    folded: count(clusters.size, "cluster"),
  });
}

function clusterNode(seen: Seen, cluster: string, targets: readonly BatchTarget[], over: boolean): TreeNode {
  const worst = targets.toSorted((a, b) => WORST_FIRST.indexOf(a.phase) - WORST_FIRST.indexOf(b.phase))[0];
  const phase = worst?.phase ?? "Pending";
  return line("cluster", shortName(cluster), {
    mark: TARGET_MARKS[phase],
    status: worst === undefined ? phase : phaseWord(worst),
    since: worst?.since,
    children: targets.map((target) => applicationNode(seen, target)),
    state: over || OVER.has(phase) ? "done" : "now",
    folded: targets.length === 1 ? "" : `${targets.length} Applications`,
  });
}

function applicationNode({ run, live }: Seen, target: BatchTarget): TreeNode {
  const why = target.phase === "Baked" ? "" : sentenceOf(target.why, run);
  return line("application", target.application, {
    mark: TARGET_MARKS[target.phase],
    status: phaseWord(target),
    since: target.since,
    info: present(live.get(target.key), why).join(" · "),
    children: rolloutNodes(target),
    state: OVER.has(target.phase) ? "done" : "now",
  });
}

function plannedBatchNode(seen: Seen, batch: PlannedBatch, number: number): TreeNode {
  const byCluster = Map.groupBy(batch.targets, (target) => target.cluster);
  return line("batch", `batch ${number}`, {
    ...pending(seen.run),
    children: batch.clusters.map((cluster) => plannedClusterNode(seen, cluster, byCluster.get(cluster) ?? [])),
    state: "later",
    folded: count(batch.clusters.length, "cluster"),
  });
}

function plannedClusterNode({ run }: Seen, cluster: string, targets: readonly PlannedTarget[]): TreeNode {
  const skipped = run.skipped.find((one) => one.cluster === cluster);
  const status = skipped === undefined ? pending(run) : { mark: TARGET_MARKS.Skipped, status: "Skipped" };
  const children = targets.map((target) => line("application", target.application, { ...status, state: "later" }));
  return line("cluster", shortName(cluster), { ...status, info: sentenceOf(skipped?.why ?? "", run), children, state: "later" });
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
  const status = one.failed === true ? "Failed" : "Requeued";
  const info = [...turnOf(seen, one), sentenceOf(one.why, seen.run)].join(" · ");
  return line("cluster", shortName(one.cluster), { mark: TARGET_MARKS[status], status, since: one.since, info });
}

function putOffNode({ run }: Seen, cluster: string): TreeNode {
  const status = isEnded(run) ? pending(run) : { mark: TARGET_MARKS.Requeued, status: "Requeued" };
  return line("cluster", shortName(cluster), { ...status, info: "at the stage's end", state: "later" });
}

const GATE_MARKS: Record<GateLine["tone"], Mark> = {
  good: mark("✔", "good"),
  busy: mark("◌", "busy"),
  wait: mark("॥", "warn"),
  bad: mark("✖", "bad"),
  none: mark("⊘", "dim"),
};

/** What was measured of a batch, below it. */
function batchGateNodes(run: Run, batch: Batch): TreeNode[] {
  return gatesOfBatch(run, batch).map(gateNode);
}

/** What was measured and asked of a stage as a whole, below it. */
function stageGateNodes(run: Run, stage: number): TreeNode[] {
  return gatesOfStage(run, stage).map(gateNode);
}

function gateNode({ what, state: status, tone, measured, why, since, over }: GateLine): TreeNode {
  const info = [measured, tone === "good" ? "" : why].filter((part) => part !== "").join(" · ");
  const state = over && (tone === "good" || tone === "none") ? "done" : "now";
  return line("gate", what, { mark: GATE_MARKS[tone], status, since, info, state });
}

const ROLLOUT_MARKS: Record<string, Mark> = {
  Healthy: mark("✔", "good"),
  Progressing: mark("◌", "busy"),
  Paused: mark("॥", "warn"),
  Degraded: mark("✖", "bad"),
};

/** The Argo Rollouts of a target, below its Application. */
function rolloutNodes({ rollouts = [] }: Pick<BatchTarget, "rollouts">): TreeNode[] {
  return rollouts.map((rollout) => {
    const status = rolloutPhase(rollout);
    return line("rollout", rollout.name, { mark: ROLLOUT_MARKS[status] ?? mark("○", "dim"), status, info: rolloutDetails(rollout) });
  });
}
