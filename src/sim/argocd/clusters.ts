import { compareText } from "../../core/base/compare-text.ts";
import type { Store } from "../kubernetes/store.ts";
import type { KubeObject } from "../kubernetes/types.ts";
import { fnv32a } from "./application/lag.ts";
import type { Destination } from "./types.ts";

export const IN_CLUSTER = { name: "in-cluster", server: "https://kubernetes.default.svc" } as const;
const TYPE_LABEL = "argocd.argoproj.io/secret-type";

export interface ClusterOptions {
  name: string;
  /** Default: `https://HOST.example.com:6443` with a host that does not tell the name. */
  server?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  project?: string;
}

/** A cluster as Argo CD reads it from its Secret. */
export interface RegisteredCluster {
  name: string;
  server: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  project: string;
  secret: string | undefined;
}

/** As `argocd cluster add` names the Secret: the host without its port and a hash of the whole address. */
export function secretNameOf(server: string): string {
  const { hostname } = new URL(server);
  const host = hostname.replace(/^\[(.*)\]$/, (_, address: string) => address.replaceAll(":", "-"));
  return `cluster-${host.toLowerCase()}-${fnv32a(server)}`;
}

function serverOf(name: string): string {
  return `https://k8s-${fnv32a(name).toString(16).padStart(8, "0")}.example.com:6443`;
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
const plain = (text: string | undefined) => Buffer.from(text ?? "", "base64").toString();

/** The Secret of a cluster; its `config` holds a credential, as a real one does, so that nothing may ever show it. */
export function clusterSecret(options: ClusterOptions, namespace: string): KubeObject {
  const { name, server = serverOf(name), labels = {}, annotations = {}, project } = options;
  const config = JSON.stringify({ bearerToken: `embedded-credential-of-${name}`, tlsClientConfig: { insecure: false } });
  const data: Record<string, string> = { name: base64(name), server: base64(server), config: base64(config) };
  if (project !== undefined) data["project"] = base64(project);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: secretNameOf(server),
      namespace,
      labels: { ...labels, [TYPE_LABEL]: "cluster" },
      annotations: { ...annotations, "managed-by": "argocd.argoproj.io" },
    },
    type: "Opaque",
    data,
  };
}

export function isClusterSecret(secret: KubeObject): boolean {
  return secret.metadata.labels?.[TYPE_LABEL] === "cluster";
}

function readSecret(secret: KubeObject): RegisteredCluster {
  const data = (secret["data"] ?? {}) as Record<string, string>;
  const server = plain(data["server"]).replace(/\/$/, "");
  return {
    name: plain(data["name"]) || server,
    server,
    labels: { ...secret.metadata.labels },
    annotations: { ...secret.metadata.annotations },
    project: plain(data["project"]),
    secret: secret.metadata.name,
  };
}

/** All that are registered by a Secret, by name. The cluster Argo CD runs in is not among them unless it has one. */
function registeredClusters(store: Store, namespace: string): RegisteredCluster[] {
  const secrets = store.list("secrets", namespace).filter(isClusterSecret);
  return secrets.map(readSecret).sort((a, b) => compareText(a.name, b.name));
}

/** Names and addresses of the registered clusters, made again only when a Secret changed. */
export interface ClusterIndex {
  all(): readonly RegisteredCluster[];
  /** The cluster a destination means, or why it means none, in Argo CD's words. */
  resolve(destination: Destination): RegisteredCluster | { error: string };
  close(): void;
}

export function createClusterIndex(store: Store, namespace: string): ClusterIndex {
  let known: RegisteredCluster[] | undefined;
  let byName = new Map<string, RegisteredCluster[]>();
  let byServer = new Map<string, RegisteredCluster>();
  const stop = store.subscribe("secrets", () => {
    known = undefined;
  });

  function load(): RegisteredCluster[] {
    if (known !== undefined) return known;
    known = registeredClusters(store, namespace);
    const local = { ...IN_CLUSTER, labels: {}, annotations: {}, project: "", secret: undefined };
    const all = known.some(({ server }) => server === IN_CLUSTER.server) ? known : [...known, local];
    byName = Map.groupBy(all, ({ name }) => name);
    byServer = new Map(all.toReversed().map((cluster) => [cluster.server, cluster]));
    return known;
  }

  return {
    all: load,
    resolve({ name = "", server = "" }) {
      load();
      if (name !== "" && server !== "")
        return { error: `application destination can't have both name and server defined: ${name} ${server}` };
      if (name !== "") {
        const found = byName.get(name) ?? [];
        if (found.length > 1)
          return { error: `there are ${found.length} clusters with the same name: [${found.map((c) => c.server).join(" ")}]` };
        return (
          found[0] ?? {
            error: `application references destination cluster ${name} which does not exist: there are no clusters with this name: ${name}`,
          }
        );
      }
      if (server === "") return { error: "destination server missing from app spec" };
      return (
        byServer.get(server.replace(/\/$/, "")) ?? {
          error: `application references destination cluster which does not exist: cluster "${server}" not found`,
        }
      );
    },
    close: stop,
  };
}

/** The clusters as generators of an ApplicationSet see them. */
export function clustersOfGenerators(clusters: ClusterIndex): Omit<RegisteredCluster, "secret">[] {
  return clusters.all().map(({ secret: _, ...cluster }) => cluster);
}

/** The name of a cluster's Secret. Throws where no such cluster is registered. */
export function secretOf(clusters: ClusterIndex, name: string): string {
  const found = clusters.all().find((cluster) => cluster.name === name);
  if (found?.secret !== undefined) return found.secret;
  const names = clusters.all().map((cluster) => cluster.name);
  throw new Error(`no cluster "${name}" is registered; there are ${names.join(", ")}`);
}

/** Edits the labels of a cluster's Secret; null removes one. */
export function relabelCluster(
  store: Store,
  clusters: ClusterIndex,
  namespace: string,
  name: string,
  edits: Record<string, string | null>,
): void {
  store.change("secrets", namespace, secretOf(clusters, name), (secret) => {
    const all: Record<string, string | null> = { ...secret.metadata.labels, ...edits };
    const labels = Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null));
    return { ...secret, metadata: { ...secret.metadata, labels } };
  });
}
