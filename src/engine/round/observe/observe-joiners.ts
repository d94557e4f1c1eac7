import { BoundedMap } from "../../../core/base/bounded.ts";
import { defined } from "../../../core/base/defined.ts";
import type { AnyReason } from "../../../core/base/reason.ts";
import { type Cluster, targetsOf } from "../../../core/plan/plan-types.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { said } from "../../../core/reasons/run.ts";
import { isEnded, type Run } from "../../../core/run/state/run.ts";
import type { Joiner } from "../../../core/run/state/world.ts";
import type { Commits } from "../../config-repo/commits.ts";
import { withGeneratorParams } from "../../config-repo/generator-params.ts";
import type { Declared } from "../../config-repo/inventory.ts";
import type { Snapshot } from "../../config-repo/snapshot.ts";
import { applicationsOf, applicationsOn, type SeenApplication } from "../../resolve/draft.ts";
import { applicationAt, clustersOf, countedNow, type Planes, planesFor, serverKey, unreachableClusters } from "../../resolve/fleet.ts";
import { resolveTargets } from "../../resolve/targets.ts";
import type { RepoContext } from "../context.ts";

/** So many are looked at in one round; more join in later ones. */
const MOST_JOINERS = 200;

/**
 * Clusters with Applications of the rollout's source that the run's plan does not have, their pins resolved as planning does. One whose
 * pin cannot be found yet is left out and said so: an Application may be there before its pin is merged.
 */
export type ObserveJoiners = (run: Run, base: string, baseBranch: string, declared: Declared | undefined) => Promise<Joiners>;

interface Joiners {
  /** undefined: not looked. */
  joiners?: Joiner[];
  /** What people are told on the run's page. */
  remark?: AnyReason | undefined;
}

const MOST_KEPT = 1000;

export function openJoiners(context: Pick<RepoContext, "planes" | "grants" | "repoURL">, commits: Commits): ObserveJoiners {
  const { planes: all } = context;
  /** Rollout → Applications that its run does not know, and what they resolve to. */
  const kept = new BoundedMap<string, { key: string; found: Required<Joiners> }>(MOST_KEPT);

  async function resolve(
    { spec, release }: Run,
    snapshot: Snapshot,
    baseBranch: string,
    unknown: readonly SeenApplication[],
    declared: Declared | undefined,
  ): Promise<Required<Joiners>> {
    const names = spec.source.controlPlanes;
    // While the inventory cannot be read nobody joins: where Applications are would be guessed from themselves.
    if (declared?.ok === false) return { joiners: [], remark: undefined };
    const applications = await withGeneratorParams(context, spec, unknown, planesFor(all, names), snapshot, baseBranch);
    const { clusters } = clustersOf(context, names, { declared });
    const resolved = await snapshot.with((files) =>
      resolveTargets({ rollout: spec, release, applications, clusters, readFile: (path) => files.read(path) }),
    );
    const problem = resolved.problems.find((one) => one.severity === "error");
    const byCluster = Map.groupBy(resolved.targets, (target) => target.cluster);
    const joiners = resolved.clusters.flatMap((cluster) => {
      const targets = byCluster.get(cluster.key) ?? [];
      const planned = targets.map(({ key, application, cluster: at, on, edits }) => ({
        key,
        application,
        cluster: at,
        ...defined({ on }),
        edits,
      }));
      return planned.length === 0 ? [] : [{ cluster, targets: planned }];
    });
    return { joiners, remark: problem && engineReason("JOINERS_UNRESOLVED", { problem }) };
  }

  return async (run, base, baseBranch, declared) => {
    if (isEnded(run) || run.ending !== undefined || run.kind === "Rollback") return {};
    const unknown = unknownApplications(all, run);
    if (unknown.length === 0) return { joiners: [] };
    const key = `${base} ${unknown.map(keyOf).join(" ")}`;
    const before = kept.get(run.rollout);
    const found = before?.key === key ? before.found : await resolve(run, commits.snapshot(base), baseBranch, unknown, declared);
    kept.set(run.rollout, { key, found });
    // Labels are those of now: they say which stage takes it.
    const fleet = clustersOf(context, run.spec.source.controlPlanes, { declared });
    const now = new Map(countedNow(all, run, fleet).map((cluster) => [cluster.key, cluster]));
    return { remark: found.remark, joiners: found.joiners.map((one) => ({ ...one, cluster: now.get(one.cluster.key) ?? one.cluster })) };
  };
}

function keyOf({ controlPlane, view }: SeenApplication): string {
  return `${controlPlane}/${view.namespace}/${view.name}`;
}

function unknownApplications(planes: Planes, run: Run): SeenApplication[] {
  const known = new Set<string>();
  for (const stage of run.plan.stages) {
    for (const batch of stage.batches) for (const { key } of batch.targets) known.add(key);
    for (const { key } of stage.requeuedTargets) known.add(key);
  }
  for (const one of run.joined ?? []) for (const { key } of one.targets) known.add(key);
  const fresh = planesFor(planes, run.spec.source.controlPlanes).filter((plane) => plane.state().fresh);
  const seen = applicationsOn(fresh, run.spec).filter((one) => !known.has(keyOf(one)));
  return applicationsOf(run.spec, seen).slice(0, MOST_JOINERS);
}

/** Which targets of a run its selector does not take any more: the plan is frozen, so that they stay in it. */
export function sourceLeft(all: Planes, run: Run): AnyReason | undefined {
  if (isEnded(run) || run.kind === "Rollback" || run.spec.source.selector === undefined) return undefined;
  const fresh = planesFor(all, run.spec.source.controlPlanes).filter((plane) => plane.state().fresh);
  const own = new Set(applicationsOf(run.spec, applicationsOn(fresh, run.spec)).map(keyOf));
  const left = targetsOf(run.plan).filter(({ key }) => {
    const { plane, application } = own.has(key) ? {} : applicationAt(all, key);
    return plane !== undefined && application !== undefined && application.deletionTimestamp === undefined;
  });
  return left.length === 0 ? undefined : engineReason("SOURCE_LEFT", { applications: left.map(({ application }) => application) });
}

/** By key: clusters to which Argo CD says its connection failed, and what is counted on them, and why. undefined: nobody asks. */
export function observeUnreachable(
  all: Planes,
  run: Run,
  clusters: readonly Cluster[],
  counted: readonly Cluster[],
): Map<string, AnyReason> | undefined {
  if (run.spec.quarantine === undefined) return undefined;
  const fresh = planesFor(all, run.spec.source.controlPlanes).filter((plane) => plane.state().fresh);
  const failed = unreachableClusters(fresh);
  const unreachable = new Map<string, AnyReason>();
  const add = (key: string, message: string | undefined) => {
    if (message !== undefined) unreachable.set(key, message === "" ? engineReason("CONNECTION_FAILED") : said(message.slice(0, 300)));
  };
  for (const [key, said] of failed) if (!key.includes(" ")) add(key, said);
  // The inventory may call it otherwise.
  if (run.spec.inventory !== undefined)
    for (const { key, controlPlane, server } of clusters) add(key, failed.get(serverKey(controlPlane, server)));
  for (const { key, on } of counted) {
    const why = on && unreachable.get(on.key);
    if (why !== undefined) unreachable.set(key, why);
  }
  return unreachable;
}
