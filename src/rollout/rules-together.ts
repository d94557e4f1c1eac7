import type { Problem } from "./parse-problem.ts";
import type { Rollout } from "./rollout.ts";

/** A rule that two rollouts of one repo break together. `problem` stands at the later one and names the other. */
export interface Clash {
  rollouts: [Rollout, Rollout];
  problem: Problem;
}

/**
 * What holds between the rollouts of a repo: each has a name of its own, and an ApplicationSet belongs to one of them only,
 * else they would undo each other's batches. Lines are found by the problem's path (`locateInRollout`).
 */
export function clashes(rollouts: readonly Rollout[]): Clash[] {
  return [...sharedNames(rollouts), ...sharedSources(rollouts)];
}

function problemOf(rollout: Rollout, code: string, message: string, hint: string, path: string[]): Problem {
  return { code, severity: "error", message, hint, file: rollout.file, line: 1, column: 1, path };
}

function sharedNames(rollouts: readonly Rollout[]): Clash[] {
  const first = new Map<string, Rollout>();
  const found: Clash[] = [];
  for (const rollout of rollouts) {
    const before = first.get(rollout.name);
    if (before === undefined) {
      first.set(rollout.name, rollout);
      continue;
    }
    const message = `rollout "${rollout.name}" is also in ${before.file}`;
    const problem = problemOf(rollout, "DUPLICATE_ROLLOUT", message, "give each rollout a name of its own", ["metadata", "name"]);
    found.push({ rollouts: [before, rollout], problem });
  }
  return found;
}

function sharedSources(rollouts: readonly Rollout[]): Clash[] {
  const first = new Map<string, Rollout>();
  const found: Clash[] = [];
  for (const rollout of rollouts) {
    const { kind, namespace, name, controlPlanes } = rollout.source;
    if (kind !== "ApplicationSet") continue;
    for (const plane of controlPlanes.length === 0 ? [""] : controlPlanes) {
      const key = `${plane}/${namespace}/${name}`;
      const before = first.get(key);
      if (before === undefined) {
        first.set(key, rollout);
        continue;
      }
      const message = `ApplicationSet ${namespace}/${name} belongs to rollout "${before.name}" (${before.file}) already`;
      const hint = "one ApplicationSet may belong to one rollout only; remove one of the two";
      found.push({
        rollouts: [before, rollout],
        problem: problemOf(rollout, "SOURCE_SHARED", message, hint, ["spec", "sourceRef", "name"]),
      });
      break;
    }
  }
  return found;
}
