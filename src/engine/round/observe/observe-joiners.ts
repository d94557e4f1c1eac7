import type { Cluster } from "../../../core/plan/plan-types.ts";
import { sayProblem } from "../../../core/report/reasons/problems.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Joiner, World } from "../../../core/run/state/world.ts";
import { withGeneratorParams } from "../../config-repo/generator-params.ts";
import { type Declared, declaredAt } from "../../config-repo/inventory.ts";
import { clustersOf, planesFor } from "../../resolve/fleet.ts";
import { resolveTargets } from "../../resolve/targets.ts";
import { normaliseServer } from "../../resolve/targets-join.ts";
import { applicationsOf, type SeenApplication } from "../../resolve/targets-select.ts";
import type { RepoContext } from "../context.ts";
import { type RepoMemory, remark } from "../memory.ts";

/** So many are looked at in one round; more join in later ones. */
const MOST_JOINERS = 200;

/**
 * Clusters with Applications of the rollout's source that the run's plan does not have, their pins resolved as planning does. One whose
 * pin cannot be found yet is left out and said so: an Application may be there before its pin is merged.
 */
export async function observeJoiners(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
  base: string,
  baseBranch: string,
  declared?: Declared,
): Promise<Pick<World, "joiners">> {
  if (isEnded(run) || run.ending !== undefined || run.kind === "Rollback") return {};
  const unknown = unknownApplications(context, run);
  if (unknown.length === 0) {
    remark(memory, run.rollout, "joiners", undefined);
    return { joiners: [] };
  }
  const key = `${base} ${unknown.map(keyOf).join(" ")}`;
  const before = memory.joiners.get(run.rollout);
  const joiners = before?.key === key ? before.joiners : await resolve(context, memory, run, base, baseBranch, unknown, declared);
  memory.joiners.set(run.rollout, { key, joiners });
  // Labels are those of now: they say which stage takes it.
  const now = new Map(clustersOf(context, run.spec.source.controlPlanes, { declared }).clusters.map((cluster) => [cluster.key, cluster]));
  return { joiners: joiners.map((one) => ({ ...one, cluster: now.get(one.cluster.key) ?? one.cluster })) };
}

function keyOf({ controlPlane, view }: SeenApplication): string {
  return `${controlPlane}/${view.namespace}/${view.name}`;
}

function unknownApplications(context: RepoContext, run: Run): SeenApplication[] {
  const known = new Set<string>();
  for (const stage of run.plan.stages) {
    for (const batch of stage.batches) for (const { key } of batch.targets) known.add(key);
    for (const { key } of stage.requeuedTargets) known.add(key);
  }
  for (const one of run.joined ?? []) for (const { key } of one.targets) known.add(key);
  const { source } = run.spec;
  const owner = source.kind === "ApplicationSet" ? { namespace: source.namespace, name: source.name } : undefined;
  const seen = planesFor(context, source.controlPlanes)
    .filter((plane) => plane.state().fresh)
    .flatMap((plane) => plane.applications(owner).map((view) => ({ controlPlane: plane.name, view })))
    .filter((one) => !known.has(keyOf(one)));
  return applicationsOf(run.spec, seen).slice(0, MOST_JOINERS);
}

async function resolve(
  context: RepoContext,
  memory: RepoMemory,
  run: Run,
  base: string,
  baseBranch: string,
  unknown: readonly SeenApplication[],
  declared: Declared | undefined,
): Promise<Joiner[]> {
  const names = run.spec.source.controlPlanes;
  const snapshot = memory.commits.snapshot(base);
  const applications = await withGeneratorParams(context, run.spec, unknown, planesFor(context, names), snapshot, baseBranch);
  // While the inventory cannot be read nobody joins: where Applications are would be guessed from themselves.
  if (declared?.ok === false) return [];
  const { clusters } = clustersOf(context, names, { declared });
  const resolved = await snapshot.with((files) =>
    resolveTargets({ rollout: run.spec, release: run.release, applications, clusters, readFile: (path) => files.read(path) }),
  );
  const [problem] = resolved.problems.filter((one) => one.severity === "error");
  const words =
    problem === undefined ? undefined : `Applications appeared during the run and cannot join it yet: ${sayProblem(problem).message}`;
  remark(memory, run.rollout, "joiners", words);
  const byCluster = Map.groupBy(resolved.targets, (target) => target.cluster);
  return resolved.clusters.flatMap((cluster) => {
    const targets = byCluster.get(cluster.key) ?? [];
    const planned = targets.map(({ key, application, cluster: on, edits }) => ({ key, application, cluster: on, edits }));
    return planned.length === 0 ? [] : [{ cluster, targets: planned }];
  });
}

/** The run's own inventory as it is on the base now; what is wrong with it is told on the run's page. */
export async function observeInventory(memory: RepoMemory, run: Run, base: string): Promise<Declared | undefined> {
  if (run.spec.inventory === undefined) return undefined;
  const declared = await declaredAt(memory.commits.snapshot(base), run.spec);
  const [problem] = declared?.ok === false ? declared.problems : [];
  const said = problem === undefined ? undefined : sayProblem(problem);
  const place = problem === undefined ? "" : `${problem.file}:${problem.line}:${problem.column}`;
  const words = `The clusters cannot be read, so nothing that depends on them goes on: ${said?.message} (${place}); ${said?.hint}.`;
  remark(memory, run.rollout, "inventory", problem === undefined ? undefined : words);
  return declared;
}

/** By cluster key: those to which Argo CD says its connection failed, and why. */
export function observeUnreachable(context: RepoContext, run: Run, clusters: readonly Cluster[]): Pick<World, "unreachable"> {
  if (run.spec.quarantine === undefined) return {};
  const unreachable = new Map<string, string>();
  const index = new Map(clusters.map((cluster) => [`${cluster.controlPlane} ${normaliseServer(cluster.server)}`, cluster.key]));
  for (const plane of planesFor(context, run.spec.source.controlPlanes)) {
    if (!plane.state().fresh) continue;
    for (const { name, server, connection } of plane.clusters()) {
      if (connection?.status !== "Failed") continue;
      const why = connection.message.slice(0, 300) || "connection failed";
      unreachable.set(`${plane.name}/${name}`, why);
      // The inventory may call it otherwise.
      const key = run.spec.inventory === undefined ? undefined : index.get(`${plane.name} ${normaliseServer(server)}`);
      if (key !== undefined) unreachable.set(key, why);
    }
  }
  return { unreachable };
}
