import { problemsComment } from "../report/plan-comment.ts";
import { runComment } from "../report/run-comment.ts";
import type { Run } from "../rollout/run.ts";
import type { Advanced } from "../rollout/world.ts";
import type { RepoContext } from "./context.ts";
import type { PlanProblem } from "./make-plan.ts";
import type { RepoMemory } from "./memory.ts";

/** Marks the one comment of ours on a release PR, by rollout. */
export function stickyMarker(rollout: string): string {
  return `stagecoach:rollout:${rollout}`;
}

/** The comment follows transitions at once, and mere observations this often. */
const QUIET_MS = 15_000;

/** Brings the release PR's comment up to date. A trouble with the comment never holds a run. */
export async function publishRun(context: RepoContext, memory: RepoMemory, advanced: Advanced<Run>): Promise<void> {
  const { run } = advanced;
  if (run.trigger.pull === undefined) return;
  const now = context.clock.now();
  const key = `${run.rollout} ${run.trigger.pull}`;
  const last = memory.comments.get(key);
  if (advanced.change !== "transition" && last !== undefined && now - last.at < QUIET_MS) return;
  if (advanced.change === "none" && last !== undefined) return;
  await send(context, memory, key, run.trigger.pull, stickyMarker(run.rollout), runComment(run, now));
}

export async function publishRefusal(
  context: RepoContext,
  memory: RepoMemory,
  refused: { pull: number | undefined; problems: readonly PlanProblem[] },
): Promise<void> {
  if (refused.pull === undefined) {
    context.log.warn({ problems: refused.problems.map((p) => p.message) }, "a release cannot start");
    return;
  }
  const body = problemsComment(refused.problems);
  await send(context, memory, `refused ${refused.pull}`, refused.pull, "stagecoach:refused", body);
}

async function send(context: RepoContext, memory: RepoMemory, key: string, pull: number, marker: string, body: string): Promise<void> {
  if (memory.comments.get(key)?.body === body) return;
  try {
    await context.forge.stickyComment(pull, marker, body);
    memory.comments.set(key, { body, at: context.clock.now() });
  } catch (error) {
    context.log.warn({ pull, error: String(error) }, "the comment could not be brought up to date");
  }
}
