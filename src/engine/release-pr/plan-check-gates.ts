import type { Plan } from "../../core/plan/plan-types.ts";
import type { Warning } from "../../core/reasons/problem.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import { type Declared, declaredAt } from "../config-repo/inventory.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { applicationsOf } from "../resolve/draft.ts";
import { clustersOf, planesFor } from "../resolve/fleet.ts";
import { indexClusters } from "../resolve/targets-join.ts";
import type { RepoContext } from "../round/context.ts";
import type { PlanBase } from "./judged-pull.ts";
import { quarantineWarning } from "./plan-check-quarantine.ts";

const MOST_TEAMS = 20;

/** What only GitHub and Argo CD can tell of a rollout's gates: teams nobody can be in, and dependencies that hold nothing. */
export async function gateWarnings(
  context: Pick<RepoContext, "forge" | "planes" | "grants" | "log">,
  rollout: Rollout,
  plan: Plan,
  base: Pick<PlanBase, "project">,
  snapshot?: Snapshot,
): Promise<Warning[]> {
  const declared = snapshot === undefined ? undefined : await declaredAt(snapshot, rollout);
  return [
    ...(await unseenTeams(context, rollout)),
    ...(await lonelyDependencies(context, rollout, plan, base, snapshot)),
    ...quarantineWarning(context, rollout, plan, declared),
  ];
}

/** A team is asked for by one membership: the answer tells a team without that member from one that cannot be seen. */
async function unseenTeams(context: Pick<RepoContext, "forge" | "log">, rollout: Rollout): Promise<Warning[]> {
  const teams = [...new Set(rollout.stages.flatMap((stage) => stage.approval?.teams ?? []))].slice(0, MOST_TEAMS);
  const unseen: string[] = [];
  for (const team of teams) {
    try {
      if ((await context.forge.inTeam(team, "ghost")) === undefined) unseen.push(team);
    } catch (error) {
      context.log.warn({ team, error: String(error) }, "a team could not be looked for");
    }
  }
  return unseen.length === 0 ? [] : [{ code: "TEAM_UNSEEN", teams: unseen }];
}

/** A rollout that is on no cluster of this one holds nothing back: most often another one was meant. */
async function lonelyDependencies(
  context: Pick<RepoContext, "planes" | "grants">,
  rollout: Rollout,
  plan: Plan,
  { project }: Pick<PlanBase, "project">,
  snapshot: Snapshot | undefined,
): Promise<Warning[]> {
  const mine = new Set(plan.stages.flatMap((stage) => [...stage.clusters, ...stage.requeued]));
  const warnings: Warning[] = [];
  for (const dependency of rollout.dependsOn ?? []) {
    const other = project.rollouts.find((one) => one.name === dependency.rollout);
    if (other === undefined) continue;
    const theirs = clustersOfRollout(context, other, snapshot === undefined ? undefined : await declaredAt(snapshot, other));
    if (theirs === undefined || [...theirs].some((cluster) => mine.has(cluster))) continue;
    warnings.push({ code: "DEPENDS_NOWHERE", dependency: other.name, rollout: rollout.name });
  }
  return warnings;
}

/** undefined: they cannot be seen now. */
function clustersOfRollout(
  context: Pick<RepoContext, "planes" | "grants">,
  rollout: Rollout,
  declared: Declared | undefined,
): Set<string> | undefined {
  const { source } = rollout;
  const fleet = clustersOf(context, source.controlPlanes, { declared });
  if (!fleet.known) return undefined;
  const index = indexClusters(fleet.clusters);
  const seen = planesFor(context, source.controlPlanes).flatMap((plane) =>
    plane.applications(source.kind === "ApplicationSet" ? source : undefined).map((view) => ({ controlPlane: plane.name, view })),
  );
  const found = applicationsOf(rollout, seen).map(({ controlPlane, view }) => index.find(controlPlane, view));
  return new Set(found.flatMap((cluster) => ("missing" in cluster ? [] : [cluster.key])));
}
