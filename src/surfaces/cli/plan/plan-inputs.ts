import { SECRET_TYPE } from "../../../core/argocd/decode/cluster.ts";
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import type { ClusterView } from "../../../core/argocd/views.ts";
import { defined } from "../../../core/base/defined.ts";
import { nearest } from "../../../core/base/nearest.ts";
import { nearKey } from "../../../core/base/slip.ts";
import type { Cluster } from "../../../core/plan/plan-types.ts";
import { pinsOf } from "../../../core/plan/steps.ts";
import type { Problem } from "../../../core/reasons/problems/problem.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { declaredIn, type InventoryRead } from "../../../engine/config-repo/inventory.ts";
import { applicationsOf, type SeenApplication } from "../../../engine/resolve/draft.ts";
import { clustersOn } from "../../../engine/resolve/fleet.ts";
import { normaliseServer } from "../../../engine/resolve/targets-join.ts";
import type { Checkout } from "../lint/lint-checkout.ts";
import { type FleetInputs, fleetOfSets } from "./sets-in-repo.ts";
import { aboutSource, decodeAll, renderSource, writtenSource } from "./source-in-repo.ts";

const IN_CLUSTER = "https://kubernetes.default.svc";

/**
 * The Applications of a rollout: from the inventory where it has them, else rendered from the ApplicationSet that stands
 * in the repo (or the inventory), with the status of Applications of the same name; hand-written ones are read from the repo. Without clusters in the inventory,
 * clusters are taken from the Applications' destinations, and their labels from generator elements. Those of `spec.inventory` go before the inventory's.
 */
export function fleetOf(rollout: Rollout, checkout: Checkout, given: Inventory | undefined): FleetInputs {
  const declared = declaredIn(checkout, rollout);
  if (declared?.ok === false) return { applications: [], clusters: [], from: "nothing", whole: false, problems: declared.problems };
  const planned = plannedOver(rollout, checkout, given, declared);
  return { ...planned, problems: [...planned.problems, ...strangeLabels(rollout, given)] };
}

/** Labels for a control plane that the rollout does not have, most likely misspelt: another of its own is like it, and got none. */
function strangeLabels(rollout: Rollout, given: Inventory | undefined): Problem[] {
  const named = rollout.source.controlPlanes;
  const without = named.filter((plane) => given?.planeLabels?.has(plane) !== true);
  return [...(given?.planeLabels?.keys() ?? [])].flatMap((plane) => {
    const near = named.includes(plane) ? undefined : nearest(plane, without);
    return near === undefined ? [] : [aboutSource(rollout, { code: "PLANE_WITHOUT_INVENTORY", kind: "Labels", plane, near })];
  });
}

function plannedOver(rollout: Rollout, checkout: Checkout, given: Inventory | undefined, declared: InventoryRead | undefined): FleetInputs {
  const named = rollout.source.controlPlanes;
  const apart = given?.planes ?? (named.length > 1 ? declared?.byPlane : undefined);
  if (apart === undefined) return fleetOn(rollout, checkout, given, { name: named[0] ?? "argocd", declared: declared?.clusters });
  const parts = (named.length > 0 ? named : [...apart.keys()]).map((name) => {
    const own = given?.planes === undefined ? given : given.planes.get(name);
    const clusters = declared?.byPlane === undefined ? declared?.clusters : declared.byPlane.get(name);
    if (given?.planes === undefined || own !== undefined)
      return fleetOn(rollout, checkout, own && { ...own, ...defined({ planeLabels: given?.planeLabels }) }, { name, declared: clusters });
    const near = nearest(
      name,
      [...apart.keys()].filter((one) => !named.includes(one)),
    );
    const problem = aboutSource(rollout, { code: "PLANE_WITHOUT_INVENTORY", kind: "Inventory", plane: name, near });
    return { applications: [], clusters: [], from: "nothing", whole: false, problems: [problem] } satisfies FleetInputs;
  });
  const from = parts.map((part) => part.from).find((one) => one !== "nothing") ?? "nothing";
  return {
    applications: parts.flatMap(({ applications }) => applications),
    clusters: parts.flatMap(({ clusters }) => clusters),
    from,
    whole: parts.every(({ whole }) => whole),
    // Of a manifest that all of them follow, the same is told once.
    problems: [...new Map(parts.flatMap(({ problems }) => problems).map((one) => [JSON.stringify(one), one])).values()],
  };
}

/** The same on one control plane. `declared`: its clusters by `spec.inventory`. */
function fleetOn(
  rollout: Rollout,
  checkout: Checkout,
  given: Inventory | undefined,
  { name: controlPlane, declared }: { name: string; declared: readonly ClusterView[] | undefined },
): FleetInputs {
  if (rollout.source.kind === "ApplicationSet" && rollout.source.name === "")
    return fleetOfSets(rollout, checkout, given, (one) => fleetOn(one, checkout, given, { name: controlPlane, declared }));
  const inventory = declared === undefined ? given : withClusters(given, declared);
  const labels = given?.planeLabels?.get(controlPlane);
  const views = (inventory?.clusters ?? []).map(({ labels: { [SECRET_TYPE]: _, ...own }, ...view }) => ({ ...view, labels: own }));
  const plane = { name: controlPlane, labels, clusters: () => views };
  const clusters = clustersOn(plane, rollout.source.controlPlanes);
  const labelled = (applications: SeenApplication[]) =>
    labels === undefined ? applications : applications.map((one) => ({ ...one, planeLabels: labels }));
  const seen = labelled(decodeAll(inventory?.applications ?? [], controlPlane));
  const whole = clusters.length > 0;
  const own = applicationsOf(rollout, seen);
  const wantsParams = pinsOf(rollout).some((pin) => JSON.stringify(pin).includes("params."));
  if (own.length > 0 && !wantsParams) return { applications: own, clusters, from: "inventory", whole, problems: [] };
  if (own.length > 0 && rollout.source.kind === "Application")
    return { applications: own, clusters, from: "inventory", whole, problems: [] };
  const rendered =
    rollout.source.kind === "Application"
      ? writtenSource(rollout, checkout, inventory, controlPlane)
      : renderSource(rollout, checkout, inventory, controlPlane);
  if (own.length > 0) return { applications: withParams(own, rendered.applications), clusters, from: "inventory", whole, problems: [] };
  if (rendered.applications.length === 0) return { applications: [], clusters, from: "nothing", whole, problems: rendered.problems };
  const applications = labelled(withStatus(rendered.applications, seen));
  if (clusters.length > 0) return { applications, clusters, from: "rendered", whole, problems: rendered.problems };
  const byCluster = rollout.targetBy === undefined;
  const bare = guessClusters(applications, controlPlane, byCluster);
  const guessed = labels === undefined ? bare : bare.map((one) => ({ ...one, labels: { ...labels, ...one.labels } }));
  const warnings =
    byCluster || asksForClusters(rollout, applications)
      ? [aboutSource(rollout, { code: "LABELS_GUESSED", given: holdsNoCluster(given) })]
      : [];
  return {
    applications,
    clusters: guessed,
    from: "rendered",
    whole: rendered.whole === true && namesAll(applications),
    problems: [...rendered.problems, ...warnings],
  };
}

/** With the clusters that the rollout's own inventory names; the Applications stay those that were given. */
function withClusters(given: Inventory | undefined, clusters: readonly ClusterView[]): Inventory {
  const { applications = [], applicationSets = [], problems = [], ...rest } = given ?? {};
  return { ...rest, applications, applicationSets, problems, clusters: clusters.map((view) => ({ ...view, annotations: {} })) };
}

function withStatus(rendered: readonly SeenApplication[], seen: readonly SeenApplication[]): SeenApplication[] {
  const live = new Map(seen.map(({ view }) => [`${view.namespace}/${view.name}`, view]));
  return rendered.map((one) => {
    const view = live.get(`${one.view.namespace}/${one.view.name}`);
    return view === undefined ? one : { ...one, view: { ...one.view, status: view.status } };
  });
}

function withParams(own: readonly SeenApplication[], rendered: readonly SeenApplication[]): SeenApplication[] {
  const params = new Map(rendered.map(({ view, params: found }) => [view.name, found]));
  return own.map((one) => {
    const found = params.get(one.view.name);
    return found === undefined ? one : { ...one, params: found };
  });
}

/** Where a destination has a server alone, nobody says here what Argo CD calls it. */
function namesAll(applications: readonly SeenApplication[]): boolean {
  return applications.every(({ view: { spec } }) => isNamed(spec.destination));
}

function isNamed({ name, server }: SeenApplication["view"]["spec"]["destination"]): boolean {
  return name !== undefined || (server !== undefined && normaliseServer(server) === IN_CLUSTER);
}

/** An inventory is given, with Applications or ApplicationSets alone. */
export function holdsNoCluster(given: Inventory | undefined): boolean {
  return given !== undefined && given.clusters.length === 0 && given.applications.length + given.applicationSets.length > 0;
}

/** Whether stages of what counts Applications, or namespaces, go by labels that none of these bears itself, not as others either, so that its cluster may. */
function asksForClusters(rollout: Rollout, applications: readonly SeenApplication[]): boolean {
  const borne = new Set(applications.flatMap(({ view, planeLabels }) => Object.keys({ ...view.labels, ...planeLabels })));
  const strange = stageKeys(rollout).filter((key) => !borne.has(key) && !key.startsWith("stagecoach.dev/") && key !== "name");
  return strange.some((key) => nearKey(key, borne) === undefined);
}

/** Labels that are only guessed tell nothing of who is selected and who is left out; names that are sure do. */
export function isFleetKnown(rollout: Rollout, { problems, whole }: { problems: readonly Problem[]; whole?: boolean }): boolean {
  if (problems.every(({ code }) => code !== "LABELS_GUESSED")) return true;
  return whole === true && stageKeys(rollout).every((key) => key === "name");
}

function stageKeys({ stages }: Rollout): string[] {
  return stages.flatMap(({ selector: { matchLabels, matchExpressions } }) => [
    ...Object.keys(matchLabels),
    ...matchExpressions.map(({ key }) => key),
  ]);
}

/** `labelled`: with the labels of the first Application on each; else Applications are counted, by their own. */
function guessClusters(applications: readonly SeenApplication[], controlPlane: string, labelled: boolean): Cluster[] {
  const clusters = new Map<string, Cluster>();
  for (const { view, params = {} } of applications) {
    const { destination } = view.spec;
    const server = destination.server ?? params["server"] ?? params["url"] ?? "";
    const name =
      destination.name ?? params["cluster"] ?? params["name"] ?? params["clusterName"] ?? /^[a-z]+:\/\/([^/:]+)/i.exec(server)?.[1];
    if (name === undefined) continue;
    // Argo CD's own cluster is known without a Secret, and by one name.
    if (name === "in-cluster" || normaliseServer(server) === IN_CLUSTER) continue;
    const id = destination.server === undefined ? name : normaliseServer(server);
    if (!clusters.has(id))
      clusters.set(id, {
        key: `${controlPlane}/${name}`,
        name,
        controlPlane,
        server,
        labels: labelled ? { ...params, ...view.labels } : {},
        registered: true,
      });
  }
  return [...clusters.values()];
}
