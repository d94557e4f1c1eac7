import type { Problem } from "../../core/reasons/problems/problem.ts";
import type { Rollout } from "../../core/spec/rollout.ts";

/**
 * `delivery.base` may only name the repo's default branch: releases, rollouts and pins are read from one branch, so that the
 * commit a run works on is one commit. Another branch is refused wherever it is known what the default one is.
 */
export function otherBase(rollout: Rollout, defaultBranch: string | undefined): Problem[] {
  const { base } = rollout.delivery;
  if (base === undefined || defaultBranch === undefined || base === defaultBranch) return [];
  return [
    {
      code: "BASE_NOT_DEFAULT",
      base,
      defaultBranch,
      severity: "error",
      file: rollout.file,
      line: 1,
      column: 1,
      path: ["spec", "delivery", "base"],
    },
  ];
}
