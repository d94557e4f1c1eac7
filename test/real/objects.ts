import type { KubernetesObject } from "@kubernetes/client-node";
import { applicationOf, type Layout, type RealNames, setName } from "./files.ts";

type Json = KubernetesObject & Record<string, unknown>;

/**
 * Other addresses of the API server of the cluster that Argo CD runs in. Argo CD takes each for a cluster of its own, so one cluster
 * serves a rollout over several; the server's certificate is good for all of them.
 */
export const ALIASES = [
  "https://kubernetes.default.svc:443",
  "https://kubernetes.default.svc.cluster.local",
  "https://kubernetes.default:443",
  "https://kubernetes.default.svc.cluster.local:443",
  "https://kubernetes.default",
];

const base64 = (text: string) => Buffer.from(text).toString("base64");
const mark = ({ id }: RealNames) => ({ "stagecoach.dev/try": id });

/** A namespace for the workload of one cluster, in which Argo CD's account for it may do everything, and nothing elsewhere. */
export function namespaceWithRights(names: RealNames, namespace: string): Json[] {
  const name = setName(names);
  const metadata = { name, namespace, labels: mark(names) };
  const rbac = "rbac.authorization.k8s.io";
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels: mark(names) } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: rbac, kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      type: "kubernetes.io/service-account-token",
      metadata: { ...metadata, annotations: { "kubernetes.io/service-account.name": name } },
    },
  ];
}

interface Credential {
  token: string;
  /** PEM, base64; absent: the server's certificate is not checked. */
  ca?: string;
}

/** Registers a cluster with Argo CD that is held to one namespace. */
export function clusterSecret(names: RealNames, index: number, { token, ca }: Credential): Json {
  const cluster = names.clusters[index] ?? "";
  const tlsClientConfig = ca === undefined ? { insecure: true } : { caData: ca };
  const data = {
    name: cluster,
    server: ALIASES[index] ?? "",
    namespaces: cluster,
    clusterResources: "false",
    config: JSON.stringify({ bearerToken: token, tlsClientConfig }),
  };
  const wave = index === 0 ? { "stagecoach.dev/wave": "canary" } : {};
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "Opaque",
    metadata: {
      name: cluster,
      namespace: names.argocd,
      labels: { "argocd.argoproj.io/secret-type": "cluster", ...mark(names), ...wave },
    },
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
  };
}

/** A project for this try alone, and the Application that brings its ApplicationSet or Applications from Git. */
export function argoObjects(names: RealNames, repoURL: string, layout: Layout): Json[] {
  const name = setName(names);
  const metadata = { name, namespace: names.argocd, labels: mark(names) };
  const apiVersion = "argoproj.io/v1alpha1";
  const destination = { server: "https://kubernetes.default.svc", namespace: names.argocd };
  const own = names.clusters.map((cluster) => ({ name: cluster, server: "*", namespace: cluster }));
  return [
    {
      apiVersion,
      kind: "AppProject",
      metadata,
      spec: { sourceRepos: [repoURL], destinations: [destination, ...own], clusterResourceWhitelist: [] },
    },
    {
      apiVersion,
      kind: "Application",
      metadata,
      spec: {
        project: name,
        source: { repoURL, path: layout.parent, targetRevision: "main" },
        destination,
        syncPolicy: { automated: { prune: true, selfHeal: true } },
      },
    },
  ];
}

/** What leads to the Application of a target. */
export const applicationObject = (names: RealNames, cluster: string): Json => ({
  apiVersion: "argoproj.io/v1alpha1",
  kind: "Application",
  metadata: { name: applicationOf(names, cluster), namespace: names.argocd },
});

/** In the order in which they go: what brings others first. */
export const LEFTOVERS = (names: RealNames): Json[] => {
  const at = { name: setName(names), namespace: names.argocd };
  const apiVersion = "argoproj.io/v1alpha1";
  return [
    { apiVersion, kind: "Application", metadata: at },
    { apiVersion, kind: "ApplicationSet", metadata: at },
    ...names.clusters.map((cluster) => applicationObject(names, cluster)),
  ];
};
