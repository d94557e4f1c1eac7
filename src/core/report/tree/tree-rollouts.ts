import type { BatchTarget, RolloutState } from "../../run/state/run.ts";
import { rolloutDetails, rolloutPhase } from "../rollouts.ts";
import type { TreeNode } from "./tree-marks.ts";
import { type Mark, mark } from "./tree-marks.ts";

const MARKS: Record<string, Mark> = {
  Healthy: mark("✔", "good"),
  Progressing: mark("◌", "busy"),
  Paused: mark("॥", "warn"),
  Degraded: mark("✖", "bad"),
};

/** The Argo Rollouts of a target, below its Application. */
export function rolloutNodes({ rollouts = [] }: Pick<BatchTarget, "rollouts">): TreeNode[] {
  return rollouts.map(rolloutNode);
}

function rolloutNode(rollout: RolloutState): TreeNode {
  const phase = rolloutPhase(rollout);
  return {
    kind: "rollout",
    name: rollout.name,
    mark: MARKS[phase] ?? mark("○", "dim"),
    status: phase,
    info: rolloutDetails(rollout),
    children: [],
    state: "now",
    folded: "",
  };
}
