import { lintAnalyses } from "../../core/analysis/lint.ts";
import { defined } from "../../core/base/defined.ts";
import { type RepoFiles, readOrNull } from "../../core/base/repo-files.ts";
import { nearPath } from "../../core/base/slip.ts";
import { plan } from "../../core/plan/plan.ts";
import type { Plan, Release } from "../../core/plan/plan-types.ts";
import type { Problem } from "../../core/reasons/problems/problem.ts";
import { parseRepoConfig } from "../../core/spec/parse/config.ts";
import { locateInRollout } from "../../core/spec/parse/locate.ts";
import { SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { nearFolder } from "./copies.ts";
import { type Resolved, type ResolveInput, resolveTargets } from "./targets.ts";

interface PlanInput extends Omit<ResolveInput, "readFile" | "release"> {
  /** Left out: there is none that could be filled in, so the clusters are planned, not the edits. */
  release?: Release;
  files: RepoFiles;
  /** Which engine measures; `unknown`: nobody says. Left out: analyses are not looked at. */
  analyses?: { builtin: boolean; unknown?: true };
}

interface PlannedOver extends Resolved {
  /** Absent where there are errors. */
  plan?: Plan;
}

/**
 * Plans a release over Applications, clusters and files that are at hand: the planner of the server, of the CLI and of onboarding,
 * which differ in where they take these from. All that is wrong is a problem with its place; the plan's warnings are in the plan.
 */
export function planOver(input: PlanInput): PlannedOver {
  const { rollout, release = NO_RELEASE, files, analyses } = input;
  const fillable = input.release === undefined ? { ...rollout, pins: [] } : rollout;
  const resolved = resolveTargets({ ...input, rollout: fillable, release, readFile: (path) => files.read(path) });
  const measured = analyses === undefined ? [] : lintAnalyses(rollout, files, analyses);
  const made = planResolved(rollout, release, resolved, files);
  const problems = [
    ...resolved.problems.map((problem) => withNear(problem, files)),
    ...measured.map(place),
    ...(made.ok ? [] : made.problems.map(place)),
  ];
  const failed = problems.some(({ severity }) => severity === "error");
  return { ...resolved, problems, ...defined({ plan: made.ok && !failed ? made.plan : undefined }) };

  function place(problem: Problem): Problem {
    return locateIn(rollout, files, problem);
  }
}

const NO_RELEASE: Release = { values: {}, attempt: 1 };

function planResolved(
  rollout: Rollout,
  release: Release,
  { clusters, fleet, targets }: Resolved,
  files: RepoFiles,
): ReturnType<typeof plan> {
  const { limits } = parseRepoConfig(readOrNull(files, SETTINGS_FILE), SETTINGS_FILE).bounds;
  return plan({ rollout, release, clusters, fleet, targets, limits });
}

/** The problem at its line, where it is one of the rollout's own file. */
export function locateIn(rollout: Rollout, files: RepoFiles, problem: Problem): Problem {
  return problem.file === rollout.file ? locateInRollout(problem, rollout, (path) => readOrNull(files, path)) : problem;
}

/** A pin's file that is not there, with the one that was most likely meant; or it is a directory. */
export function withNear<T extends object>(problem: T, files: RepoFiles): T {
  if ("code" in problem && problem.code === "COPY_FOLDER" && "folder" in problem && "kind" in problem && problem.kind === "Missing")
    return { ...problem, ...defined({ near: nearFolder(String(problem.folder), files.paths()) }) };
  if (!("code" in problem && problem.code === "PIN_FILE_MISSING" && "pinFile" in problem)) return problem;
  const [pinFile, paths] = [String(problem.pinFile), files.paths()];
  if (paths.some((path) => path.startsWith(`${pinFile}/`))) return { ...problem, isFolder: true };
  return { ...problem, ...defined({ near: nearPath(pinFile, paths) }) };
}
