import type { ClusterView, ControlPlane } from "../argocd/port.ts";
import type { Cluster } from "../rollout/plan-types.ts";
import type { RepoContext } from "./context.ts";

export interface Fleet {
  clusters: Cluster[];
  /** False where some control plane of the rollout cannot be read now. */
  known: boolean;
  /** Why not. */
  why?: string;
}

/** The clusters of the control planes a rollout names; no name: of the only one there is. */
export function clustersOf(context: Pick<RepoContext, "planes" | "grants">, names: readonly string[]): Fleet {
  const clusters: Cluster[] = [];
  const missing = names.filter((name) => !context.planes.has(name));
  if (missing.length > 0) {
    const refused = missing.map((name) => context.grants?.refusal(name)).find((why) => why !== undefined);
    return { clusters, known: false, why: refused ?? `control plane ${missing.join(", ")} is not configured` };
  }
  for (const plane of planesFor(context, names)) {
    const state = plane.state();
    if (!state.fresh)
      return { clusters: [], known: false, why: `control plane ${plane.name} cannot be seen: ${state.why ?? "no connection"}` };
    for (const view of plane.clusters()) clusters.push(toCluster(plane.name, view));
  }
  return { clusters, known: true };
}

export function planesFor(context: Pick<RepoContext, "planes">, names: readonly string[]): ControlPlane[] {
  const all = [...context.planes.values()];
  return names.length === 0 ? all : all.filter((plane) => names.includes(plane.name));
}

export function toCluster(plane: string, view: ClusterView): Cluster {
  return {
    key: `${plane}/${view.name}`,
    name: view.name,
    controlPlane: plane,
    server: view.server,
    labels: view.labels,
    registered: view.registered,
  };
}
