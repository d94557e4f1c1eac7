import type { DeploymentReport } from "../../../adapters/forge/port.ts";
import { stageDeployments } from "../../../core/report/run/stage-deployment.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { RepoContext } from "../context.ts";
import { keep, type RepoMemory } from "../memory.ts";
import { lacksPermission } from "../permissions.ts";

/** One deployment a stage, and its status where it differs. In the background: nothing waits for it, and no trouble with it holds a run. */
export function putDeployments(context: RepoContext, memory: RepoMemory, run: Run): void {
  for (const report of stageDeployments(run)) {
    const key = `${report.environment} ${report.task}`;
    const state = `${report.state} ${report.statusDescription}`;
    if (memory.permissions.isForbidden("deployments") || memory.deployments.get(key) === state) continue;
    keep(memory.deployments, key, state);
    // One after the other, as comments of one PR are.
    memory.comments.follow(0, () => put(context, memory, report, key, state));
  }
}

async function put(context: RepoContext, memory: RepoMemory, report: DeploymentReport, key: string, state: string): Promise<void> {
  if (memory.deployments.get(key) !== state) return;
  try {
    if (memory.permissions.isForbidden("deployments")) {
      memory.deployments.delete(key);
      return;
    }
    await context.forge.putDeployment(report);
  } catch (error) {
    memory.deployments.delete(key);
    if (lacksPermission(error)) {
      memory.permissions.forbid("deployments", error);
      return;
    }
    context.log.warn({ environment: report.environment, error: String(error) }, "a deployment could not be reported");
  }
}
