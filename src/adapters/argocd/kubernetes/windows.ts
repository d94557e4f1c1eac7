import { assessWindows, decodeWindows, windowsOfProject } from "../../../core/argocd/decode/windows.ts";
import type { ApplicationView, SyncWindowsView } from "../../../core/argocd/views.ts";
import type { KubeClient } from "./client.ts";

/** The sync windows of an Application's project; undefined where the project may not be read or is not there. */
export async function readSyncWindows(
  client: KubeClient,
  argocdNamespace: string,
  application: ApplicationView,
  now: number,
): Promise<SyncWindowsView | undefined> {
  const name = application.spec.project === "" ? "default" : application.spec.project;
  const path = `/apis/argoproj.io/v1alpha1/namespaces/${encodeURIComponent(argocdNamespace)}/appprojects/${encodeURIComponent(name)}`;
  try {
    const windows = decodeWindows(windowsOfProject(await client.get(path), application));
    return assessWindows(windows, now);
  } catch {
    // Not allowed, not there, or not reached: all the same to somebody who would like to know when it opens.
    return undefined;
  }
}
