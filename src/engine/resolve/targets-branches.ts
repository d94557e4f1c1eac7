import type { Release } from "../../core/plan/plan-types.ts";
import { VERSION } from "../config-repo/release.ts";
import { whyNoBranch } from "../round/observe/branch-heads.ts";
import type { BranchPlaces } from "./branch-release.ts";
import type { Draft } from "./draft.ts";
import type { ProblemList, TargetProblem } from "./targets-problems.ts";

/** Puts the commits into branch edits: where each branch is, and the release commit. A pin without either is a problem. */
export function placeBranches(
  index: number,
  drafts: readonly Draft[],
  release: Release,
  { release: to, heads }: BranchPlaces,
  problems: ProblemList,
): void {
  for (const draft of drafts) {
    const edit = draft.edits[index];
    if (edit === undefined) continue;
    const from = heads.get(edit.path);
    const problem = to === undefined ? noCommit(release) : from === undefined ? noBranch(edit.path, index) : undefined;
    if (problem !== undefined) problems.add(problem, draft.seen.view.name);
    draft.edits[index] = to === undefined || from === undefined ? undefined : { ...edit, from, to };
  }
}

function noCommit({ values }: Release): TargetProblem {
  return { code: "RELEASE_COMMIT", version: values[VERSION], path: ["spec", "release"] };
}

function noBranch(branch: string, index: number): TargetProblem {
  const path = ["spec", "pins", index, "branch"];
  const why = whyNoBranch(branch);
  return why === undefined ? { code: "BRANCH_MISSING", branch, path } : { code: "BRANCH_NAME", said: why, path };
}
