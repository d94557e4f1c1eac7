import { isDeepStrictEqual } from "node:util";
import type { KubeObject, StoreEvent } from "../../kubernetes/types.ts";
import { type Actor, applicationOf, clusterOf, hasFault, LEVEL, type Level, patchApplication, type Shared, stretched } from "../actor.ts";
import { IN_CLUSTER, isClusterSecret } from "../clusters.ts";
import type { Fault } from "../faults.ts";
import { type Push, pushConcerns } from "../git/push.ts";
import { createOwnCluster } from "../own-cluster.ts";
import { type FleetRollouts, rolloutSet } from "../rollouts/index.ts";
import { asApplication } from "../types.ts";
import { createHydrator } from "./hydrator.ts";
import { randomFor } from "./lag.ts";
import { requestOperationRun } from "./operation.ts";
import { requestRefresh } from "./refresh.ts";
import { withConditions } from "./status.ts";
import { createWorkload, type Workload } from "./workload.ts";

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
  /** Stops the whole controller, or starts it again. */
  setDown(down: boolean): void;
  /** What runs in the cluster. */
  truth(namespace: string, name: string): Readonly<Workload> | undefined;
  close(): void;
}

/** What the controller is given. */
export type Own = Omit<Shared, "refresh" | "applyOwn" | "isDown" | "hydrate"> & { rollouts: FleetRollouts };

export function startApplicationController(own: Own, seed: number): ApplicationController {
  const actors = new Map<string, Actor>();
  const ownCluster = createOwnCluster(own.store, own.namespace);
  let stopped = false;
  const shared: Shared = {
    ...own,
    refresh: (actor, level, ms) =>
      requestRefresh(shared, actor, level, stretched(shared, actor, ms ?? shared.lag.refresh) + lateness(actor, level)),
    applyOwn: (app, desired) => ownCluster.apply(app, desired),
    isDown: (actor) => stopped || own.board.has("controller-down", clusterNameOf(actor)),
    hydrate: (actor) => hydrator.look(actor),
  };
  const hydrator = createHydrator(shared, () => actors.values());

  function clusterNameOf(actor: Actor): string {
    const app = applicationOf(shared, actor);
    return (app === undefined ? undefined : clusterOf(shared, app)?.name) ?? "";
  }

  /** Live objects are watched: only comparisons with Git stand in the queue of a busy shard. */
  function lateness(actor: Actor, level: Level): number {
    if (level === LEVEL.live) return 0;
    const cluster = clusterNameOf(actor);
    return own.board.find("late", { cluster, application: actor.name, mentions: () => true })?.by ?? 0;
  }

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
    const rollouts = rolloutSet(own.rollouts, cluster, name, {
      subject: () => ({ cluster: cluster()?.name ?? "", application: name, mentions: (text) => workload.mentions(text) }),
      podsMs: () => spread(own.lag.rollout),
      onChange: () => void workload.follow(),
    });
    const workload = createWorkload({
      cluster: () => cluster()?.name ?? "",
      application: name,
      inert: () => cluster()?.server === IN_CLUSTER.server,
      board: own.board,
      times: { flash: () => spread(own.lag.flash), rollout: () => spread(own.lag.rollout) },
      after: own.scheduler.after,
      // What nobody can reach tells nobody.
      onChange: () => requestRefresh(shared, actor, LEVEL.live, spread(own.lag.health)),
      rollouts,
    });
    const none = { waiting: undefined, desired: undefined, repoErrorSince: undefined, blocked: undefined };
    const idle = { ...none, comparing: false, operating: false, gone: false };
    const actor: Actor = { namespace, name, workload, random, periodic: () => undefined, life: 0, syncFailures: 0, heals: 0, ...idle };
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
      if (shared.isDown(actor)) return void own.scheduler.after(own.lag.connection, () => finalize(actor));
      if (hasFault(shared, cluster, "unreachable")) {
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
    const newlyAsked = asked !== undefined && asked !== previous?.metadata.annotations?.[REFRESH];
    const lost = actor.comparing && own.board.has("refresh-lost", clusterNameOf(actor));
    if (respecified || (newlyAsked && !lost)) shared.refresh(actor, LEVEL.force);
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

  /** What is under way comes to nothing; what waits is forgotten. */
  function halt(actor: Actor): void {
    actor.life += 1;
    actor.waiting?.stop();
    actor.periodic();
    actor.waiting = undefined;
    actor.blocked = undefined;
    actor.operating = false;
  }

  /** As after a start: the clusters' state is read anew, every Application is compared, and operations are taken up again. */
  function begin(actor: Actor): void {
    shared.refresh(actor, LEVEL.latest, own.lag.connection);
    if (applicationOf(shared, actor)?.operation !== undefined) requestOperationRun(shared, actor);
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
      const [wasDown, isDown] = [had(before, ["controller-down"]), had(after, ["controller-down"])];
      for (const actor of onCluster(cluster)) {
        actor.workload.faultsChanged();
        if (!wasDown && isDown) halt(actor);
        if (wasDown && !isDown) begin(actor);
        if (moved) shared.refresh(actor, LEVEL.latest, own.lag.connection);
        else if (released) shared.refresh(actor, LEVEL.latest);
      }
    },
    drift: (namespace, name) => actors.get(`${namespace}/${name}`)?.workload.drift(),
    resume(cluster) {
      for (const actor of onCluster(cluster)) actor.workload.resume();
    },
    setDown(down) {
      if (down === stopped) return;
      stopped = down;
      for (const actor of actors.values()) down ? halt(actor) : begin(actor);
    },
    truth: (namespace, name) => actors.get(`${namespace}/${name}`)?.workload.live,
    close() {
      for (const stop of stops) stop();
    },
  };
}
