import type { Path, Problem, ProblemReason } from "../../core/reasons/problems/problem.ts";
import { locateInRollout } from "../../core/spec/parse/locate.ts";
import type { Rollout } from "../../core/spec/rollout.ts";

/** A problem of one target; those that differ in nothing but the target, or have one cause, are told once. */
export type TargetProblem = ProblemReason & {
  severity?: "warning";
  /** The place in a pin's file that is meant. */
  seenAt?: string;
  /** Path in the rollout, e.g. `spec.pins[0].path`. */
  path: Path;
  /** The cause stands at `path`: of all targets with this problem there the first is told, as an example. */
  oneCause?: true;
};

export interface ProblemList {
  add(problem: TargetProblem, target: string): void;
  all(): Problem[];
}

/** Collects problems of many targets. `read` gives the text of the rollout's file, for line and column. */
export function collectProblems(rollout: Rollout, read: (file: string) => string | null): ProblemList {
  const found = new Map<string, { problem: Problem; data: string; targets: string[]; differ: boolean }>();
  return {
    add({ severity, path, oneCause, ...reason }, target) {
      const data = JSON.stringify(reason);
      const place = `${reason.code}\n${path.join("\n")}`;
      const key = oneCause === true ? place : `${place}\n${data}`;
      const known = found.get(key);
      if (known === undefined) {
        const problem: Problem = {
          ...(reason as ProblemReason),
          severity: severity ?? "error",
          file: rollout.file,
          line: 1,
          column: 1,
          path,
        };
        found.set(key, { problem, data, targets: [target], differ: false });
        return;
      }
      if (known.data !== data) known.differ = true;
      if (known.targets.at(-1) !== target) known.targets.push(target);
    },
    all() {
      return [...found.values()].map(({ problem, targets, differ }) => {
        const whole = { ...problem, targets: { names: targets, example: differ } };
        return locateInRollout(whole, rollout, read);
      });
    },
  };
}
