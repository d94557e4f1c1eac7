import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { plainServer } from "../../core/argocd/same.ts";
import type { ClusterView } from "../../core/argocd/views.ts";
import { type AnyReason, text } from "../../core/base/reason.ts";
import type { Cluster } from "../../core/plan/plan-types.ts";
import { planeReason } from "../../core/reasons/control-plane.ts";
import { sayProblem } from "../../core/report/reasons/problems.ts";
import { sayGrant } from "../../core/report/reasons/problems-repo.ts";
import type { LostPlane } from "../../core/run/state/world.ts";
import { lostWords, planeOf } from "../../core/run/targets/unseen.ts";
import type { Declared } from "../config-repo/inventory.ts";
import type { RepoContext } from "../round/context.ts";

export interface Fleet {
  /** Of the control planes that can be read now; with `remembered`, those of the others as last seen, too. */
  clusters: Cluster[];
  /** False where some control plane of the rollout cannot be read now. */
  known: boolean;
  /** Why not: all of those that cannot. */
  why?: string;
  /** Those that cannot be read, by name. Empty where a name is no control plane at all. */
  lost: ReadonlyMap<string, LostPlane>;
}

/** Longer reasons are cut: they come from outside. */
const LONGEST_WHY = 500;

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
  const clusters: Cluster[] = [];
  const missing = names.filter((name) => !context.planes.has(name));
  if (missing.length > 0) {
    const refused = missing.map((name) => context.grants?.refusal(name)).find((why) => why !== undefined);
    const why = refused === undefined ? `control plane ${missing.join(", ")} is not configured` : sayGrant(refused);
    return { clusters, known: false, why, lost: new Map() };
  }
  // Which of the clusters are a lost plane's is not known either then.
  if (declared?.ok === false) return { clusters, known: false, why: wordsOf(declared), lost: new Map() };
  const planes = planesFor(context, names);
  const lost = lostPlanes(planes);
  for (const plane of planes) {
    if (lost.has(plane.name) && !(remembered && isRemembered(plane))) continue;
    const views = declared === undefined ? plane.clusters() : declaredOn(plane, declared.clusters, planes.length);
    for (const view of views) clusters.push(toCluster(plane.name, view));
  }
  if (lost.size === 0) return { clusters, known: true, lost };
  const why = [...lost].map(([name, state]) => `control plane ${name} cannot be seen: ${text(state.why)}`).join("; ");
  return { clusters, known: false, why, lost };
}

/** One inventory serves several control planes: each has those of it that it knows, by name or by server. */
function declaredOn(plane: ControlPlane, declared: readonly ClusterView[], planes: number): readonly ClusterView[] {
  if (planes === 1) return declared;
  const own = plane.clusters();
  const names = new Set(own.map((view) => view.name));
  const servers = new Set(own.map((view) => plainServer(view.server)));
  return declared.filter(({ name, server }) => names.has(name) || (server !== "" && servers.has(plainServer(server))));
}

function wordsOf({ problems: [first] }: Extract<Declared, { ok: false }>): string {
  return first === undefined
    ? "the inventory cannot be read"
    : `the inventory cannot be read: ${sayProblem(first).message} (${first.file}:${first.line}:${first.column})`.slice(0, LONGEST_WHY);
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
