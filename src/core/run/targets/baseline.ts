import { type Draft, mapTargets, touchTarget } from "../state/draft.ts";
import type { BatchPhase, BatchTarget } from "../state/run.ts";

/** From bad to worse. What else may be wrong has no order: it was there before, or it was not. */
const HEALTH: readonly string[] = ["Missing", "Degraded", "Unknown"];
/** What keeps Argo CD from seeing any change. */
const BLIND: readonly string[] = ["Unknown", "SyncUnknown", "ClusterUnreachable", "ComparisonError", "InvalidSpecError", "UnknownError"];

/**
 * Under `baseline: Tolerate`: what is wrong with the targets of a batch that is being proposed. Where its pull request turns out to be
 * merged already, what is seen now is of after the change.
 */
export function noteBaselines(draft: Draft): void {
  eachUnmerged(draft, ["Proposing"], (target, healthIssues) => {
    if (healthIssues.length === 0) return touchTarget(target, { baseline: undefined });
    return target.baseline?.join() === healthIssues.join() ? target : touchTarget(target, { baseline: [...healthIssues] });
  });
}

/**
 * Those that got well before the change are held to it. Asked once this round's pull requests are known, and of those alone that
 * nobody may have merged yet: what takes the change is Progressing, which is no illness, before we hear of the merge.
 */
export function forgetBaselines(draft: Draft): void {
  eachUnmerged(draft, ["Open"], (target, healthIssues) =>
    healthIssues.length === 0 ? touchTarget(target, { baseline: undefined }) : target,
  );
}

function eachUnmerged(
  draft: Draft,
  phases: readonly BatchPhase[],
  edit: (target: BatchTarget, healthIssues: readonly string[]) => BatchTarget,
): void {
  if (draft.run.spec.baseline !== "Tolerate") return;
  for (const batch of draft.run.batches) {
    if (batch.merged !== undefined || batch.intention !== undefined || !phases.includes(batch.phase)) continue;
    if (draft.world.pulls.get(batch.number)?.state === "merged") continue;
    mapTargets(draft, batch.number, (target) => {
      const healthIssues = draft.world.targets.get(target.key)?.healthIssues;
      return healthIssues === undefined ? target : edit(target, healthIssues);
    });
  }
}

/** What a failed target was before, where it is no worse now: docs/spec.md §9.18 has it outside the budget. undefined: it counts. */
export function excuse(draft: Draft, target: BatchTarget): readonly string[] | undefined {
  const before = target.baseline;
  const now = draft.world.targets.get(target.key)?.healthIssues;
  if (draft.run.spec.baseline !== "Tolerate" || before === undefined || now === undefined) return undefined;
  if (isWorse(before, now)) return undefined;
  // A change that never arrived is excused by what kept it from arriving only.
  const blind = now.some((sign) => BLIND.includes(sign));
  if (target.firstSeenAt === undefined && !blind) return undefined;
  return before;
}

/** Whether something is wrong that was not, or health is worse than it was. */
export function isWorse(before: readonly string[], now: readonly string[]): boolean {
  const rank = (signs: readonly string[]) => Math.max(-1, ...signs.map((sign) => HEALTH.indexOf(sign)));
  if (rank(now) > rank(before)) return true;
  return now.some((sign) => !HEALTH.includes(sign) && !before.includes(sign));
}
