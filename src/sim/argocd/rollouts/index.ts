import type { Store } from "../../kubernetes/store.ts";
import { type RolloutsBackend, storedRollouts } from "../api/rollouts.ts";
import type { Lag } from "../application/lag.ts";
import type { RolloutSet } from "../application/workload.ts";
import { type ClusterIndex, IN_CLUSTER } from "../clusters.ts";
import type { FaultBoard } from "../faults.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Application } from "../types.ts";
import { ClusterRollouts } from "./controller.ts";
import { memoryShelf, type RolloutObject, storeShelf } from "./objects.ts";

/** The Argo Rollouts of every cluster, each with a controller of its own, so that one name may stand on several. */
export interface FleetRollouts {
  on(cluster: { name: string; server: string }): ClusterRollouts;
  /** undefined: none was ever applied there. */
  known(cluster: string): ClusterRollouts | undefined;
  /** As Argo CD's API shows and changes them. */
  backend: RolloutsBackend;
}

interface FleetParts {
  store: Store;
  clusters: ClusterIndex;
  board: FaultBoard;
  scheduler: Scheduler;
  lag: Lag;
}

export function createFleetRollouts({ store, clusters, board, scheduler, lag }: FleetParts): FleetRollouts {
  const fleet = new Map<string, ClusterRollouts>();
  const stored = storedRollouts(store);

  function on({ name, server }: { name: string; server: string }): ClusterRollouts {
    const known = fleet.get(name);
    if (known !== undefined) return known;
    const shelf = server === IN_CLUSTER.server ? storeShelf(store) : memoryShelf(() => scheduler.now(), name);
    const made = new ClusterRollouts({ shelf, board, scheduler, reactionMs: lag.health });
    fleet.set(name, made);
    return made;
  }

  function clusterOf(app: Application): ClusterRollouts | undefined {
    const cluster = clusters.resolve(app.spec.destination);
    return "error" in cluster ? undefined : fleet.get(cluster.name);
  }

  /** Those of the simulated clusters; where there are none, what somebody put into the embedded Kubernetes API. */
  function of(app: Application): RolloutObject[] {
    const prefix = `${app.metadata.name}:`;
    const own = clusterOf(app)?.shelf.list() ?? [];
    const mine = own.filter(({ metadata }) => metadata.annotations?.["argocd.argoproj.io/tracking-id"]?.startsWith(prefix) === true);
    return mine.length > 0 ? mine : (stored.of(app) as RolloutObject[]);
  }

  return {
    on,
    known: (cluster) => fleet.get(cluster),
    backend: {
      of,
      pods(app, rollout) {
        const cluster = clusterOf(app);
        const found = cluster?.shelf.get(rollout.metadata.namespace ?? "", rollout.metadata.name);
        if (cluster === undefined || found === undefined) return stored.pods(app, rollout);
        return podsOf(cluster, found);
      },
      write(app, rollout) {
        const cluster = clusterOf(app);
        const { namespace = "", name } = rollout.metadata;
        if (cluster?.shelf.get(namespace, name) === undefined) stored.write(app, rollout);
        else cluster.shelf.put(rollout as RolloutObject);
      },
    },
  };
}

/** The Rollouts of one Application, in whichever cluster its destination means now. */
export function rolloutSet(
  fleet: FleetRollouts,
  cluster: () => { name: string; server: string } | undefined,
  application: string,
  owner: Parameters<ClusterRollouts["setOf"]>[1],
): RolloutSet {
  const known = () => fleet.known(cluster()?.name ?? "")?.setOf(application, owner);
  return {
    apply(manifests) {
      const at = cluster();
      if (at !== undefined) fleet.on(at).setOf(application, owner).apply(manifests);
    },
    health: () => known()?.health(),
    resume: () => known()?.resume(),
    faultsChanged: () => known()?.faultsChanged(),
    remove: () => known()?.remove(),
  };
}

/** Old pods go as new ones come: together they are as many as are wanted. */
function podsOf(cluster: ClusterRollouts, { metadata, status = {} }: RolloutObject): ReturnType<RolloutsBackend["pods"]> {
  const { currentPodHash = "", stableRS = "", updatedReplicas = 0, replicas = 0, phase } = status;
  const make = (hash: string, count: number, healthy: boolean) =>
    Array.from({ length: count }, (_, i) => ({ name: `${metadata.name}-${hash}-${i}`, hash, images: cluster.imagesOf(hash), healthy }));
  const newest = make(currentPodHash, updatedReplicas, phase !== "Progressing");
  return stableRS === currentPodHash ? newest : [...newest, ...make(stableRS, Math.max(0, replicas - updatedReplicas), true)];
}
