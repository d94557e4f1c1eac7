import type { DestinationView } from "../../core/argocd/views.ts";
import type { Cluster } from "../../core/plan/plan-types.ts";
import type { SeenApplication } from "./draft.ts";

const IN_CLUSTER = { name: "in-cluster", server: "https://kubernetes.default.svc" };

/** One spelling of an API server's address: trailing slashes and the host's case do not count. */
export function normaliseServer(server: string): string {
  const trimmed = server.replace(/(?<!\/)\/+$/, "");
  const match = /^([a-z]+:\/\/[^/]+)(.*)$/i.exec(trimmed);
  return match === null ? trimmed : `${(match[1] ?? "").toLowerCase()}${match[2] ?? ""}`;
}

/** Finds the cluster of a destination on one control plane; makes those that only Applications tell of. */
interface ClusterIndex {
  find(seen: SeenApplication): Cluster | { missing: string };
  /** Clusters found that were not in the inventory: `in-cluster`, or all of them where no cluster Secret can be seen. */
  made(): Cluster[];
}

/**
 * Indexes clusters by name and by server. Without any cluster (no access to their Secrets) each destination makes one, with
 * the Application's own labels (docs/spec.md §9.3 b) where they may be the cluster's (`labelled`). `in-cluster` without a Secret has those of
 * its control plane, and its name where the rollout names several (`names`).
 */
export function indexClusters(clusters: readonly Cluster[], names: readonly string[] = [], labelled = true): ClusterIndex {
  const byName = new Map<string, Cluster>();
  const byServer = new Map<string, Cluster>();
  const made = new Map<string, Cluster>();
  for (const cluster of clusters) {
    byName.set(`${cluster.controlPlane}/${cluster.name}`, cluster);
    const server = `${cluster.controlPlane}/${normaliseServer(cluster.server)}`;
    // Argo CD, too, takes the first where several Secrets share a server.
    if (!byServer.has(server)) byServer.set(server, cluster);
  }
  const make = (controlPlane: string, name: string, server: string, labels: Record<string, string>, registered: boolean): Cluster => {
    const key = `${controlPlane}/${name}`;
    const cluster = made.get(key) ?? { key, name, controlPlane, server, labels, registered };
    made.set(key, cluster);
    return cluster;
  };
  return {
    made: () => [...made.values()],
    find({ controlPlane, planeLabels, view }) {
      const { destination } = view.spec;
      const found = known(controlPlane, destination, byName, byServer);
      if (found !== undefined) return found;
      if (
        destination.name === IN_CLUSTER.name ||
        (destination.server !== undefined && normaliseServer(destination.server) === IN_CLUSTER.server)
      ) {
        const own = byServer.get(`${controlPlane}/${IN_CLUSTER.server}`);
        const name = names.length > 1 && !byName.has(`${controlPlane}/${controlPlane}`) ? controlPlane : IN_CLUSTER.name;
        return own ?? make(controlPlane, name, IN_CLUSTER.server, { ...planeLabels }, false);
      }
      const name = destination.name ?? hostOf(destination.server);
      if (clusters.length === 0 && name !== undefined)
        return make(controlPlane, name, destination.server ?? "", { ...(labelled ? view.labels : {}), ...planeLabels }, true);
      return { missing: destination.name ?? destination.server ?? "nothing" };
    },
  };
}

function known(
  controlPlane: string,
  { name, server }: DestinationView,
  byName: ReadonlyMap<string, Cluster>,
  byServer: ReadonlyMap<string, Cluster>,
): Cluster | undefined {
  const named = name === undefined ? undefined : byName.get(`${controlPlane}/${name}`);
  return named ?? (server === undefined ? undefined : byServer.get(`${controlPlane}/${normaliseServer(server)}`));
}

function hostOf(server: string | undefined): string | undefined {
  return server === undefined ? undefined : /^[a-z]+:\/\/([^/:]+)/i.exec(server)?.[1];
}
