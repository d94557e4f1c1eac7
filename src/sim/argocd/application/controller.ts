/**
 * The application controller: it follows the objects in the store, pushes and faults, and asks the refresh loop (refresh.ts) and the
 * operation loop (operation.ts) to look at the Applications concerned. `startArgoCd` starts it.
 */
import { isDeepStrictEqual } from "node:util";
import type { StoreEvent } from "../../kubernetes/types.ts";
import { type Actor, applicationOf, clusterOf, hasFault, LEVEL, type Level, patchApplication, type Shared, stretched } from "../actor.ts";
import { isClusterSecret } from "../clusters.ts";
import type { Fault } from "../faults.ts";
import { type Push, pushConcerns } from "../git/push.ts";
import { createOwnCluster } from "../own-cluster.ts";
import type { FleetRollouts } from "../rollouts/index.ts";
import { asApplication } from "../types.ts";
import { type Actors, createActors } from "./actors.ts";
import { createHydrator } from "./hydrator.ts";
import { requestOperationRun } from "./operation.ts";
import { requestRefresh } from "./refresh.ts";
import { withConditions } from "./status.ts";
import type { Workload } from "./workload.ts";

const REFRESH = "argocd.argoproj.io/refresh";
/** Faults that keep the automatism from syncing. */
const HOLDING = ["autosync-off", "window-closed"];
const FINALIZER = /^(resources-finalizer\.|.*finalizer\.)?.*argocd\.argoproj\.io/;

interface ApplicationController {
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
  /** What stands for an Application's objects, as it was compared last. */
  managed(namespace: string, name: string): Promise<{ live: string[]; target: string[] }>;
  close(): void;
}

/** What the controller is given. */
type Own = Omit<Shared, "refresh" | "applyOwn" | "madeBy" | "isDown" | "hydrate"> & { rollouts: FleetRollouts };

export function startApplicationController(own: Own, seed: number): ApplicationController {
  const ownCluster = createOwnCluster(own.store, own.namespace);
  let stopped = false;
  const shared: Shared = {
    ...own,
    refresh: (actor, level, ms) =>
      requestRefresh(shared, actor, level, stretched(shared, actor, ms ?? shared.lag.refresh) + lateness(shared, actor, level)),
    applyOwn: (app, desired) => ownCluster.apply(app, desired),
    madeBy: (owner) => ownCluster.madeBy(owner),
    isDown: (actor) => stopped || own.board.has("controller-down", clusterNameOf(shared, actor)),
    hydrate: (actor) => hydrate(actor),
  };
  const actors = createActors(shared, own.rollouts, seed);
  const hydrate = createHydrator(shared, () => actors.all());

  const stops = [
    own.store.subscribe("applications", (event) => onApplication(shared, actors, event)),
    own.store.subscribe("applicationsets", ({ type, object }) => {
      const owner = type === "MODIFIED" ? ownCluster.driftedFrom(object) : undefined;
      if (owner !== undefined) actors.get(own.namespace, owner)?.workload.drift();
    }),
    own.store.subscribe("secrets", ({ object }) => {
      if (isClusterSecret(object)) onClusterChange(shared, actors);
    }),
  ];
  for (const object of own.store.list("applications"))
    onApplication(shared, actors, { revision: own.store.revision(), type: "ADDED", object });

  return {
    push(push) {
      for (const actor of actors.all()) {
        const app = applicationOf(shared, actor);
        if (app !== undefined && pushConcerns(app, push)) shared.refresh(actor, LEVEL.force, own.lag.webhook);
      }
    },
    clusterFaultsChanged(cluster, before, after) {
      for (const actor of actors.in(cluster)) onFaults(shared, actor, before, after);
    },
    drift: (namespace, name) => actors.get(namespace, name)?.workload.drift(),
    resume(cluster) {
      for (const actor of actors.in(cluster)) actor.workload.resume();
    },
    setDown(down) {
      if (down === stopped) return;
      stopped = down;
      for (const actor of actors.all()) down ? halt(actor) : begin(shared, actor);
    },
    async managed(namespace, name) {
      const { workload, desired } = actors.get(namespace, name) ?? {};
      return { live: (await workload?.applied?.objects()) ?? [], target: (await desired?.objects()) ?? [] };
    },
    truth: (namespace, name) => actors.get(namespace, name)?.workload.live,
    close() {
      for (const stop of stops) stop();
    },
  };
}

function clusterNameOf(shared: Shared, actor: Actor): string {
  const app = applicationOf(shared, actor);
  return (app === undefined ? undefined : clusterOf(shared, app)?.name) ?? "";
}

/** Live objects are watched: only comparisons with Git stand in the queue of a busy shard. */
function lateness(shared: Shared, actor: Actor, level: Level): number {
  if (level === LEVEL.live) return 0;
  const cluster = clusterNameOf(shared, actor);
  return shared.board.find("late", { cluster, application: actor.name, mentions: () => true })?.by ?? 0;
}

function onApplication(shared: Shared, actors: Actors, { type, object, previous }: StoreEvent): void {
  if (type === "DELETED") {
    actors.drop(object);
    return;
  }
  const actor = actors.of(object);
  if (object.metadata.deletionTimestamp !== undefined) {
    if (previous?.metadata.deletionTimestamp === undefined) finalize(shared, actor);
    return;
  }
  const [app, before] = [asApplication(object), previous === undefined ? undefined : asApplication(previous)];
  const respecified = before === undefined || (before.spec !== app.spec && !isDeepStrictEqual(before.spec, app.spec));
  const asked = object.metadata.annotations?.[REFRESH];
  const newlyAsked = asked !== undefined && asked !== previous?.metadata.annotations?.[REFRESH];
  const lost = actor.comparing && shared.board.has("refresh-lost", clusterNameOf(shared, actor));
  if (respecified || (newlyAsked && !lost)) shared.refresh(actor, LEVEL.force);
  if (app.operation !== undefined && !actor.operating) requestOperationRun(shared, actor);
}

/** What is being deleted takes its workload with it, once the cluster can be reached. */
function finalize(shared: Shared, actor: Actor): void {
  const { scheduler, lag } = shared;
  scheduler.after(stretched(shared, actor, lag.sync), () => {
    const app = applicationOf(shared, actor);
    if (app === undefined) return;
    const cluster = clusterOf(shared, app)?.name;
    if (shared.isDown(actor)) return void scheduler.after(lag.connection, () => finalize(shared, actor));
    if (hasFault(shared, cluster, "unreachable")) {
      const found = [{ type: "DeletionError", message: `failed to delete resources of "${cluster}": dial tcp: i/o timeout` }];
      patchApplication(shared, actor, (_, status) => ({ status: withConditions(status, found, scheduler.now()) }));
      scheduler.after(lag.connection, () => finalize(shared, actor));
      return;
    }
    actor.workload.remove();
    const finalizers = (app.metadata.finalizers ?? []).filter((finalizer) => !FINALIZER.test(finalizer));
    patchApplication(shared, actor, ({ metadata }) => ({ metadata: { ...metadata, finalizers } }));
  });
}

/** A cluster that comes, goes or is renamed makes destinations good or bad. */
function onClusterChange(shared: Shared, actors: Actors): void {
  for (const actor of actors.all()) {
    const app = applicationOf(shared, actor);
    if (app === undefined) continue;
    const invalid = app.status?.conditions?.some(({ type }) => type === "InvalidSpecError") === true;
    if (invalid !== (clusterOf(shared, app) === undefined)) shared.refresh(actor, LEVEL.force);
  }
}

/** The faults of an Application's cluster are others now. */
function onFaults(shared: Shared, actor: Actor, before: readonly Fault[], after: readonly Fault[]): void {
  const had = (faults: readonly Fault[], kinds: readonly string[]) => faults.some(({ kind }) => kinds.includes(kind));
  const [wasDown, isDown] = [had(before, ["controller-down"]), had(after, ["controller-down"])];
  actor.workload.faultsChanged();
  if (!wasDown && isDown) halt(actor);
  if (wasDown && !isDown) begin(shared, actor);
  // What was held back is looked at again; what happens to a workload is reported by the workload.
  const known = (faults: readonly Fault[]) => faults.some((fault) => fault.kind === "unreachable" && fault.noticed === true);
  if (known(after)) actor.remembered = undefined;
  if (known(before) !== known(after)) shared.refresh(actor, LEVEL.latest, shared.lag.connection);
  else if (had(before, HOLDING) && !had(after, HOLDING)) shared.refresh(actor, LEVEL.latest);
}

/** The controller stops: what is under way comes to nothing, what waits is forgotten. */
function halt(actor: Actor): void {
  actor.life += 1;
  actor.waiting?.stop();
  actor.periodic();
  actor.waiting = undefined;
  actor.blocked = undefined;
  actor.remembered = undefined;
  actor.operating = false;
}

/** As after a start: the clusters' state is read anew, every Application is compared, and operations are taken up again. */
function begin(shared: Shared, actor: Actor): void {
  shared.refresh(actor, LEVEL.latest, shared.lag.connection);
  if (applicationOf(shared, actor)?.operation !== undefined) requestOperationRun(shared, actor);
}
