/**
 * Argo CD through the Kubernetes API it lives in. Opened by the server for each control plane with a kubeconfig.
 */
import { KubeConfig } from "@kubernetes/client-node";
import { clustersOfApplications, clustersOfSecrets } from "../../../core/argocd/cluster-views.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import { decodeApplicationSet } from "../../../core/argocd/decode/application-set.ts";
import { decodeClusterSecret, SECRET_TYPE } from "../../../core/argocd/decode/cluster.ts";
import type { ApplicationSetView, ApplicationView, ClusterView } from "../../../core/argocd/views.ts";
import { defined } from "../../../core/base/defined.ts";
import type { Clock } from "../../../core/base/time.ts";
import { openBreakers } from "../../outbound/breaker.ts";
import type { ControlPlane } from "../port.ts";
import { type Informer, startInformer } from "../wire/informer.ts";
import { type Changed, each, openReading, type Parts } from "../wire/plane.ts";
import { APPLICATION_SHAPES, CLUSTER_SECRET, SET_SHAPES } from "../wire/shapes.ts";
import { type Log, resourceVersionOf, type Tuning, type Versioned } from "../wire/source.ts";
import { annotate, argoPath, readByName, readRollouts, readSyncWindows } from "./ask.ts";
import { type KubeClient, kubeClient } from "./client.ts";
import { type KubeSourceOptions, kubeSource } from "./source.ts";

export interface KubernetesOptions {
  /** Name of the control plane. */
  name: string;
  /** A loaded one, the text of a kubeconfig, or the path of one. */
  kubeConfig: KubeConfig | { kubeconfig: string } | { file: string };
  /** Where Applications and ApplicationSets are; default: everywhere, which needs a ClusterRole. */
  namespaces?: string[];
  /** Label selector of the Applications that are looked at; default: all. */
  selector?: string;
  /** Where Argo CD itself, and so its cluster Secrets and AppProjects, are. */
  argocdNamespace?: string;
  /** May read cluster Secrets. If not, clusters are what the Applications say of them. */
  clusterSecrets: boolean;
  /** May patch the refresh annotation of Applications and ApplicationSets. */
  annotationRefresh: boolean;
  /** Where people look at its Applications. */
  uiUrl?: string;
  clock: Clock;
  log: Log;
  tuning?: Partial<Tuning>;
}

const DEFAULTS: Tuning = {
  pageSize: 250,
  silentMs: 90_000,
  watchMs: 300_000,
  relistMs: 1_800_000,
  staleMs: 15_000,
  maxBackoffMs: 30_000,
  readyMs: 30_000,
  random: Math.random,
};

type Registered = ClusterView & { resourceVersion: string };

interface KubeParts extends Parts {
  secrets: Informer<Registered> | undefined;
}

/**
 * Argo CD through the Kubernetes API it lives in: its objects are listed and watched, and never written but for the
 * refresh annotation where that is allowed. Returns at once; `ready()` tells when there is something to read. Throws only
 * for a kubeconfig that cannot be used.
 */
export function openKubernetes(options: KubernetesOptions): ControlPlane {
  const { name: plane, clock, log, annotationRefresh, argocdNamespace = "argocd" } = options;
  const client = kubeClient(configOf(options.kubeConfig), openBreakers(clock, log));
  const tuning = { ...DEFAULTS, ...options.tuning };
  const { reads, offer } = openReading(plane, clock, (changed) => startAll(options, tuning, client, changed), clustersOf);
  return {
    ...reads,
    uiUrl: options.uiUrl,
    async reread(namespace, name) {
      if (reads.application(namespace, name) === undefined) return { kind: "gone" };
      const asked = clock.now();
      return await readByName(client, { namespace, name, now: asked }, (view) => offer(namespace, name, view, asked));
    },
    refresh: annotationRefresh ? (namespace, name) => annotate(client, log, "applications", { namespace, name }) : undefined,
    refreshSet: annotationRefresh ? (namespace, name) => annotate(client, log, "applicationsets", { namespace, name }) : undefined,
    async rollouts(namespace, name) {
      const view = reads.application(namespace, name);
      return view === undefined ? "unavailable" : await readRollouts(client, view);
    },
    async syncWindows(namespace, name) {
      const view = reads.application(namespace, name);
      return view === undefined ? undefined : await readSyncWindows(client, argocdNamespace, view, clock.now());
    },
  };
}

function configOf(given: KubernetesOptions["kubeConfig"]): KubeConfig {
  if (given instanceof KubeConfig) return given;
  const config = new KubeConfig();
  if ("kubeconfig" in given) config.loadFromString(given.kubeconfig);
  else config.loadFromFile(given.file);
  return config;
}

function startAll(options: KubernetesOptions, tuning: Tuning, client: KubeClient, changed: Changed): KubeParts {
  const { clock, log, namespaces, argocdNamespace = "argocd", clusterSecrets, selector } = options;
  const anything = () => changed(null);
  const start = <View extends Versioned>(
    of: Omit<KubeSourceOptions<View>, "client" | "clock" | "log" | "tuning">,
    tell: (keys: Iterable<string>) => void,
  ) => startInformer({ source: kubeSource({ ...of, client, clock, log, tuning }), clock, log, tuning, changed: tell, freshness: anything });
  const scopes = namespaces ?? [undefined];
  const applications = scopes.map((namespace) => {
    const [path, filter] = [argoPath(namespace, "applications"), defined({ labelSelector: selector })];
    const kind = { what: "applications", resource: "applications.argoproj.io", ...APPLICATION_SHAPES, project: decodeApplication };
    return start<ApplicationView>({ ...kind, ...filter, path, namespace }, changed);
  });
  const sets = scopes.map((namespace) => {
    const kind = { what: "applicationsets", resource: "applicationsets.argoproj.io", optional: true, ...SET_SHAPES };
    const path = argoPath(namespace, "applicationsets");
    return start<ApplicationSetView>(
      { ...kind, path, namespace, project: (raw, _, withheld) => decodeApplicationSet(raw, withheld) },
      anything,
    );
  });
  if (!clusterSecrets) return { applications, sets, others: [], secrets: undefined };
  const path = `/api/v1/namespaces/${encodeURIComponent(argocdNamespace)}/secrets`;
  const kind = { what: "cluster secrets", resource: "secrets", shape: CLUSTER_SECRET, lesser: [], labelSelector: `${SECRET_TYPE}=cluster` };
  const secrets = start<Registered>({ ...kind, path, namespace: argocdNamespace, project: projectSecret }, anything);
  return { applications, sets, others: [secrets], secrets };
}

/** Nothing secret gets past this line. */
function projectSecret(raw: unknown): Registered | undefined {
  const cluster = decodeClusterSecret(raw);
  return cluster === undefined ? undefined : { ...cluster, resourceVersion: resourceVersionOf(raw) ?? "" };
}

function clustersOf({ applications, secrets }: KubeParts): ClusterView[] {
  if (secrets === undefined) return clustersOfApplications(each(applications));
  return clustersOfSecrets(
    [...secrets.items().values()].map(({ resourceVersion: _, ...cluster }) => cluster),
    each(applications),
  );
}
