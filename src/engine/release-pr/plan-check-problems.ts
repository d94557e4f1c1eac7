import type { Problem } from "../../core/reasons/problem.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { Project } from "../config-repo/project.ts";
import type { ReadRelease } from "../config-repo/release.ts";

/** Problems that a PR brings: those in files it changes, and those that the base does not have. */
export function newProblems(before: Project, after: Project, touched: readonly string[]): Problem[] {
  const files = new Set(touched);
  const old = new Set(before.problems.map(keyOf));
  return after.problems.filter((problem) => files.has(problem.file) || !old.has(keyOf(problem)));
}

/** Lines move with edits that have nothing to do with it. */
function keyOf({ line: _line, column: _column, path: _path, ...rest }: Problem): string {
  return JSON.stringify(rest);
}

/** A release that cannot be read, at its place. */
export function releaseProblem(rollout: Rollout, read: Extract<ReadRelease, { ok: false }>): Problem {
  const { file, why, line = 1, column = 1 } = read;
  return {
    code: "RELEASE_NOT_FOUND",
    ...why,
    severity: "error",
    file: file === "" ? rollout.file : file,
    line,
    column,
    path: ["spec", "release"],
  };
}
