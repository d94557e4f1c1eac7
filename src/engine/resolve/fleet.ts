import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { isInCluster } from "../../core/argocd/cluster-views.ts";
import { plainServer } from "../../core/argocd/same.ts";
import type { ApplicationView, ClusterView } from "../../core/argocd/views.ts";
import { defined } from "../../core/base/defined.ts";
import type { AnyReason } from "../../core/base/reason.ts";
import { type Cluster, targetsOf } from "../../core/plan/plan-types.ts";
import { planeReason } from "../../core/reasons/control-plane.ts";
import { engineReason } from "../../core/reasons/engine.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { LostPlane } from "../../core/run/state/world.ts";
import { lostWords, planeOf } from "../../core/run/targets/unseen.ts";
import type { Declared, InventoryRead } from "../config-repo/inventory.ts";
import type { RepoContext } from "../round/context.ts";
import { limitsOf } from "../round/observe/grants.ts";
import { countedOf } from "./counted.ts";
import { applicationsOf, applicationsOn } from "./draft.ts";
import { normaliseServer } from "./targets-join.ts";

export interface Fleet {
  /** Of the control planes that can be read now; with `remembered`, those of the others as last seen, too. */
  clusters: Cluster[];
  /** False where some control plane of the rollout cannot be read now. */
  known: boolean;
  /** Why not: all of those that cannot. */
  why: readonly AnyReason[];
  /** Those that cannot be read, by name. Empty where a name is no control plane at all. */
  lost: ReadonlyMap<string, LostPlane>;
}

/** Planes that were read at least once: what they remember is whole, if perhaps old. */
const readOnce = new WeakSet<ControlPlane>();

/**
 * The clusters of the control planes a rollout names; no name: of the only one there is. With `declared` their names, servers and labels
 * are those of that inventory.
 */
export function clustersOf(
  context: Pick<RepoContext, "planes" | "grants">,
  names: readonly string[],
  { remembered = false, declared }: { remembered?: boolean; declared?: Declared | undefined } = {},
): Fleet {
  const missing = names.filter((name) => !context.planes.has(name));
  if (missing.length > 0) {
    const refused = missing.map((name) => context.grants?.refusal(name)).find((why) => why !== undefined);
    return unknownFleet(
      refused === undefined ? engineReason("PLANES_NOT_CONFIGURED", { planes: missing }) : planeReason("NOT_GRANTED", { because: refused }),
    );
  }
  const nothing = context.planes.size === 0 ? limitsOf(context.grants, names) : undefined;
  if (nothing !== undefined) return unknownFleet(planeReason("NOT_GRANTED", { because: nothing }));
  // Which of the clusters are a lost plane's is not known either then.
  if (declared?.ok === false) return unknownFleet(engineReason("INVENTORY_UNREADABLE", { problem: declared.problems[0] }));
  const planes = planesFor(context.planes, names);
  const lost = lostPlanes(planes);
  const clusters = planes.flatMap((plane) => {
    if (lost.has(plane.name) && !(remembered && isRemembered(plane))) return [];
    return clustersOn(plane, names, declared === undefined ? undefined : declaredOn(plane, declared, planes.length));
  });
  const why = [...lost].map(([plane, state]) => engineReason("PLANE_UNSEEN_NOW", { plane, because: state.why }));
  return { clusters, known: lost.size === 0, why, lost };
}

function unknownFleet(why: AnyReason): Fleet {
  return { clusters: [], known: false, why: [why], lost: new Map() };
}

/**
 * The clusters of a control plane as an inventory has them. One file serves several: each has those of it that it knows, by name or by
 * server. With a file each, one that has none is as Argo CD knows it. Nobody has to write Argo CD's own cluster down.
 */
function declaredOn(plane: ControlPlane, { clusters, byPlane }: InventoryRead, planes: number): readonly ClusterView[] {
  const known = plane.clusters();
  const names = new Set(known.map((view) => view.name));
  const servers = new Set(known.map((view) => plainServer(view.server)));
  const isKnown = ({ name, server }: ClusterView) => names.has(name) || (server !== "" && servers.has(plainServer(server)));
  const own = byPlane === undefined ? (planes === 1 ? clusters : clusters.filter(isKnown)) : byPlane.get(plane.name);
  if (own === undefined) return known;
  const unsaid = own.some(({ name, server }) => name === "in-cluster" || isInCluster({ server })) ? [] : known;
  return [...own, ...unsaid.filter(({ registered }) => !registered)];
}

/** Those that cannot be read now, since when and why. */
export function lostPlanes(planes: readonly ControlPlane[]): Map<string, LostPlane> {
  const lost = new Map<string, LostPlane>();
  for (const plane of planes) {
    const state = plane.state();
    if (state.fresh) readOnce.add(plane);
    else lost.set(plane.name, { since: state.since, why: state.why ?? planeReason("NO_CONNECTION") });
  }
  return lost;
}

/**
 * Why nothing can be said of a batch while these planes are lost; undefined: it can. One with none of the batch's targets holds
 * it only where nothing was ever read of it: then nobody knows what of it the change would touch.
 */
export function heldByLost(
  lost: ReadonlyMap<string, LostPlane>,
  planes: readonly ControlPlane[],
  batch: { targets: readonly { key: string }[] },
): AnyReason | undefined {
  const mine = new Set(batch.targets.map((target) => planeOf(target.key)));
  for (const plane of planes) {
    const state = lost.get(plane.name);
    if (state !== undefined && (mine.has(plane.name) || !isRemembered(plane))) return lostWords(plane.name, state);
  }
  return undefined;
}

/** It was read before, so its Applications and clusters are known as of then. */
export function isRemembered(plane: ControlPlane): boolean {
  return readOnce.has(plane);
}

export type Planes = ReadonlyMap<string, ControlPlane>;

/** The control planes that a rollout names; no name: all. */
export function planesFor(planes: Planes, names: readonly string[]): ControlPlane[] {
  const all = [...planes.values()];
  return names.length === 0 ? all : all.filter((plane) => names.includes(plane.name));
}

/** Finds a target's Application by its key. The plane is undefined where it cannot be believed now. */
export function applicationAt(planes: Planes, key: string) {
  const [planeName = "", namespace = "", name = ""] = key.split("/");
  const known = planes.get(planeName);
  const plane = known?.state().fresh === true ? known : undefined;
  return { plane, namespace, name, application: plane?.application(namespace, name) };
}

/** The same as last seen, whether or not its control plane can be believed now. */
export function applicationSeen(planes: Planes, key: string): ApplicationView | undefined {
  const [planeName = "", namespace = "", name = ""] = key.split("/");
  return planes.get(planeName)?.application(namespace, name);
}

/** The cluster that an Application goes to, as its control plane has it registered. */
export function clusterOf(plane: ControlPlane, application: ApplicationView | undefined): ClusterView | undefined {
  if (application === undefined) return undefined;
  const { name, server } = application.spec.destination;
  if (name !== undefined) return plane.clusters().find((cluster) => cluster.name === name);
  return server === undefined ? undefined : plane.clusters().find((cluster) => plainServer(cluster.server) === plainServer(server));
}

/**
 * What a run counts, as it is now: with labels of now, and of Applications those of its source and those that it took from there before, whether
 * or not they still match.
 */
export function countedNow(planes: Planes, run: Pick<Run, "spec" | "plan" | "joined">, fleet: Pick<Fleet, "clusters" | "lost">): Cluster[] {
  if (run.spec.targetBy === undefined) return fleet.clusters;
  const seen = applicationsOn(
    planesFor(planes, run.spec.source.controlPlanes).filter((plane) => !fleet.lost.has(plane.name)),
    run.spec,
  );
  const own = applicationsOf(run.spec, seen);
  const has = new Set(own.map(({ controlPlane, view }) => `${controlPlane}/${view.namespace}/${view.name}`));
  const planned = [...targetsOf(run.plan), ...(run.joined ?? []).flatMap((one) => one.targets)];
  const kept = planned.flatMap(({ key }) => {
    const view = has.has(key) || fleet.lost.has(planeOf(key)) ? undefined : applicationSeen(planes, key);
    return view === undefined || view.deletionTimestamp !== undefined
      ? []
      : [{ controlPlane: planeOf(key), planeLabels: planes.get(planeOf(key))?.labels, view }];
  });
  return countedOf(run.spec, fleet.clusters, [...own, ...kept]).all();
}

/** Clusters where other runs have something in flight, and what these count there, but for those that are known; unread: not all can be seen. */
export function clustersElsewhere(
  context: Pick<RepoContext, "planes" | "grants">,
  others: readonly { run: Pick<Run, "spec" | "plan" | "joined">; declared: Declared | undefined }[],
  known: ReadonlyMap<string, Cluster>,
): Cluster[] | "unread" {
  const found = new Map(known);
  const counted: Cluster[] = [];
  for (const { run, declared } of others) {
    const fleet = clustersOf(context, run.spec.source.controlPlanes, { declared });
    if (!fleet.known) return "unread";
    for (const cluster of fleet.clusters) if (!found.has(cluster.key)) found.set(cluster.key, cluster);
    if (run.spec.targetBy !== undefined) counted.push(...countedNow(context.planes, run, fleet));
  }
  return [...[...found.values()].filter(({ key }) => !known.has(key)), ...counted];
}

/** By control plane and server: clusters whose connection Argo CD says has failed, with what it says; by name, too, as they are keyed. */
export function unreachableClusters(planes: readonly ControlPlane[]): Map<string, string> {
  const failed = new Map<string, string>();
  for (const plane of planes) {
    for (const { name, server, connection } of plane.clusters()) {
      if (connection?.status !== "Failed") continue;
      // See `clustersOn`: a rollout may call it by its control plane.
      const own = isInCluster({ name, server }) ? [`${plane.name}/${plane.name}`] : [];
      for (const key of [`${plane.name}/${name}`, ...own, serverKey(plane.name, server)]) failed.set(key, connection.message);
    }
  }
  return failed;
}

/** How a cluster of an inventory, which may call it otherwise, is found among those of a control plane. */
export function serverKey(plane: string, server: string): string {
  return `${plane} ${normaliseServer(server)}`;
}

/**
 * The clusters of one control plane, of which a rollout names these. The labels of their Secrets are over those of the plane. An
 * `in-cluster` without a Secret is called by its control plane where the rollout names several: each of them has one.
 */
export function clustersOn(
  plane: Pick<ControlPlane, "name" | "labels" | "clusters">,
  names: readonly string[],
  views: readonly ClusterView[] = plane.clusters(),
): Cluster[] {
  const isTaken = views.some((view) => view.registered && view.name === plane.name);
  return views.map(({ name: given, server, labels, registered, derived }) => {
    const isOwn = !registered && given === "in-cluster";
    const name = isOwn && names.length > 1 && !isTaken ? plane.name : given;
    const byServer = derived === "server" ? true : undefined;
    const key = `${plane.name}/${name}`;
    // What only Applications say is not over what the operator says.
    const both = derived === undefined ? { ...plane.labels, ...labels } : { ...labels, ...plane.labels };
    return { key, name, controlPlane: plane.name, server, labels: both, registered, ...defined({ byServer }) };
  });
}
