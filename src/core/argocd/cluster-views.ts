import { compareText } from "../base/compare-text.ts";
import { IN_CLUSTER_SERVER } from "./decode/cluster.ts";
import { plainServer } from "./same.ts";
import type { ApplicationView, ClusterView, DestinationView } from "./views.ts";

/**
 * The clusters, from their Secrets where these may be read; a destination that no Secret stands for is added only for
 * Argo CD's own cluster, without labels.
 */
export function clustersOfSecrets(secrets: Iterable<ClusterView>, applications: Iterable<ApplicationView>): ClusterView[] {
  const found = [...secrets].sort((a, b) => compareText(a.name, b.name));
  if (found.some((cluster) => cluster.name === "in-cluster" || cluster.server === IN_CLUSTER_SERVER)) return found;
  for (const application of applications) {
    if (isInCluster(application.spec.destination))
      return [...found, { name: "in-cluster", server: IN_CLUSTER_SERVER, labels: {}, registered: false }];
  }
  return found;
}

/**
 * The clusters as far as Applications tell, with no access to Secrets: one a destination, with the labels that all
 * Applications on it share. A destination by server alone is named after its host.
 */
export function clustersOfApplications(applications: Iterable<ApplicationView>): ClusterView[] {
  const names = new Map<string, string>();
  const all = [...applications];
  for (const { spec } of all) {
    const { name, server } = spec.destination;
    if (name !== undefined && server !== undefined) names.set(plainServer(server), name);
  }
  const found = new Map<string, ClusterView>();
  for (const application of all) {
    const { destination } = application.spec;
    const name = isInCluster(destination) ? "in-cluster" : nameOf(destination, names);
    if (name === undefined) continue;
    const known = found.get(name);
    if (known === undefined) found.set(name, clusterOf(name, application));
    else share(known, application);
  }
  return [...found.values()].sort((a, b) => compareText(a.name, b.name));
}

function nameOf({ name, server }: DestinationView, names: ReadonlyMap<string, string>): string | undefined {
  if (name !== undefined) return name;
  if (server === undefined) return undefined;
  const plain = plainServer(server);
  return names.get(plain) ?? hostOf(plain);
}

function hostOf(plain: string): string {
  return URL.canParse(plain) ? new URL(plain).host || plain : plain;
}

function clusterOf(name: string, application: ApplicationView): ClusterView {
  const server = plainServer(application.spec.destination.server ?? (name === "in-cluster" ? IN_CLUSTER_SERVER : ""));
  const host = server !== "" && name !== "in-cluster" && name === hostOf(server);
  return { name, server, labels: { ...application.labels }, registered: name !== "in-cluster", derived: host ? "server" : "name" };
}

function share(cluster: ClusterView, application: ApplicationView): void {
  if (cluster.server === "") cluster.server = plainServer(application.spec.destination.server ?? "");
  for (const [key, value] of Object.entries(cluster.labels)) if (application.labels[key] !== value) delete cluster.labels[key];
}

/** Argo CD's own cluster, by either of its names. */
export function isInCluster({ name, server }: DestinationView): boolean {
  return name === "in-cluster" || (name === undefined && server !== undefined && plainServer(server) === IN_CLUSTER_SERVER);
}
