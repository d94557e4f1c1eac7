import { BoundedMap } from "../../../core/base/bounded.ts";
import { type StageDeployment, stageDeployments } from "../../../core/report/run/stage-deployment.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import { lacksPermission, type Permissions } from "../permissions.ts";
import type { Comments } from "./send-comment.ts";

/** Puts one deployment a stage, and its status where it differs. In the background: no trouble with it holds a run. */
export type PutDeployments = (run: Run) => void;

const MOST_KEPT = 1000;

export function openDeployments(
  { forge, log }: Pick<RepoContext, "forge" | "log">,
  permissions: Permissions,
  comments: Comments,
): PutDeployments {
  /** `environment task` → what its deployment last said. */
  const kept = new BoundedMap<string, string>(MOST_KEPT);
  /** Of which nothing is owed: most rounds change nothing of a run, and leave it the same object. */
  let done = new WeakSet<Run>();

  function forget(key: string): void {
    kept.delete(key);
    done = new WeakSet();
  }

  async function put(report: StageDeployment, key: string, state: string): Promise<void> {
    if (kept.get(key) !== state) return;
    try {
      if (permissions.isForbidden("deployments")) {
        forget(key);
        return;
      }
      await forge.putDeployment(report);
    } catch (error) {
      forget(key);
      if (lacksPermission(error)) {
        permissions.forbid("deployments", error);
        return;
      }
      log.warn({ environment: report.environment, error: String(error) }, "a deployment could not be reported");
    }
  }

  return (run) => {
    if (permissions.isForbidden("deployments") || done.has(run)) return;
    done.add(run);
    for (const report of stageDeployments(run)) {
      const key = `${report.environment} ${report.task}`;
      const state = `${report.state} ${report.statusDescription}`;
      if (kept.get(key) === state) continue;
      kept.set(key, state);
      // One after the other, as comments of one PR are.
      comments.follow(0, () => put(report, key, state));
    }
  };
}
