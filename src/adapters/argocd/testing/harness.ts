import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Clock } from "../../../core/base/time.ts";
import { type ArgoApi, createArgoApi } from "../../../sim/argocd/api/index.ts";
import { createClusterIndex } from "../../../sim/argocd/clusters.ts";
import { connectionsOf } from "../../../sim/argocd/connections.ts";
import { createArgoServer } from "../../../sim/argocd/http.ts";
import { fastClock } from "../../../sim/clock.ts";
import { createAuthority } from "../../../sim/kubernetes/certificates.ts";
import { type KubernetesSim, startKubernetes } from "../../../sim/kubernetes/index.ts";
import type { KubeObject } from "../../../sim/kubernetes/types.ts";
import { type ApiOptions, openApiPlane } from "../api/index.ts";
import { type KubernetesOptions, openKubernetes } from "../kubernetes/index.ts";
import type { ControlPlane } from "../port.ts";
import type { Harness, Wishes } from "./contract.ts";

const PLURAL: Record<string, string> = {
  Application: "applications",
  ApplicationSet: "applicationsets",
  AppProject: "appprojects",
  Secret: "secrets",
  Rollout: "rollouts",
  ReplicaSet: "replicasets",
};
const REFRESH = "argocd.argoproj.io/refresh";
const READ = ["get", "list", "watch"] as const;
const START = Date.parse("2026-11-21T12:00:00Z");
/** Tests wait for events: what is lost is lost at once, and asked for again soon. */
const TUNING = { staleMs: 0, maxBackoffMs: 20, random: () => 0 };

export function putIn({ store }: KubernetesSim, object: Record<string, unknown>): void {
  const given = object as KubeObject;
  const plural = PLURAL[given.kind] ?? "";
  const old = store.get(plural, given.metadata.namespace ?? "", given.metadata.name);
  const { resourceVersion: _, ...metadata } = given.metadata;
  if (old === undefined) store.create({ ...given, metadata });
  else store.update({ ...given, metadata: { ...metadata, resourceVersion: old.metadata.resourceVersion ?? "" } });
}

export function clusterSecret(
  name: string,
  data: Record<string, string>,
  labels: Record<string, string> = {},
  annotations: Record<string, string> = {},
): Record<string, unknown> {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace: "argocd",
      labels: { "argocd.argoproj.io/secret-type": "cluster", ...labels },
      annotations: { ...annotations, "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(data) },
    },
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")])),
  };
}

interface KubernetesHarness extends Harness {
  sim: KubernetesSim;
  clock: Clock;
}

interface ApiHarness extends KubernetesHarness {
  api: ArgoApi;
  url: string;
  ca: string;
}

/** What both harnesses share: the objects, and a log that is kept. */
function common(sim: KubernetesSim) {
  const lines: string[] = [];
  const line = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const asked = new Set<string>();
  sim.store.subscribe("applications", ({ object }) => {
    const { namespace, name, annotations } = object.metadata;
    if (annotations?.[REFRESH] === "normal") asked.add(`${namespace}/${name}`);
  });
  const parts = {
    put: async (object: Record<string, unknown>) => putIn(sim, object),
    remove: async (kind: string, namespace: string, name: string) => void sim.store.delete(PLURAL[kind] ?? "", namespace, name),
    addCluster: async (name: string, server: string, labels: Record<string, string>, token: string, annotations = {}) =>
      putIn(sim, clusterSecret(`cluster-${name}-123`, { name, server, config: token }, labels, annotations)),
    refreshAsked: (namespace: string, name: string) => asked.has(`${namespace}/${name}`),
    logged: () => lines.join("\n"),
  };
  return { parts, log: { info: line, warn: line } };
}

/** The Kubernetes adapter on an embedded Kubernetes API over TLS. */
export async function kubernetesHarness(): Promise<KubernetesHarness> {
  const clock = fastClock(1, START);
  const sim = await startKubernetes({ clock, tls: true });
  const { parts, log } = common(sim);
  const token = sim.addAccount("bot", [{ verbs: [...READ, "patch"], apiGroups: ["*"], resources: ["*"] }]);
  const open = (over: Partial<KubernetesOptions>, silentMs?: number): ControlPlane => {
    const tuning = { ...TUNING, ...(silentMs === undefined ? {} : { silentMs }) };
    const kubeConfig = { kubeconfig: sim.kubeconfig(token) };
    return openKubernetes({ name: "hub", kubeConfig, clusterSecrets: true, annotationRefresh: false, clock, log, tuning, ...over });
  };
  return {
    ...parts,
    sim,
    clock,
    token,
    open: ({ refresh = false, wrongCa = false, namespaces, selector, silentMs }: Wishes = {}) =>
      open(
        {
          annotationRefresh: refresh,
          ...(wrongCa ? { kubeConfig: { kubeconfig: sim.kubeconfig(token, createAuthority().ca) } } : {}),
          ...(namespaces === undefined ? {} : { namespaces }),
          ...(selector === undefined ? {} : { selector }),
        },
        silentMs,
      ),
    openForbidden() {
      const other = sim.addAccount("nobody", [{ verbs: [...READ], apiGroups: ["argoproj.io"], resources: ["applicationsets"] }]);
      return open({ kubeConfig: { kubeconfig: sim.kubeconfig(other) }, clusterSecrets: false });
    },
    cut: sim.faults.dropWatches,
    expire: sim.faults.expire,
    silence: sim.faults.silenceWatches,
    lose: sim.faults.loseEvents,
    down: sim.faults.down,
    revoke() {
      sim.faults.revokeToken(token);
      sim.faults.dropWatches();
    },
    close: () => sim.close(),
  };
}

/** Serves Argo CD's REST API over TLS on the objects of `sim`, and drops what asks for a refresh as the controller does. */
async function serveApi(sim: KubernetesSim, clock: Clock) {
  const { store } = sim;
  const index = createClusterIndex(store, "argocd");
  const clusters = () => connectionsOf(store, index, () => false, "2026-11-21T10:00:00Z");
  const api = createArgoApi({ store, clock, namespace: "argocd", clusters });
  const authority = createAuthority();
  const server = createArgoServer({
    push: () => undefined,
    api: api.handle,
    pages: () => false,
    certificate: authority.issue(["127.0.0.1"]),
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // As the controller does once it has compared.
  store.subscribe("applications", ({ object }) => {
    const { namespace = "", name, annotations: { [REFRESH]: asked, ...rest } = {} } = object.metadata;
    if (asked === undefined) return;
    store.change("applications", namespace, name, (app) => ({ ...app, metadata: { ...app.metadata, annotations: rest } }));
  });
  async function close(): Promise<void> {
    index.close();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    await sim.close();
  }
  return { api, url, ca: authority.ca, close };
}

/** Argo CD's REST API, with nobody but the test to act as the controllers. */
export async function apiHarness(): Promise<ApiHarness> {
  const clock = fastClock(1, START);
  const sim = await startKubernetes({ clock });
  const { parts, log } = common(sim);
  const { api, url, ca, close } = await serveApi(sim, clock);
  const policies = ["applications", "applicationsets", "clusters", "projects"].map((what) => `p, bot, ${what}, get, *, allow`);
  const token = api.addAccount("bot", policies);
  const open = (over: Partial<ApiOptions>, silentMs?: number): ControlPlane => {
    const tuning = { ...TUNING, clustersMs: 50, ...(silentMs === undefined ? {} : { silentMs }) };
    return openApiPlane({ name: "hub", url, token, ca, clock, log, tuning, ...over });
  };
  return {
    ...parts,
    sim,
    clock,
    api,
    url,
    ca,
    token,
    open: ({ wrongCa = false, namespaces, selector, silentMs }: Wishes = {}) =>
      open(
        {
          ...(wrongCa ? { ca: createAuthority().ca } : {}),
          ...(namespaces === undefined ? {} : { appNamespaces: namespaces }),
          ...(selector === undefined ? {} : { selector }),
        },
        silentMs,
      ),
    openForbidden: () => open({ token: api.addAccount("nobody", ["p, nobody, applicationsets, get, *, allow"]) }),
    cut: api.faults.dropStreams,
    expire: api.faults.dropStreams,
    silence: api.faults.silenceStreams,
    lose: api.faults.loseEvents,
    down: api.faults.down,
    revoke() {
      api.faults.expireToken(token);
      api.faults.dropStreams();
    },
    close,
  };
}
