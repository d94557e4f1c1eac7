import { ForgeError } from "../../../adapters/forge/port.ts";
import { BoundedMap, BoundedSet } from "../../../core/base/bounded.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";

/** Labels of open batch PRs, and whom they ask for a review. */
export interface Labels {
  /** Sets them once for each PR that waits for something in its turn: one that merges by itself is gone before anybody could look. Somebody or a team that GitHub does not know never holds a run. */
  set(run: Run): Promise<void>;
  /** What people are told on the run's page of what could not be set. */
  remarkOf(rollout: string): AnyReason | undefined;
}

const MOST_KEPT = 1000;

export function openLabels({ forge, log }: Pick<RepoContext, "forge" | "log">): Labels {
  const labelled = new BoundedSet<number>(MOST_KEPT);
  const remarks = new BoundedMap<string, AnyReason>(MOST_KEPT);
  return {
    async set(run) {
      const { labels, reviewers } = run.spec.delivery;
      if (isEnded(run) || labels.length + reviewers.teams.length + reviewers.users.length === 0) return;
      for (const { pull, phase, ahead } of run.batches) {
        const number = pull?.number ?? 0;
        if (number === 0 || labelled.has(number) || phase !== "Open" || ahead === true) continue;
        labelled.add(number);
        try {
          await forge.labelPull(number, { labels, ...reviewers });
        } catch (error) {
          if (!(error instanceof ForgeError) || (error.kind !== "Invalid" && error.kind !== "Forbidden")) labelled.delete(number);
          else remarks.set(run.rollout, engineReason("LABELS_NOT_SET", { number, said: error.message }));
          log.warn({ pull: number, error: String(error) }, "labels or reviewers of a pull request could not be set");
        }
      }
    },
    remarkOf: (rollout) => remarks.get(rollout),
  };
}
