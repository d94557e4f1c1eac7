import { BAD_CONDITIONS } from "../decode/status.ts";
import type { ApplicationView, ClusterView } from "../views.ts";

/** Healths that are a health issue. Progressing and Suspended are not: both are on the way to somewhere. */
const UNHEALTHY: readonly string[] = ["Missing", "Degraded", "Unknown"];

/**
 * What is wrong with an Application, whatever changed last: `Missing`, `Degraded` or `Unknown` health, `sync Unknown`, types
 * of bad conditions, `operation Failed`, `OutOfSync after its sync` (it can never be Synced), `cluster unreachable`,
 * `no Application`, `being deleted`. Empty: nothing. Compared before and after a change by `baseline: Tolerate`.
 */
export function healthIssuesOf(application: ApplicationView | undefined, cluster?: ClusterView): string[] {
  if (application === undefined) return ["no Application"];
  const { health, sync, operation, conditions } = application.status;
  const found = new Set<string>();
  if (application.deletionTimestamp !== undefined) found.add("being deleted");
  if (cluster?.connection?.status === "Failed") found.add("cluster unreachable");
  if (health.status !== undefined && UNHEALTHY.includes(health.status)) found.add(health.status);
  if (sync.status === "Unknown") found.add("sync Unknown");
  for (const { type } of conditions) if (BAD_CONDITIONS.has(type)) found.add(type);
  if (operation?.phase === "Failed" || operation?.phase === "Error") found.add("operation Failed");
  if (neverInSync(application)) found.add("OutOfSync after its sync");
  return [...found];
}

/** argo-cd#19771: its last sync succeeded at the very revision that it is OutOfSync with. */
function neverInSync({ status, operationRequested }: ApplicationView): boolean {
  const { sync, operation } = status;
  if (sync.status !== "OutOfSync" || operation?.phase !== "Succeeded" || operationRequested) return false;
  return operation.appliedRevisions.length > 0 && operation.appliedRevisions.join() === sync.revisions.join();
}
