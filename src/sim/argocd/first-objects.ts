import { IN_CLUSTER } from "./clusters.ts";

/** Where the Argo CD objects stand that the first Application applies. */
export interface Bootstrap {
  repoURL: string;
  revision?: string;
  path?: string;
  name?: string;
}

/** The project that every Argo CD has. */
export function project(namespace: string): {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string };
  spec: unknown;
} {
  const spec = {
    sourceRepos: ["*"],
    destinations: [{ namespace: "*", server: "*" }],
    clusterResourceWhitelist: [{ group: "*", kind: "*" }],
  };
  return { apiVersion: "argoproj.io/v1alpha1", kind: "AppProject", metadata: { name: "default", namespace }, spec };
}

/** The Application that applies the others from Git. */
export function parentApplication({ repoURL, revision = "HEAD", path = ".", name = "config" }: Bootstrap, namespace: string) {
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name, namespace },
    spec: {
      project: "default",
      source: { repoURL, targetRevision: revision, path, directory: { recurse: true } },
      destination: { server: IN_CLUSTER.server, namespace },
      syncPolicy: { automated: { prune: true, selfHeal: true } },
    },
  };
}
