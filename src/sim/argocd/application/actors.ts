/** The Applications as the application controller remembers them: made when first seen, each with its workload. */
import type { KubeObject } from "../../kubernetes/types.ts";
import { type Actor, applicationOf, clusterOf, LEVEL, type Shared } from "../actor.ts";
import { IN_CLUSTER, type RegisteredCluster } from "../clusters.ts";
import { type FleetRollouts, rolloutSet } from "../rollouts/index.ts";
import { asApplication } from "../types.ts";
import { randomFor } from "./lag.ts";
import { requestRefresh } from "./refresh.ts";
import { WorkloadModel } from "./workload.ts";

export interface Actors {
  /** Gives the one of an object, which is made where there is none. */
  of(object: KubeObject): Actor;
  get(namespace: string, name: string): Actor | undefined;
  all(): Iterable<Actor>;
  /** Those whose destination is this cluster. */
  in(cluster: string): Iterable<Actor>;
  /** Forgets one that was deleted, with its workload. */
  drop(object: KubeObject): void;
}

export function createActors(shared: Shared, fleet: FleetRollouts, seed: number): Actors {
  const actors = new Map<string, Actor>();

  function of({ metadata: { namespace = shared.namespace, name } }: KubeObject): Actor {
    const key = `${namespace}/${name}`;
    const known = actors.get(key);
    if (known !== undefined) return known;
    const made = createActor(shared, fleet, { namespace, name, random: randomFor(seed, key) });
    actors.set(key, made);
    return made;
  }

  return {
    of,
    get: (namespace, name) => actors.get(`${namespace}/${name}`),
    all: () => actors.values(),
    *in(cluster) {
      for (const actor of actors.values()) {
        const app = applicationOf(shared, actor);
        if (app !== undefined && clusterOf(shared, app)?.name === cluster) yield actor;
      }
    },
    drop(object) {
      const actor = of(object);
      actor.gone = true;
      actor.waiting?.stop();
      actor.periodic();
      actor.workload.remove();
      actors.delete(`${actor.namespace}/${actor.name}`);
    },
  };
}

function createActor(shared: Shared, fleet: FleetRollouts, own: Pick<Actor, "namespace" | "name" | "random">): Actor {
  const { lag, board, scheduler } = shared;
  const { namespace, name, random } = own;
  const spread = (ms: number) => ms * (1 + lag.spread * random());
  const cluster = (): RegisteredCluster | undefined => {
    const app = shared.store.get("applications", namespace, name);
    return app === undefined ? undefined : clusterOf(shared, asApplication(app));
  };
  const rollouts = rolloutSet(fleet, cluster, name, {
    subject: () => ({ cluster: cluster()?.name ?? "", application: name, mentions: (text) => workload.mentions(text) }),
    podsMs: () => spread(lag.rollout),
    onChange: () => void workload.follow(),
  });
  const workload = new WorkloadModel({
    cluster: () => cluster()?.name ?? "",
    application: name,
    inert: () => cluster()?.server === IN_CLUSTER.server,
    board,
    times: { flash: () => spread(lag.flash), rollout: () => spread(lag.rollout) },
    after: (ms, task) => scheduler.after(ms, task),
    // What nobody can reach tells nobody.
    onChange: () => requestRefresh(shared, actor, LEVEL.live, spread(lag.health)),
    rollouts,
  });
  const none = { waiting: undefined, desired: undefined, remembered: undefined, repoErrorSince: undefined, blocked: undefined };
  const idle = { ...none, comparing: false, operating: false, gone: false };
  const actor: Actor = { ...own, workload, periodic: () => undefined, life: 0, syncFailures: 0, heals: 0, ...idle };
  return actor;
}
