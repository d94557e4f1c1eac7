import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { render as renderSet } from "../../core/appset/index.ts";
import { createAuthority } from "../kubernetes/certificates.ts";
import { kubeTime } from "../kubernetes/store.ts";
import type { KubeObject } from "../kubernetes/types.ts";
import { createArgoApi } from "./api/index.ts";
import { startApplicationController } from "./application/controller.ts";
import { type Lag, REAL_LAG } from "./application/lag.ts";
import { createManifests } from "./application/manifests.ts";
import { startApplicationSetController } from "./appset/controller.ts";
import { clusterSecret, createClusterIndex, type RegisteredCluster } from "./clusters.ts";
import { connectionsOf } from "./connections.ts";
import { createFaultBoard, playScript } from "./faults.ts";
import { parentApplication, project } from "./first-objects.ts";
import type { Push } from "./git/push.ts";
import { anyVersion, createRepositories } from "./git/repositories.ts";
import { renderWithFiles } from "./git/snapshots.ts";
import { type ConnectionInfo, createArgoServer } from "./http.ts";
import type { ArgoCdOptions, ArgoCdSim } from "./options.ts";
import { createFleetRollouts } from "./rollouts/index.ts";
import { createScheduler } from "./scheduler.ts";
import { asApplication } from "./types.ts";

export type { ArgoCdOptions, ArgoCdSim } from "./options.ts";

/*
 * An embedded Argo CD: the ApplicationSet controller and the application controller, working on the objects of an embedded Kubernetes API
 * and following real Git repositories. What they write is what a watcher of a real one gets to see, with its delays and its lies:
 *
 *  1 the operation loop and the refresh loop write separate patches, each with delays of its own
 *  2 all times are whole seconds
 *  3 reconciledAt is the start of a comparison, and moves with full ones only
 *  4 after a change of the spec the whole status is the old one (Synced and Healthy, say) until the next comparison; comparedTo tells
 *  5 a branch that moves on: sync.revision follows its head, with or without anything to do
 *  6 the old workload looks Healthy for a moment after a sync, then Progressing, then what comes of it
 *  7 a commit that changes nothing here: Synced at the new revision without an operation
 *  8 retries with back-off (Running with finishedAt, and .operation still there), then Failed; no second attempt at a revision
 *  9 auto-sync off in the spec or by a fault, and a closed window: OutOfSync without a word; a sync that runs when its window
 *    closes is held in Running
 * 10 Degraded that recovers, or not; flapping; Progressing for ever
 * 11 Suspended until resumed; Argo Rollouts with canary steps in each cluster, which Argo CD's resource actions move
 * 12 a cluster that cannot be reached: sync Unknown, health as it was
 * 13 the first errors of a repository are kept quiet for a time of grace, except to a forced refresh
 * 14 a generator error: nothing is created, updated or deleted; ignoreApplicationDifferences leaves live fields alone
 * 15 the label of a cluster Secret adds and removes Applications
 * 16 without a webhook commits are noticed by polling; refresh annotations of both kinds, and one that gets lost
 * 17 manual edits of generated Applications are put back
 * 18 self-heal with its back-off
 * 19 several sources, with revisions in their order
 * 20 no health in status.resources
 * 21 shards: a busy one sees commits minutes later, one that is down leaves its clusters' statuses as they are; controllers that
 *    are started anew go on with what was begun
 * 22 the source hydrator: dry commits are hydrated to a branch, fail to be, or change nothing
 *
 * Not modelled: rendering of manifests (files are hashed instead), sync waves and hooks, pruning of single resources, RollingSync,
 * signature checks, limits of concurrency, resources edited in a cluster other than by `drift`, termination of operations.
 */

/** Starts both controllers and the API's socket. */
export async function startArgoCd(options: ArgoCdOptions): Promise<ArgoCdSim> {
  const {
    kubernetes,
    clock,
    seed = 1,
    faults = {},
    namespace = "argocd",
    registry = anyVersion,
    render = renderSet,
    webhookSecret,
    port = 0,
    host = "127.0.0.1",
  } = options;
  const { store } = kubernetes;
  const lag: Lag = { ...REAL_LAG, ...options.lag };
  const sources = "fetch" in options.git ? [options.git] : options.git;
  const scheduler = createScheduler(clock);
  const began = kubeTime(clock.now());
  if (store.get("namespaces", "", namespace) === undefined)
    store.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  if (store.get("appprojects", namespace, "default") === undefined) store.create(project(namespace));
  for (const cluster of options.clusters ?? []) store.create(clusterSecret(cluster, namespace));

  const clusters = createClusterIndex(store, namespace);
  const repositories = createRepositories(sources, registry, { now: () => scheduler.now(), ttl: lag.reconciliation });
  const manifests = createManifests(repositories);
  const board = createFaultBoard((cluster, before, after) => apps.clusterFaultsChanged(cluster, before, after));
  const rollouts = createFleetRollouts({ store, clusters, board, scheduler, lag });
  const apps = startApplicationController({ store, scheduler, lag, board, clusters, manifests, repositories, namespace, rollouts }, seed);
  const sets = startApplicationSetController({ store, scheduler, lag, clusters, repositories, render, seed });

  const secretOf = (name: string): RegisteredCluster => {
    const found = clusters.all().find((cluster) => cluster.name === name);
    if (found?.secret === undefined)
      throw new Error(
        `no cluster "${name}" is registered; there are ${clusters
          .all()
          .map((cluster) => cluster.name)
          .join(", ")}`,
      );
    return found;
  };

  function relabel(name: string, labels: Record<string, string | null>): void {
    store.change("secrets", namespace, secretOf(name).secret ?? "", (secret) => {
      const next: Record<string, string> = { ...secret.metadata.labels };
      for (const [key, value] of Object.entries(labels)) {
        if (value === null) delete next[key];
        else next[key] = value;
      }
      return { ...secret, metadata: { ...secret.metadata, labels: next } };
    });
  }

  const connections = (): ConnectionInfo[] => connectionsOf(store, clusters, (cluster) => board.has("unreachable", cluster), began);

  async function generate(set: KubeObject): Promise<KubeObject[]> {
    const known = clusters.all().map(({ name, server, labels, annotations, project }) => ({ name, server, labels, annotations, project }));
    const result = await renderWithFiles((repo) => render(set, { clusters: known, repo }), repositories, true);
    if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join("; "));
    return result.applications.map(({ metadata: { ownerReferences: _, ...metadata }, ...application }) => ({ ...application, metadata }));
  }

  function notifyPush(push: Push): void {
    const held = sources.find((source) => push.repoURLs.some((url) => source.matches(url)));
    const known: Push = held === undefined ? push : { ...push, sameRepo: held.matches };
    apps.push(known);
    sets.push(known);
  }

  const api = createArgoApi({
    store,
    clock,
    namespace,
    clusters: connections,
    generate: (set) => generate(set),
    rollouts: options.rollouts ?? rollouts.backend,
    token: options.apiToken,
  });
  const authority = options.tls === true ? createAuthority() : undefined;
  const server = createArgoServer({
    push: notifyPush,
    api: api.handle,
    certificate: authority?.issue([host, "localhost"]),
    secret: webhookSecret,
  });
  server.listen(port, host);
  await once(server, "listening");
  playScript(faults, scheduler, { board, relabel, repoDown: repositories.setDown });
  if (options.bootstrap !== undefined) store.create(parentApplication(options.bootstrap, namespace));

  return {
    url: `http${authority === undefined ? "" : "s"}://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    ca: authority?.ca,
    api,
    namespace,
    notifyPush,
    addCluster: (cluster) => {
      store.create(clusterSecret(cluster, namespace));
    },
    removeCluster: (name) => {
      store.delete("secrets", namespace, secretOf(name).secret ?? "");
    },
    relabel,
    setFault: (cluster, fault) => board.set(cluster, fault === null ? [] : "kind" in fault ? [fault] : fault),
    setRepoDown: repositories.setDown,
    setControllersDown(down) {
      apps.setDown(down);
      sets.setDown(down);
    },
    failGenerator: sets.fail,
    setSyncWindows(name, syncWindows) {
      const changed = store.change("appprojects", namespace, name, (object) => ({
        ...object,
        spec: { ...(object["spec"] as object), syncWindows },
      }));
      if (changed === undefined) throw new Error(`no AppProject "${name}" in ${namespace}`);
    },
    resume: apps.resume,
    drift: (application) => apps.drift(namespace, application),
    clusters: connections,
    liveHealth: (application) => apps.truth(namespace, application)?.health,
    truth: (application) => apps.truth(namespace, application),
    rolloutsOf(application) {
      const found = store.get("applications", namespace, application);
      return found === undefined ? [] : rollouts.backend.of(asApplication(found));
    },
    idle: scheduler.idle,
    nextAt: scheduler.next,
    async close() {
      scheduler.close();
      apps.close();
      sets.close();
      clusters.close();
      await scheduler.idle();
      for (const source of sources) await source.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
