import type { Problem } from "../../core/base/problem.ts";
import { locateInRollout } from "../../core/spec/parse/locate.ts";
import type { Rollout } from "../../core/spec/rollout.ts";

/** A problem of one target; those that differ in nothing but the target, or have one cause, are told once. */
export interface TargetProblem {
  code: string;
  severity?: "warning";
  message: string;
  hint: string;
  /** Path in the rollout, e.g. `spec.pins[0].path`. */
  path: (string | number)[];
  /** The cause stands at `path`: of all targets with this problem there the first is told, as an example. */
  oneCause?: true;
}

export interface ProblemList {
  add(problem: TargetProblem, target: string): void;
  all(): Problem[];
}

/** Collects problems of many targets. `read` gives the text of the rollout's file, for line and column. */
export function collectProblems(rollout: Rollout, read: (file: string) => string | null): ProblemList {
  const found = new Map<string, { problem: TargetProblem; targets: string[]; differ: boolean }>();
  return {
    add(problem, target) {
      const place = `${problem.code}\n${problem.path.join("\n")}`;
      const key = problem.oneCause === true ? place : `${place}\n${problem.message}`;
      const known = found.get(key);
      if (known === undefined) {
        found.set(key, { problem, targets: [target], differ: false });
        return;
      }
      if (known.problem.message !== problem.message) known.differ = true;
      if (known.targets.at(-1) !== target) known.targets.push(target);
    },
    all() {
      return [...found.values()].map(({ problem, targets, differ }) => {
        const { code, message, hint, path } = problem;
        const whole = {
          code,
          severity: problem.severity ?? ("error" as const),
          message: `${message} (${differ ? example(targets) : names(targets)})`,
          hint,
          file: rollout.file,
          line: 1,
          column: 1,
          path,
        };
        return locateInRollout(whole, rollout, read);
      });
    },
  };
}

/** The message is about the first only. */
function example([first = "", ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first}; the same for ${others.length} more`;
}

/** Names as a sentence has room for. */
export function names(all: readonly string[]): string {
  return all.length <= 3 ? all.join(", ") : `${all.slice(0, 3).join(", ")} and ${all.length - 3} more`;
}
