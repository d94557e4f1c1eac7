import type { Batch, Run } from "../../run/state/run.ts";
import { type GateLine, gatesOfBatch, gatesOfStage } from "../run/analysis.ts";
import type { TreeNode } from "./tree-marks.ts";
import { type Mark, mark } from "./tree-marks.ts";

const MARKS: Record<GateLine["tone"], Mark> = {
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

function gateNode({ what, state, tone, measured, why, since, over }: GateLine): TreeNode {
  return {
    kind: "gate",
    name: what,
    mark: MARKS[tone],
    status: state,
    since,
    info: [measured, tone === "good" ? "" : why].filter((part) => part !== "").join(" · "),
    children: [],
    state: over && (tone === "good" || tone === "none") ? "done" : "now",
    folded: "",
  };
}
