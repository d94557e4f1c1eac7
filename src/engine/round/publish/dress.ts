import { ForgeError } from "../../../adapters/forge/port.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { isEnded } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import { type RepoMemory, remark } from "../memory.ts";

/**
 * Labels of open batch PRs, and whom they ask for a review. Somebody or a team that GitHub does not know is told in the run's
 * comment and never holds a run.
 */
export async function labelPulls(context: RepoContext, memory: RepoMemory, run: Run): Promise<void> {
  const { labels, reviewers } = run.spec.delivery;
  if (isEnded(run) || labels.length + reviewers.teams.length + reviewers.users.length === 0) return;
  for (const batch of run.batches) {
    const number = batch.pull?.number;
    if (number === undefined || number === 0 || memory.dressed.has(number) || (batch.phase !== "Open" && batch.phase !== "Merging"))
      continue;
    memory.dressed.add(number);
    try {
      await context.forge.labelPull(number, { labels, ...reviewers });
    } catch (error) {
      if (!(error instanceof ForgeError) || (error.kind !== "Invalid" && error.kind !== "Forbidden")) memory.dressed.delete(number);
      else
        remark(
          memory,
          run.rollout,
          "dress",
          `#${number} could not be labelled or its reviewers asked as the rollout wants: ${error.message}`,
        );
      context.log.warn({ pull: number, error: String(error) }, "labels or reviewers of a pull request could not be set");
    }
  }
}
