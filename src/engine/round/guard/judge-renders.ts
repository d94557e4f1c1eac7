/** What Applications become of a merge, by their specs without it and with it: those of the batch may change where they are, and nothing else. */
import { compareRenders } from "../../../core/appset/compare.ts";
import type { RenderResult } from "../../../core/appset/types.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import type { GuardProblem } from "./edits.ts";

/** `applications`: those of the batch. */
export function judgeRenders(applications: readonly string[], before: RenderResult, after: RenderResult): GuardProblem | undefined {
  const { removed, added, changed, relabelled } = compareRenders(before, after);
  if (removed.length > 0) return { why: engineReason("GUARD_DELETES", { applications: removed }), retry: false };
  if (added.length > 0) return { why: engineReason("GUARD_CREATES", { applications: added }), retry: false };
  for (const { name, paths } of changed) {
    if (!applications.includes(name)) return { why: engineReason("GUARD_CHANGES", { application: name }), retry: false };
    const moved = paths.find((path) => /^(metadata\.name|spec\.(destination|project))\b/.test(path));
    if (moved !== undefined) return { why: engineReason("GUARD_MOVES", { application: name, field: moved }), retry: false };
  }
  for (const { name, paths } of relabelled) {
    const [field = ""] = paths;
    if (!applications.includes(name)) return { why: engineReason("GUARD_CHANGES", { application: name, field }), retry: false };
    // It says what goes when the Application does: nothing that a version changes.
    const kept = paths.find((path) => path.startsWith("metadata.finalizers"));
    if (kept !== undefined) return { why: engineReason("GUARD_MOVES", { application: name, field: kept }), retry: false };
  }
  return undefined;
}
