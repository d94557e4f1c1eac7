import { posix } from "node:path";
import type { RepoFiles } from "../../core/base/repo-files.ts";
import type { Edit } from "../../core/plan/plan-types.ts";
import type { Finding } from "../../core/reasons/problems/problem.ts";

/** The file that holds a chart's dependencies, and the one that locks them. */
const LOCKS: Readonly<Record<string, string>> = { "Chart.yaml": "Chart.lock", "requirements.yaml": "requirements.lock" };

/**
 * Warns of charts whose dependencies a pin changes and a lock file holds. Helm compares the two (`helm dependency build`, which Argo CD runs),
 * so nothing would be rendered from the batch's commit. Called by `lint-outside.ts`.
 */
export function lockedCharts(edits: ReadonlyMap<string, readonly Edit[]>, files: Pick<RepoFiles, "paths">): Finding[] {
  const locks = new Set<string>();
  for (const { kind, file, path } of [...edits.values()].flat()) {
    const lock = LOCKS[posix.basename(file)];
    const locked = lock === undefined ? undefined : posix.join(posix.dirname(file), lock);
    if (kind === "value" && /^dependencies\[/.test(path) && locked !== undefined) locks.add(locked);
  }
  if (locks.size === 0) return [];
  const there = files.paths().filter((path) => locks.has(path));
  if (there.length === 0) return [];
  return [{ code: "CHART_LOCKED", locks: there.sort().slice(0, 5), of: there.length, severity: "warning", path: ["spec", "pins"] }];
}
