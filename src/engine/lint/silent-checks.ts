import type { Finding } from "../../core/reasons/problem.ts";
import type { Workflow } from "../config-repo/workflow-triggers.ts";
import type { Gathered } from "./gathered.ts";

/** GitHub Actions as an App of github.com; on a server of one's own it has another id, and then nothing is said. */
const ACTIONS = 15_368;

/**
 * A required check whose workflow is filtered away by what batches change is never reported, and GitHub waits for it for ever.
 * Of checks that no workflow of this repo reports nothing is known.
 */
export function silentChecks({ rollout, edits, required, workflows, base }: Gathered): Finding[] {
  if (required === undefined || workflows === undefined || base === undefined) return [];
  const findings: Finding[] = [];
  for (const { context, app } of required) {
    if (context.startsWith("stagecoach/") || (app !== undefined && app !== ACTIONS)) continue;
    const own = workflows.filter((workflow) => workflow.reports(context));
    const silent = own.length === 0 ? [] : silentFor(own, { base, branch: branchOf(rollout.name), edits });
    if (silent.length === 0) continue;
    findings.push({
      code: "SILENT_CHECK",
      check: context,
      changed: silent,
      workflows: own.map(({ file }) => file),
      severity: "warning",
      path: ["spec", "pins"],
    });
  }
  return findings;
}

interface Batches {
  base: string;
  branch: string;
  edits: Gathered["edits"];
}

/** Files of the first target whose pull request, alone, would make none of these workflows run. */
function silentFor(workflows: readonly Workflow[], { base, branch, edits }: Batches): string[] {
  for (const own of edits.values()) {
    const files = [...new Set(own.flatMap((edit) => (edit.kind === "branch" ? [] : [edit.file])))];
    if (files.length > 0 && !workflows.some((workflow) => workflow.runsFor({ files, base, branch }))) return files;
  }
  return [];
}

/** As a batch's branch is named: see src/core/run/state/branch-name.ts. */
function branchOf(rollout: string): string {
  return `stagecoach-run/${rollout}/1/1-1-1`;
}
