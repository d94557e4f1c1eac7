import { render as renderSet } from "../../core/appset/render.ts";
import { sayRender } from "../../core/report/reasons/render.ts";
import { createAuthority } from "../kubernetes/certificates.ts";
import { kubeTime, type Store } from "../kubernetes/store.ts";
import type { KubeObject } from "../kubernetes/types.ts";
import { listen } from "../listen.ts";
import { createArgoApi } from "./api/index.ts";
import { startApplicationController } from "./application/controller.ts";
import { type Lag, REAL_LAG } from "./application/lag.ts";
import { createManifests } from "./application/manifests.ts";
import { type Render, startApplicationSetController } from "./appset/controller.ts";
import {
  type ClusterIndex,
  type ClusterOptions,
  clusterSecret,
  clustersOfGenerators,
  createClusterIndex,
  IN_CLUSTER,
  relabelCluster,
  secretOf,
} from "./clusters.ts";
import { connectionsOf } from "./connections.ts";
import { createFaultBoard, isNoticed, playScript } from "./faults.ts";
import { parentApplication, project } from "./first-objects.ts";
import type { Push } from "./git/push.ts";
import { anyVersion, createRepositories, type Repositories } from "./git/repositories.ts";
import { renderWithFiles } from "./git/snapshots.ts";
import { createArgoServer } from "./http.ts";
import type { ArgoCdOptions, ArgoCdSim } from "./options.ts";
import { shownManifests } from "./own-cluster.ts";
import { createPages } from "./pages.ts";
import { createFleetRollouts } from "./rollouts/index.ts";
import { Scheduler } from "./scheduler.ts";
import { type Application, asApplication } from "./types.ts";

export type { ArgoCdOptions, ArgoCdSim } from "./options.ts";

/*
 * An embedded Argo CD: the ApplicationSet controller and the application controller, working on the objects of an embedded Kubernetes API
 * and following real Git repositories. What they write is what a watcher of a real one gets to see, with its delays and its lies: ../README.md
 * has the list, by the numbers that tests name, and what is not modelled.
 */

/** Starts both controllers and the API's socket. */
export async function startArgoCd(options: ArgoCdOptions): Promise<ArgoCdSim> {
  const { clock, webhookSecret, port, host = "127.0.0.1", bootstrap } = options;
  const parts = startControllers(options);
  const { store, namespace, scheduler, clusters, repositories, rollouts, apps, sets, sources } = parts;
  const began = kubeTime(clock.now());
  const connections = () => connectionsOf(store, clusters, (cluster) => isNoticed(parts.board, cluster), began);
  const api = createArgoApi({
    ...{ store, clock, namespace },
    clusters: connections,
    generate: (set) => generate(set, clusters, repositories, parts.render),
    rollouts: options.rollouts ?? rollouts.backend,
    isCut(app) {
      const cluster = clusters.resolve(app.spec.destination);
      return !("error" in cluster) && parts.board.has("unreachable", cluster.name);
    },
    managed: ({ metadata }) => apps.managed(metadata.namespace ?? namespace, metadata.name),
    manifests: (app, revisions) => manifestsAt(parts, app, revisions),
    token: options.apiToken,
  });
  const authority = options.tls === true ? createAuthority() : undefined;
  const certificate = authority?.issue([host, "localhost"]);
  const push = (one: Push) => notifyPush(parts, one);
  const { url, close } = await listen(
    createArgoServer({ push, api: api.handle, pages: createPages(store, clock), certificate, secret: webhookSecret }),
    port,
    host,
  );
  const levers = leversOf(parts);
  playScript(options.faults ?? {}, scheduler, { board: parts.board, relabel: levers.relabel, repoDown: repositories.setDown });
  if (bootstrap !== undefined) store.create(parentApplication(bootstrap, namespace));
  return {
    ...{ url, ca: authority?.ca, api, namespace, notifyPush: push, clusters: connections },
    ...levers,
    liveHealth: (application) => apps.truth(namespace, application)?.health,
    truth: (application) => apps.truth(namespace, application),
    rolloutsOf(application) {
      const found = store.get("applications", namespace, application);
      return found === undefined ? [] : rollouts.backend.of(asApplication(found));
    },
    idle: () => scheduler.idle(),
    nextAt: () => scheduler.next(),
    async close() {
      for (const one of [scheduler, apps, sets, clusters]) one.close();
      await scheduler.idle();
      for (const source of sources) await source.close();
      await close();
    },
  };
}

type Parts = ReturnType<typeof startControllers>;

/** The controllers, and what they share. */
function startControllers(options: ArgoCdOptions) {
  const { clock, seed = 1, namespace = "argocd", registry = anyVersion, render = renderSet, persistsHealth = false } = options;
  const { store } = options.kubernetes;
  const lag: Lag = { ...REAL_LAG, ...options.lag };
  const sources = "fetch" in options.git ? [options.git] : options.git;
  const scheduler = new Scheduler(clock);
  createFirstObjects(store, namespace, options.clusters ?? []);
  const clusters = createClusterIndex(store, namespace);
  const repositories = createRepositories(sources, registry, { now: () => scheduler.now(), ttl: lag.reconciliation });
  const manifests = createManifests(repositories);
  const board = createFaultBoard((cluster, before, after) => apps.clusterFaultsChanged(cluster, before, after));
  const rollouts = createFleetRollouts({ store, clusters, board, scheduler, lag });
  const apps = startApplicationController(
    { store, scheduler, lag, board, clusters, manifests, repositories, namespace, persistsHealth, rollouts },
    seed,
  );
  const sets = startApplicationSetController({ store, scheduler, lag, clusters, repositories, render, seed });
  return { store, namespace, render, sources, scheduler, clusters, repositories, manifests, board, rollouts, apps, sets };
}

function notifyPush({ sources, apps, sets }: Parts, push: Push): void {
  const held = sources.find((source) => push.repoURLs.some((url) => source.matches(url)));
  const known: Push = held === undefined ? push : { ...push, sameRepo: (url) => held.matches(url) };
  apps.push(known);
  sets.push(known);
}

/** What tests and `stagecoach sim` may do to it. */
function leversOf({ store, namespace, clusters, repositories, board, apps, sets }: Parts) {
  return {
    addCluster: (cluster) => void store.create(clusterSecret(cluster, namespace)),
    removeCluster: (name) => void store.delete("secrets", namespace, secretOf(clusters, name)),
    relabel: (name, labels) => relabelCluster(store, clusters, namespace, name, labels),
    setFault: (cluster, fault) => board.set(cluster, fault === null ? [] : "kind" in fault ? [fault] : fault),
    setRepoDown: repositories.setDown,
    setControllersDown(down) {
      apps.setDown(down);
      sets.setDown(down);
    },
    failGenerator: sets.fail,
    setSyncWindows(name, syncWindows) {
      const edit = (object: KubeObject) => ({ ...object, spec: { ...(object["spec"] as object), syncWindows } });
      if (store.change("appprojects", namespace, name, edit) === undefined) throw new Error(`no AppProject "${name}" in ${namespace}`);
    },
    resume: apps.resume,
    drift: (application) => apps.drift(namespace, application),
  } satisfies Partial<ArgoCdSim>;
}

/** What stands in the cluster before the controllers start. */
function createFirstObjects(store: Store, namespace: string, clusters: readonly ClusterOptions[]): void {
  if (store.get("namespaces", "", namespace) === undefined)
    store.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  if (store.get("appprojects", namespace, "default") === undefined) store.create(project(namespace));
  for (const cluster of clusters) store.create(clusterSecret(cluster, namespace));
}

/** Rendered where it makes Argo CD's own objects, and what stands for the objects elsewhere. */
async function manifestsAt({ manifests, clusters, namespace }: Parts, app: Application, revisions: readonly string[]): Promise<string[]> {
  const { metadata, spec } = app;
  const made = await manifests.desired({ spec, revisions, force: false, texts: [] });
  const cluster = clusters.resolve(spec.destination);
  if ("error" in cluster || cluster.server !== IN_CLUSTER.server) return await made.objects();
  const own = await made.rendered({ name: metadata.name, namespace: spec.destination.namespace ?? namespace });
  return shownManifests(app, own) ?? (await made.objects());
}

/** The Applications that a set would generate, as the API answers them. */
async function generate(set: KubeObject, clusters: ClusterIndex, repositories: Repositories, render: Render): Promise<KubeObject[]> {
  const known = clustersOfGenerators(clusters);
  const result = await renderWithFiles((repo) => render(set, { clusters: known, repo }), repositories, true);
  if (!result.ok) throw new Error(result.problems.map((one) => sayRender(one).message).join("; "));
  return result.applications.map(({ metadata: { ownerReferences: _, ...metadata }, ...application }) => ({ ...application, metadata }));
}
