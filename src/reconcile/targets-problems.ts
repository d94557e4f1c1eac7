import { locateInRollout } from "../rollout/parse-locate.ts";
import type { Problem } from "../rollout/parse-problem.ts";
import type { Rollout } from "../rollout/rollout.ts";

/** Where a repo's own settings stand. */
export const SETTINGS_FILE = ".github/stagecoach.yaml";

/** A problem of one target; those that differ in nothing but the target are told once. */
export interface TargetProblem {
  code: string;
  severity?: "warning";
  message: string;
  hint: string;
  /** Path in the rollout, e.g. `spec.pins[0].path`. */
  path: (string | number)[];
  /** A place in another file, where that is the better one. */
  at?: { file: string; line: number; column: number };
}

export interface ProblemList {
  add(problem: TargetProblem, target: string): void;
  all(): Problem[];
}

/** Collects problems of many targets. `read` gives the text of the rollout's file, for line and column. */
export function collectProblems(rollout: Rollout, read: (file: string) => string | null): ProblemList {
  const found = new Map<string, { problem: TargetProblem; targets: string[] }>();
  return {
    add(problem, target) {
      const key = `${problem.code}\n${problem.message}\n${problem.path.join("\n")}`;
      const known = found.get(key);
      if (known === undefined) found.set(key, { problem, targets: [target] });
      else if (known.targets.at(-1) !== target) known.targets.push(target);
    },
    all() {
      return [...found.values()].map(({ problem, targets }) => {
        const { code, message, hint, path, at } = problem;
        const whole = {
          code,
          severity: problem.severity ?? ("error" as const),
          message: `${message} (${names(targets)})`,
          hint,
          file: rollout.file,
          line: 1,
          column: 1,
          path,
        };
        return at === undefined ? locateInRollout(whole, rollout, read, SETTINGS_FILE) : { ...whole, ...at };
      });
    },
  };
}

/** Names as a sentence has room for. */
export function names(all: readonly string[]): string {
  return all.length <= 3 ? all.join(", ") : `${all.slice(0, 3).join(", ")} and ${all.length - 3} more`;
}
