import { matches } from "../../core/base/selector.ts";
import type { Cluster, Plan } from "../../core/plan/plan-types.ts";
import type { Warning } from "../../core/reasons/problem.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { Declared } from "../config-repo/inventory.ts";
import { clustersOf, planesFor } from "../resolve/fleet.ts";
import { normaliseServer } from "../resolve/targets-join.ts";
import type { RepoContext } from "../round/context.ts";

/** Clusters of the plan that the rule `quarantine` would leave out now. */
export function quarantineWarning(
  context: Pick<RepoContext, "planes" | "grants">,
  rollout: Rollout,
  plan: Plan,
  declared?: Declared,
): Warning[] {
  const rule = rollout.quarantine;
  if (rule === undefined) return [];
  const planned = new Set(plan.stages.flatMap((stage) => [...stage.clusters, ...stage.requeued]));
  const names = rollout.source.controlPlanes;
  const failed = new Set(
    planesFor(context, names).flatMap((plane) =>
      plane
        .clusters()
        .flatMap(({ name, server, connection }) =>
          connection?.status === "Failed" ? [`${plane.name}/${name}`, `${plane.name} ${normaliseServer(server)}`] : [],
        ),
    ),
  );
  const stopped = (cluster: Cluster) =>
    failed.has(cluster.key) ||
    (declared !== undefined && failed.has(`${cluster.controlPlane} ${normaliseServer(cluster.server)}`)) ||
    (rule.selector !== undefined && matches(rule.selector, cluster));
  const out = clustersOf(context, names, { declared }).clusters.filter((cluster) => planned.has(cluster.key) && stopped(cluster));
  return out.length === 0 ? [] : [{ code: "IN_QUARANTINE", clusters: out.map((cluster) => cluster.name) }];
}
