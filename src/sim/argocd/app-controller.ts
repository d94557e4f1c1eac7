import { isDeepStrictEqual } from "node:util";
import type { KubeObject, StoreEvent } from "../kubernetes/types.ts";
import { type Actor, applicationOf, clusterOf, LEVEL, patchApplication, type Shared, stretched } from "./actor.ts";
import { IN_CLUSTER, isClusterSecret } from "./clusters.ts";
import type { Fault } from "./faults.ts";
import { randomFor } from "./lag.ts";
import { requestOperationRun } from "./operation.ts";
import { createOwnCluster } from "./own-cluster.ts";
import { type Push, pushConcerns } from "./push.ts";
import { requestRefresh } from "./refresh.ts";
import { withConditions } from "./status.ts";
import { asApplication } from "./types.ts";
import { createWorkload } from "./workload.ts";

const REFRESH = "argocd.argoproj.io/refresh";
/** Faults that keep the automatism from syncing. */
const HOLDING = ["autosync-off", "window-closed"];
const FINALIZER = /^(resources-finalizer\.|.*finalizer\.)?.*argocd\.argoproj\.io/;

export interface ApplicationController {
  /** Somebody pushed: Applications that follow that branch look at once. */
  push(push: Push): void;
  clusterFaultsChanged(cluster: string, before: readonly Fault[], after: readonly Fault[]): void;
  /** Edits a live object of an Application by hand. */
  drift(namespace: string, name: string): void;
  /** Lets paused canaries of a cluster go on. */
  resume(cluster: string): void;
  /** Health in the cluster itself, whatever the Application's status says. */
  liveHealth(namespace: string, name: string): string | undefined;
  close(): void;
}

type Own = Omit<Shared, "refresh" | "applyOwn">;

export function startApplicationController(own: Own, seed: number): ApplicationController {
  const actors = new Map<string, Actor>();
  const ownCluster = createOwnCluster(own.store, own.namespace);
  const shared: Shared = {
    ...own,
    refresh: (actor, level, ms) => requestRefresh(shared, actor, level, stretched(shared, actor, ms ?? shared.lag.refresh)),
    applyOwn: (app, desired) => ownCluster.apply(app, desired),
  };

  function actorOf(object: KubeObject): Actor {
    const { namespace = own.namespace, name } = object.metadata;
    const key = `${namespace}/${name}`;
    const known = actors.get(key);
    if (known !== undefined) return known;
    const random = randomFor(seed, key);
    const spread = (ms: number) => ms * (1 + own.lag.spread * random());
    const cluster = () => {
      const app = own.store.get("applications", namespace, name);
      return app === undefined ? undefined : clusterOf(shared, asApplication(app));
    };
    const workload = createWorkload({
      cluster: () => cluster()?.name ?? "",
      application: name,
      inert: () => cluster()?.server === IN_CLUSTER.server,
      board: own.board,
      times: { flash: () => spread(own.lag.flash), rollout: () => spread(own.lag.rollout) },
      after: own.scheduler.after,
      // What nobody can reach tells nobody.
      onChange: () => requestRefresh(shared, actor, LEVEL.live, spread(own.lag.health)),
    });
    const idle = { waiting: undefined, desired: undefined, repoErrorSince: undefined, comparing: false, operating: false, gone: false };
    const actor: Actor = { namespace, name, workload, random, periodic: () => undefined, syncFailures: 0, heals: 0, ...idle };
    actors.set(key, actor);
    return actor;
  }

  function drop(object: KubeObject): void {
    const actor = actorOf(object);
    actor.gone = true;
    actor.waiting?.stop();
    actor.periodic();
    actor.workload.remove();
    actors.delete(`${actor.namespace}/${actor.name}`);
  }

  /** What is being deleted takes its workload with it, once the cluster can be reached. */
  function finalize(actor: Actor): void {
    own.scheduler.after(stretched(shared, actor, own.lag.sync), () => {
      const app = applicationOf(shared, actor);
      if (app === undefined) return;
      const cluster = clusterOf(shared, app)?.name;
      if (cluster !== undefined && own.board.has("unreachable", cluster)) {
        const found = [{ type: "DeletionError", message: `failed to delete resources of "${cluster}": dial tcp: i/o timeout` }];
        patchApplication(shared, actor, (_, status) => ({ status: withConditions(status, found, own.scheduler.now()) }));
        own.scheduler.after(own.lag.connection, () => finalize(actor));
        return;
      }
      actor.workload.remove();
      const finalizers = (app.metadata.finalizers ?? []).filter((finalizer) => !FINALIZER.test(finalizer));
      patchApplication(shared, actor, ({ metadata }) => ({ metadata: { ...metadata, finalizers } }));
    });
  }

  function onApplication({ type, object, previous }: StoreEvent): void {
    if (type === "DELETED") {
      drop(object);
      return;
    }
    const actor = actorOf(object);
    if (object.metadata.deletionTimestamp !== undefined) {
      if (previous?.metadata.deletionTimestamp === undefined) finalize(actor);
      return;
    }
    const [app, before] = [asApplication(object), previous === undefined ? undefined : asApplication(previous)];
    const respecified = before === undefined || (before.spec !== app.spec && !isDeepStrictEqual(before.spec, app.spec));
    const asked = object.metadata.annotations?.[REFRESH];
    if (respecified || (asked !== undefined && asked !== previous?.metadata.annotations?.[REFRESH])) shared.refresh(actor, LEVEL.force);
    if (app.operation !== undefined && !actor.operating) requestOperationRun(shared, actor);
  }

  function onOwnObject({ type, object }: StoreEvent): void {
    const owner = type === "MODIFIED" ? ownCluster.driftedFrom(object) : undefined;
    if (owner !== undefined) actors.get(`${own.namespace}/${owner}`)?.workload.drift();
  }

  function* onCluster(cluster: string): Generator<Actor> {
    for (const actor of actors.values()) {
      const app = applicationOf(shared, actor);
      if (app !== undefined && clusterOf(shared, app)?.name === cluster) yield actor;
    }
  }

  /** A cluster that comes, goes or is renamed makes destinations good or bad. */
  function onSecret({ object }: StoreEvent): void {
    if (!isClusterSecret(object)) return;
    for (const actor of actors.values()) {
      const app = applicationOf(shared, actor);
      if (app === undefined) continue;
      const invalid = app.status?.conditions?.some(({ type }) => type === "InvalidSpecError") === true;
      if (invalid !== (clusterOf(shared, app) === undefined)) shared.refresh(actor, LEVEL.force);
    }
  }

  const stops = [
    own.store.subscribe("applications", onApplication),
    own.store.subscribe("applicationsets", onOwnObject),
    own.store.subscribe("secrets", onSecret),
  ];
  for (const object of own.store.list("applications")) onApplication({ revision: own.store.revision(), type: "ADDED", object });

  return {
    push(push) {
      for (const actor of actors.values()) {
        const app = applicationOf(shared, actor);
        if (app !== undefined && pushConcerns(app, push)) shared.refresh(actor, LEVEL.force, own.lag.webhook);
      }
    },
    clusterFaultsChanged(cluster, before, after) {
      const had = (faults: readonly Fault[], kinds: readonly string[]) => faults.some(({ kind }) => kinds.includes(kind));
      const moved = had(before, ["unreachable"]) !== had(after, ["unreachable"]);
      // What was held back is looked at again; what happens to a workload is told by the workload.
      const released = had(before, HOLDING) && !had(after, HOLDING);
      for (const actor of onCluster(cluster)) {
        actor.workload.faultsChanged();
        if (moved) shared.refresh(actor, LEVEL.latest, own.lag.connection);
        else if (released) shared.refresh(actor, LEVEL.latest);
      }
    },
    drift: (namespace, name) => actors.get(`${namespace}/${name}`)?.workload.drift(),
    resume(cluster) {
      for (const actor of onCluster(cluster)) actor.workload.resume();
    },
    liveHealth: (namespace, name) => actors.get(`${namespace}/${name}`)?.workload.live.health,
    close() {
      for (const stop of stops) stop();
    },
  };
}
