import { KubeConfig } from "@kubernetes/client-node";
import { type Clock, iso } from "../../rollout/time.ts";
import { clustersOfApplications, clustersOfSecrets } from "../cluster-views.ts";
import { decodeApplication, decodeApplicationSet } from "../decode.ts";
import { decodeClusterSecret, SECRET_TYPE } from "../decode-cluster.ts";
import type { ApplicationSetView, ApplicationView, ClusterView, ControlPlane } from "../port.ts";
import { type KubeClient, kubeClient, reasonOf, resourceVersionOf } from "./client.ts";
import { coalescer } from "./coalesce.ts";
import { type Informer, startInformer } from "./informer.ts";
import type { Log, Tuning } from "./list-all.ts";

export interface KubernetesOptions {
  /** Name of the control plane. */
  name: string;
  /** A loaded one, the text of a kubeconfig, or the path of one. */
  kubeConfig: KubeConfig | { kubeconfig: string } | { file: string };
  /** Where Applications and ApplicationSets are; default: everywhere, which needs a ClusterRole. */
  namespaces?: string[];
  /** Where Argo CD itself, and so its cluster Secrets, are. */
  argocdNamespace?: string;
  /** May read cluster Secrets. If not, clusters are what the Applications say of them. */
  clusterSecrets: boolean;
  /** May patch the refresh annotation of Applications. */
  annotationRefresh: boolean;
  clock: Clock;
  log: Log;
  tuning?: Partial<Tuning>;
}

const DEFAULTS: Tuning = {
  pageSize: 50,
  silentMs: 90_000,
  watchMs: 300_000,
  relistMs: 1_800_000,
  staleMs: 15_000,
  maxBackoffMs: 30_000,
  random: Math.random,
};
const GROUP = "/apis/argoproj.io/v1alpha1";
const COALESCE_MS = 20;

interface Parts {
  applications: Informer<ApplicationView>[];
  sets: Informer<ApplicationSetView>[];
  secrets: Informer<Registered> | undefined;
}

type Registered = ClusterView & { resourceVersion: string };

/**
 * Argo CD through the Kubernetes API it lives in: its objects are listed and watched, and never written but for the
 * refresh annotation where that is allowed. Returns at once; `ready()` tells when there is something to read. Throws only
 * for a kubeconfig that cannot be used.
 */
export function openKubernetes(options: KubernetesOptions): ControlPlane {
  const { clock, log, annotationRefresh } = options;
  const client = kubeClient(configOf(options.kubeConfig));
  const changes = coalescer(clock, COALESCE_MS);
  // Asked for once a target, and the same until something changes.
  let clusters: ClusterView[] | undefined;
  const parts = startAll(options, client, (keys) => {
    clusters = undefined;
    changes.add(keys);
  });
  const all: Informer<unknown>[] = [...parts.applications, ...parts.sets, ...(parts.secrets === undefined ? [] : [parts.secrets])];
  const freshSince = iso(clock.now());
  return {
    name: options.name,
    async ready() {
      await Promise.all(all.map((informer) => informer.ready()));
    },
    state() {
      for (const informer of all) {
        const problem = informer.problem();
        if (problem !== undefined) return { fresh: false, why: problem.why, since: iso(problem.since) };
      }
      return { fresh: true, since: freshSince };
    },
    application: (namespace, name) => find(parts.applications, `${namespace}/${name}`),
    applications(owner) {
      const found: ApplicationView[] = [];
      for (const view of each(parts.applications)) if (owner === undefined || isOwnedBy(view, owner)) found.push(view);
      return found;
    },
    applicationSet: (namespace, name) => find(parts.sets, `${namespace}/${name}`),
    clusters() {
      clusters ??= clustersOf(parts);
      return clusters;
    },
    onChange: changes.listen,
    async refresh(namespace, name) {
      return annotationRefresh ? await annotate(client, log, namespace, name) : "unavailable";
    },
    async close() {
      changes.close();
      for (const informer of all) informer.close();
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

function startAll(options: KubernetesOptions, client: KubeClient, changed: (keys: Iterable<string> | null) => void): Parts {
  const { clock, log, namespaces, argocdNamespace = "argocd", clusterSecrets } = options;
  const common = { client, clock, log, tuning: { ...DEFAULTS, ...options.tuning } };
  const scopes = namespaces === undefined ? [GROUP] : namespaces.map((name) => `${GROUP}/namespaces/${encodeURIComponent(name)}`);
  const anything = () => changed(null);
  return {
    applications: scopes.map((scope) =>
      startInformer({ ...common, what: "applications", path: `${scope}/applications`, project: decodeApplication, changed }),
    ),
    sets: scopes.map((scope) =>
      startInformer({
        ...common,
        what: "applicationsets",
        path: `${scope}/applicationsets`,
        optional: true,
        project: decodeApplicationSet,
        changed: anything,
      }),
    ),
    secrets: clusterSecrets
      ? startInformer({
          ...common,
          what: "cluster secrets",
          path: `/api/v1/namespaces/${encodeURIComponent(argocdNamespace)}/secrets`,
          labelSelector: `${SECRET_TYPE}=cluster`,
          project: projectSecret,
          changed: anything,
        })
      : undefined,
  };
}

/** Nothing secret gets past this line. */
function projectSecret(raw: unknown): Registered | undefined {
  const cluster = decodeClusterSecret(raw);
  return cluster === undefined ? undefined : { ...cluster, resourceVersion: resourceVersionOf(raw) ?? "" };
}

function clustersOf({ applications, secrets }: Parts): ClusterView[] {
  if (secrets === undefined) return clustersOfApplications(each(applications));
  return clustersOfSecrets([...secrets.items().values()].map(withoutVersion), each(applications));
}

function withoutVersion({ resourceVersion: _, ...cluster }: Registered): ClusterView {
  return cluster;
}

function find<View>(informers: readonly Informer<View>[], key: string): View | undefined {
  for (const informer of informers) {
    const view = informer.items().get(key);
    if (view !== undefined) return view;
  }
  return undefined;
}

function* each<View>(informers: readonly Informer<View>[]): Generator<View> {
  for (const informer of informers) yield* informer.items().values();
}

/** An ApplicationSet creates Applications in its own namespace only. */
function isOwnedBy(view: ApplicationView, owner: { namespace: string; name: string }): boolean {
  return view.namespace === owner.namespace && view.owner?.kind === "ApplicationSet" && view.owner.name === owner.name;
}

async function annotate(client: KubeClient, log: Log, namespace: string, name: string): Promise<"asked" | "unavailable"> {
  const path = `${GROUP}/namespaces/${encodeURIComponent(namespace)}/applications/${encodeURIComponent(name)}`;
  try {
    await client.mergePatch(path, { metadata: { annotations: { "argocd.argoproj.io/refresh": "normal" } } });
    return "asked";
  } catch (error) {
    log.warn({ application: `${namespace}/${name}`, reason: reasonOf(error) }, "asking Argo CD for a refresh failed");
    return "unavailable";
  }
}
