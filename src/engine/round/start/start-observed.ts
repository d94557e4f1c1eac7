import type { Release } from "../../../core/plan/plan-types.ts";
import { planComment } from "../../../core/report/plan/plan-comment.ts";
import { releaseName } from "../../../core/report/words.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { makePlan } from "../../resolve/make-plan.ts";
import type { RepoContext } from "../context.ts";
import type { RepoMemory } from "../memory.ts";

/** A comment that a round leaves on a PR besides those of runs. */
export interface Notice {
  pull: number;
  body: string;
}

/**
 * Under `mode: Observe` a merged release starts no run: its PR says what a run would have opened. undefined: there is no PR, or nothing can be
 * planned now; the comment from before the merge then stands.
 */
export async function observedNotice(
  context: RepoContext,
  memory: RepoMemory,
  rollout: Rollout,
  release: Release,
  input: { pull: number | undefined; before: Readonly<Record<string, string>>; base: string; baseBranch: string },
): Promise<Notice | undefined> {
  if (input.pull === undefined) return undefined;
  const made = await makePlan(context, rollout, release, memory.commits.snapshot(input.base), input.baseBranch);
  if (!made.ok) return undefined;
  return { pull: input.pull, body: planComment(rollout, made.plan, releaseName(input.before), { merged: true }) };
}
