import { render } from "../../../core/appset/render.ts";
import type { RenderResult } from "../../../core/appset/types.ts";
import { decodeApplication } from "../../../core/argocd/decode/application.ts";
import { SECRET_TYPE } from "../../../core/argocd/decode/cluster.ts";
import type { Inventory } from "../../../core/argocd/inventory-file.ts";
import type { ClusterView } from "../../../core/argocd/views.ts";
import { defined } from "../../../core/base/defined.ts";
import { nearest } from "../../../core/base/nearest.ts";
import type { Cluster } from "../../../core/plan/plan-types.ts";
import { pinsOf } from "../../../core/plan/steps.ts";
import type { OwnWords, Problem, ProblemReason } from "../../../core/reasons/problem.ts";
import { sayRender } from "../../../core/report/reasons/render.ts";
import type { Rollout } from "../../../core/spec/rollout.ts";
import { generatorCluster } from "../../../engine/config-repo/appset-in-git.ts";
import { flat } from "../../../engine/config-repo/generator-params.ts";
import { declaredIn, type InventoryRead } from "../../../engine/config-repo/inventory.ts";
import { sameRepo } from "../../../engine/config-repo/repo-url.ts";
import { declaredSet, isRefusedByArgo } from "../../../engine/lint/declared-sets.ts";
import { mentionsClusters } from "../../../engine/onboarding/targets.ts";
import { applicationsOf, type SeenApplication } from "../../../engine/resolve/draft.ts";
import { clustersOn } from "../../../engine/resolve/fleet.ts";
import { normaliseServer } from "../../../engine/resolve/targets-join.ts";
import type { Checkout } from "../lint/lint-checkout.ts";
import { originOf } from "../lint/lint-outside.ts";
import { nearSource, scanned } from "./near-source.ts";

const IN_CLUSTER = "https://kubernetes.default.svc";

/** The clusters and Applications a rollout is planned over, and where they come from. */
interface FleetInputs {
  applications: SeenApplication[];
  clusters: Cluster[];
  /** `inventory`: Applications as they are. `rendered`: as the ApplicationSet in the repo yields them, or as they are written there. */
  from: "inventory" | "rendered" | "nothing";
  /** No other clusters can be meant, and all are known by their names. */
  whole: boolean;
  problems: Problem[];
}

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
    return near === undefined ? [] : [note(rollout, { code: "PLANE_WITHOUT_INVENTORY", kind: "Labels", plane, near })];
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
    const problem = note(rollout, { code: "PLANE_WITHOUT_INVENTORY", kind: "Inventory", plane: name, near });
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
  const inventory = declared === undefined ? given : withClusters(given, declared);
  const labels = given?.planeLabels?.get(controlPlane);
  const views = (inventory?.clusters ?? []).map(({ labels: { [SECRET_TYPE]: _, ...own }, ...view }) => ({ ...view, labels: own }));
  const plane = { name: controlPlane, labels, clusters: () => views };
  const clusters = clustersOn(plane, rollout.source.controlPlanes);
  const labelled = (applications: SeenApplication[]) => applications.map((one) => ({ ...one, ...defined({ planeLabels: labels }) }));
  const seen = labelled(decode(inventory?.applications ?? [], controlPlane));
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
  const guessed = guessClusters(applications, controlPlane).map((one) => ({ ...one, labels: { ...labels, ...one.labels } }));
  const warning = note(rollout, { code: "LABELS_GUESSED" });
  return {
    applications,
    clusters: guessed,
    from: "rendered",
    whole: rendered.whole === true && namesAll(applications),
    problems: [...rendered.problems, warning],
  };
}

/** With the clusters that the rollout's own inventory names; the Applications stay those that were given. */
function withClusters(given: Inventory | undefined, clusters: readonly ClusterView[]): Inventory {
  const { applications = [], applicationSets = [], problems = [], ...rest } = given ?? {};
  return { ...rest, applications, applicationSets, problems, clusters: clusters.map((view) => ({ ...view, annotations: {} })) };
}

function decode(raw: readonly unknown[], controlPlane: string): SeenApplication[] {
  return raw.flatMap((object) => {
    const view = decodeApplication(object, 0);
    // What carries no namespace was printed from the one Argo CD runs in.
    return view === undefined ? [] : [{ controlPlane, view: view.namespace === "" ? { ...view, namespace: "argocd" } : view }];
  });
}

interface Rendered {
  applications: SeenApplication[];
  problems: Problem[];
  /** Argo CD has no others. */
  whole?: boolean;
}

function renderSource(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined, controlPlane: string): Rendered {
  const { name, namespace } = rollout.source;
  const live = inventory?.applicationSets ?? [];
  const found = declaredSet(rollout, checkout, live).set?.object ?? findIn(live, name, namespace);
  if (found === undefined) {
    return notFound(rollout, checkout, inventory);
  }
  const clusters = (inventory?.clusters ?? []).map((cluster) => generatorCluster(cluster));
  const origin = originOf(checkout.root);
  let elsewhere = false;
  const repo = (url: string, revision: string) => {
    elsewhere ||= isElsewhere(origin, url, revision);
    return checkout;
  };
  const result = render(found, { clusters, repo });
  if (!result.ok) {
    return {
      applications: [],
      problems: result.problems.map((problem) => {
        const { message, hint } = sayRender(problem);
        const refused = isRefusedByArgo(problem);
        const told = note(rollout, {
          code: problem.code,
          message: `ApplicationSet ${name}, ${problem.where}: ${message}`,
          hint: refused ? hint : `${hint}; or give --inventory with its Applications`,
        });
        return refused ? { ...told, severity: "error" as const } : told;
      }),
    };
  }
  const params = result.generators.flatMap((generator) => generator.params);
  const applications = result.applications.flatMap((object, i): SeenApplication[] => {
    const [seen] = decode([owned(object, name)], controlPlane);
    const own = params.length === result.applications.length ? params[i] : undefined;
    return seen === undefined ? [] : [{ ...seen, ...defined({ params: own && flat(own) }) }];
  });
  return { applications, problems: [], whole: !elsewhere && !mentionsClusters(found) };
}

/** A generator may read another repo or another branch: it is rendered over this one, and yields there what nobody knows here. */
function isElsewhere({ repoURL, defaultBranch }: ReturnType<typeof originOf>, url: string, revision: string): boolean {
  if (repoURL !== undefined && !sameRepo(url, repoURL)) return true;
  return !["", "HEAD", ...(defaultBranch === undefined ? ["main", "master"] : [defaultBranch])].includes(revision);
}

/** Applications as they stand in the repo, written by hand. */
function writtenSource(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined, controlPlane: string): Rendered {
  const applications = applicationsOf(rollout, decode(applicationsInRepo(checkout), controlPlane));
  if (applications.length > 0) return { applications, problems: [], whole: rollout.source.name !== "" };
  return notFound(rollout, checkout, inventory);
}

function notFound(rollout: Rollout, checkout: Checkout, inventory: Inventory | undefined): Rendered {
  const found = nearSource(rollout, checkout, inventory);
  const data = { kind: "NotInRepo", source: rollout.source, inventory: inventory !== undefined, near: found?.near } as const;
  const path = ["spec", "sourceRef", found?.field ?? "name"];
  const severity = found?.isSure === true ? "error" : "warning";
  return { applications: [], problems: [{ ...note(rollout, { code: "SOURCE_NOT_FOUND", ...data }), path, severity }] };
}

function owned(object: RenderResult["applications"][number], name: string): unknown {
  const ownerReferences = [{ apiVersion: "argoproj.io/v1alpha1", kind: "ApplicationSet", name, uid: "rendered", controller: true }];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

function findIn(objects: readonly unknown[], name: string, namespace: string): Record<string, unknown> | undefined {
  for (const object of objects) {
    if (typeof object !== "object" || object === null) continue;
    const { kind, metadata } = object as { kind?: unknown; metadata?: { name?: unknown; namespace?: unknown } | null };
    if (kind === "ApplicationSet" && metadata?.name === name && (metadata.namespace === undefined || metadata.namespace === namespace))
      return object as Record<string, unknown>;
  }
  return undefined;
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

function guessClusters(applications: readonly SeenApplication[], controlPlane: string): Cluster[] {
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
        labels: { ...params, ...view.labels },
        registered: true,
      });
  }
  return [...clusters.values()];
}

/** A warning that is about the rollout's source. */
function note(rollout: Rollout, reason: ProblemReason | OwnWords): Problem {
  return { ...reason, severity: "warning", file: rollout.file, line: 1, column: 1, path: ["spec", "sourceRef", "name"] };
}

/** Applications that stand in the repo as such, the first of each name and namespace. `{{` templates and broken files have none. */
function applicationsInRepo(checkout: Checkout): readonly Record<string, unknown>[] {
  const first = new Map<string, Record<string, unknown>>();
  for (const { object } of scanned(checkout).applications) {
    const { metadata } = object as { metadata?: { name?: unknown; namespace?: unknown } | null };
    if (typeof metadata?.name !== "string") continue;
    const namespace = typeof metadata.namespace === "string" ? metadata.namespace : "argocd";
    const key = `${namespace}/${metadata.name}`;
    if (!first.has(key)) first.set(key, object);
  }
  return [...first.values()];
}
