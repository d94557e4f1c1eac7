import type { Store } from "../kubernetes/store.ts";
import type { ClusterIndex } from "./clusters.ts";
import type { ConnectionInfo } from "./http.ts";
import type { ApplicationSpec } from "./types.ts";

/** The clusters as `GET /api/v1/clusters` shows them. `attemptedAt`: when Argo CD last tried. */
export function connectionsOf(
  store: Store,
  clusters: ClusterIndex,
  isDown: (cluster: string) => boolean,
  attemptedAt: string,
): ConnectionInfo[] {
  const counts = new Map<string, number>();
  for (const object of store.list("applications")) {
    // What was written past the schema may lack anything.
    const { destination = {} } = (object["spec"] ?? {}) as Partial<ApplicationSpec>;
    const cluster = clusters.resolve(destination);
    if (!("error" in cluster)) counts.set(cluster.name, (counts.get(cluster.name) ?? 0) + 1);
  }
  return clusters.all().map(({ name, server, labels, annotations, project }) => {
    const { "argocd.argoproj.io/secret-type": _, ...shown } = labels;
    const { "managed-by": _m, "kubectl.kubernetes.io/last-applied-configuration": _l, ...noted } = annotations;
    const applicationsCount = counts.get(name) ?? 0;
    const down = isDown(name);
    // A cluster without Applications has no cache, and so no state.
    const status = applicationsCount === 0 ? "Unknown" : down ? "Failed" : "Successful";
    const message = down && applicationsCount > 0 ? "error synchronizing cache state: dial tcp: i/o timeout" : "";
    const connectionState = { status, message, attemptedAt } as const;
    return { name, server, labels: shown, annotations: noted, project, info: { connectionState, applicationsCount } };
  });
}
