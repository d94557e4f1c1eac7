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
export function publishRun(context: RepoContext, memory: RepoMemory, advanced: Advanced<Run>): void {
  const { run } = advanced;
  if (run.trigger.pull === undefined) return;
  const now = context.clock.now();
  const key = `${run.rollout} ${run.trigger.pull}`;
  const last = memory.comments.get(key);
  if (advanced.change !== "transition" && last !== undefined && now - last.at < QUIET_MS) return;
  if (advanced.change === "none" && last !== undefined) return;
  send(context, memory, key, run.trigger.pull, stickyMarker(run.rollout), runComment(run, now));
}

export function publishRefusal(
  context: RepoContext,
  memory: RepoMemory,
  refused: { pull: number | undefined; problems: readonly PlanProblem[] },
): void {
  if (refused.pull === undefined) {
    context.log.warn({ problems: refused.problems.map((p) => p.message) }, "a release cannot start");
    return;
  }
  const body = problemsComment(refused.problems);
  send(context, memory, `refused ${refused.pull}`, refused.pull, "stagecoach:refused", body);
}

/**
 * Sends in the background, one after the other for a PR, and only the newest body of a comment: a round never waits for a
 * comment, and a burst of rounds is one edit.
 */
function send(context: RepoContext, memory: RepoMemory, key: string, pull: number, marker: string, body: string): void {
  if (memory.comments.get(key)?.body === body) return;
  const wanted = { body, at: context.clock.now() };
  memory.comments.set(key, wanted);
  const before = memory.publishing.get(pull) ?? Promise.resolve();
  const sending = before.then(async () => {
    if (memory.comments.get(key) !== wanted) return;
    try {
      await context.forge.stickyComment(pull, marker, body);
    } catch (error) {
      context.log.warn({ pull, error: String(error) }, "the comment could not be brought up to date");
      // Forgotten, so that the next round wants it again.
      if (memory.comments.get(key) === wanted) memory.comments.delete(key);
    }
  });
  memory.publishing.set(pull, sending);
}

/** Resolves when every comment under way is sent or given up. */
export async function published(memory: RepoMemory): Promise<void> {
  await Promise.all(memory.publishing.values());
}
