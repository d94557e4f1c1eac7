import { BoundedMap } from "../../../core/base/bounded.ts";
import type { Cluster } from "../../../core/plan/plan-types.ts";
import { sayProblem } from "../../../core/report/reasons/problems.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Joiner, World } from "../../../core/run/state/world.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { withGeneratorParams } from "../../config-repo/generator-params.ts";
import type { Declared } from "../../config-repo/inventory.ts";
import type { Snapshot } from "../../config-repo/snapshot.ts";
import { applicationsOf, type SeenApplication } from "../../resolve/draft.ts";
import { clustersOf, planesFor } from "../../resolve/fleet.ts";
import { resolveTargets } from "../../resolve/targets.ts";
import { normaliseServer } from "../../resolve/targets-join.ts";
import type { RepoContext } from "../context.ts";

/** So many are looked at in one round; more join in later ones. */
const MOST_JOINERS = 200;

/**
 * Clusters with Applications of the rollout's source that the run's plan does not have, their pins resolved as planning does. One whose
 * pin cannot be found yet is left out and said so: an Application may be there before its pin is merged.
 */
export type ObserveJoiners = (run: Run, base: string, baseBranch: string, declared?: Declared) => Promise<Seen>;

/** `remark`: what people are told on the run's page. */
interface Seen extends Pick<World, "joiners"> {
  remark?: string | undefined;
}

interface Found {
  joiners: Joiner[];
  remark: string | undefined;
}

const MOST_KEPT = 1000;

export function openJoiners(context: RepoContext, commits: Commits): ObserveJoiners {
  /** Rollout → Applications that its run does not know, and what they resolve to. */
  const kept = new BoundedMap<string, { key: string; found: Found }>(MOST_KEPT);
  return (run, base, baseBranch, declared) => observeJoiners(context, commits, kept, run, base, baseBranch, declared);
}

async function observeJoiners(
  context: RepoContext,
  commits: Commits,
  kept: Map<string, { key: string; found: Found }>,
  run: Run,
  base: string,
  baseBranch: string,
  declared: Declared | undefined,
): Promise<Seen> {
  if (isEnded(run) || run.ending !== undefined || run.kind === "Rollback") return {};
  const unknown = unknownApplications(context, run);
  if (unknown.length === 0) return { joiners: [] };
  const key = `${base} ${unknown.map(keyOf).join(" ")}`;
  const before = kept.get(run.rollout);
  const found = before?.key === key ? before.found : await resolve(context, commits.snapshot(base), run, baseBranch, unknown, declared);
  kept.set(run.rollout, { key, found });
  // Labels are those of now: they say which stage takes it.
  const now = new Map(clustersOf(context, run.spec.source.controlPlanes, { declared }).clusters.map((cluster) => [cluster.key, cluster]));
  return { remark: found.remark, joiners: found.joiners.map((one) => ({ ...one, cluster: now.get(one.cluster.key) ?? one.cluster })) };
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
  snapshot: Snapshot,
  run: Run,
  baseBranch: string,
  unknown: readonly SeenApplication[],
  declared: Declared | undefined,
): Promise<Found> {
  const names = run.spec.source.controlPlanes;
  const applications = await withGeneratorParams(context, run.spec, unknown, planesFor(context, names), snapshot, baseBranch);
  // While the inventory cannot be read nobody joins: where Applications are would be guessed from themselves.
  if (declared?.ok === false) return { joiners: [], remark: undefined };
  const { clusters } = clustersOf(context, names, { declared });
  const resolved = await snapshot.with((files) =>
    resolveTargets({ rollout: run.spec, release: run.release, applications, clusters, readFile: (path) => files.read(path) }),
  );
  const [problem] = resolved.problems.filter((one) => one.severity === "error");
  const remark =
    problem === undefined ? undefined : `Applications appeared during the run and cannot join it yet: ${sayProblem(problem).message}`;
  const byCluster = Map.groupBy(resolved.targets, (target) => target.cluster);
  const joiners = resolved.clusters.flatMap((cluster) => {
    const targets = byCluster.get(cluster.key) ?? [];
    const planned = targets.map(({ key, application, cluster: on, edits }) => ({ key, application, cluster: on, edits }));
    return planned.length === 0 ? [] : [{ cluster, targets: planned }];
  });
  return { joiners, remark };
}

/** Says on the run's page what is wrong with its own inventory as it is on the base now. */
export function inventoryRemark(declared: Declared | undefined): string | undefined {
  const [problem] = declared?.ok === false ? declared.problems : [];
  const said = problem === undefined ? undefined : sayProblem(problem);
  const place = problem === undefined ? "" : `${problem.file}:${problem.line}:${problem.column}`;
  const words = `The clusters cannot be read, so nothing that depends on them goes on: ${said?.message} (${place}); ${said?.hint}.`;
  return problem === undefined ? undefined : words;
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
