import type { Batch, BatchTarget, Run } from "../../run/state/run.ts";
import { rolloutDetails, rolloutPhase } from "../rollouts.ts";
import { type GateLine, gatesOfBatch, gatesOfStage } from "../run/analysis.ts";
import { line, type Mark, mark, type TreeNode } from "./tree-marks.ts";

const GATE_MARKS: Record<GateLine["tone"], Mark> = {
  good: mark("✔", "good"),
  busy: mark("◌", "busy"),
  wait: mark("॥", "warn"),
  bad: mark("✖", "bad"),
  none: mark("⊘", "dim"),
};

/** What was measured of a batch, below it. */
export function batchGateNodes(run: Run, batch: Batch): TreeNode[] {
  return gatesOfBatch(run, batch).map(gateNode);
}

/** What was measured and asked of a stage as a whole, below it. */
export function stageGateNodes(run: Run, stage: number): TreeNode[] {
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
export function rolloutNodes({ rollouts = [] }: Pick<BatchTarget, "rollouts">): TreeNode[] {
  return rollouts.map((rollout) => {
    const status = rolloutPhase(rollout);
    return line("rollout", rollout.name, { mark: ROLLOUT_MARKS[status] ?? mark("○", "dim"), status, info: rolloutDetails(rollout) });
  });
}
