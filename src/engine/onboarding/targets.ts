import { SECRET_TYPE } from "../../core/argocd/decode/cluster.ts";
import { plainServer } from "../../core/argocd/same.ts";
import { dig, isRecord, listAt, textAt } from "../../core/base/is-record.ts";
import type { Hindrance } from "../../core/reasons/onboarding.ts";
import { generatorCluster } from "../config-repo/appset-in-git.ts";
import { flat } from "../config-repo/generator-params.ts";
import { renderOnce } from "../config-repo/render-set.ts";
import type { InitCluster, InitInput, InitTarget, Manifest } from "./types.ts";

const IN_CLUSTER = "https://kubernetes.default.svc";

type Targets = { ok: true; targets: InitTarget[] } | { ok: false; why: Hindrance };

/** The Applications that an ApplicationSet of the repo yields, with their clusters. */
export function targetsOfSet(set: Manifest, input: InitInput): Targets {
  const clusters = input.clusters.map((cluster) => generatorCluster(cluster));
  const result = renderOnce(set.object, { clusters, repo: (url) => (input.isThisRepo(url) ? input.files : undefined) });
  if (!result.ok) return { ok: false, why: { kind: "NotRendered", problem: result.problems[0] } };
  const usesClusters = mentionsClusters(set.object);
  if (usesClusters && clusters.length === 0) return { ok: false, why: { kind: "ClustersUnknown" } };
  if (result.applications.length === 0)
    return {
      ok: false,
      why: { kind: "NoApplications", labels: lackingLabels(set, input), patterns: patternsOf(dig(set.object, "spec", "generators")) },
    };
  const params = result.generators.flatMap((generator) => generator.params);
  const known = params.length === result.applications.length;
  const index = indexOf(input.clusters);
  const targets: InitTarget[] = [];
  for (const [i, application] of result.applications.entries()) {
    const own = known ? flat(params[i] ?? {}) : {};
    const { name, namespace, labels = {} } = application.metadata;
    const cluster = clusterOf(application.spec, own, labels, index);
    if (cluster === undefined)
      return { ok: false, why: { kind: "ClusterUnknown", application: name, destination: destination(application.spec) } };
    targets.push({ application: name, namespace, labels, spec: application.spec, params: own, ...cluster });
  }
  return { ok: true, targets };
}

/** A hand-written Application; undefined: it goes to no cluster that is known, or nobody can tell which. */
export function targetOfManifest(manifest: Manifest, input: InitInput): InitTarget | undefined {
  const { object } = manifest;
  const name = textAt(object, "metadata", "name");
  const { spec } = object;
  if (name === undefined || !isRecord(spec)) return undefined;
  const rawLabels = dig(object, "metadata", "labels");
  const labels: Record<string, string> = {};
  if (isRecord(rawLabels)) for (const [key, value] of Object.entries(rawLabels)) if (typeof value === "string") labels[key] = value;
  const cluster = clusterOf(spec, {}, labels, indexOf(input.clusters));
  if (cluster === undefined) return undefined;
  return {
    application: name,
    namespace: textAt(object, "metadata", "namespace") ?? "argocd",
    labels,
    spec,
    params: {},
    ...cluster,
    manifest,
  };
}

/** An Application as it lives; undefined as of `targetOfManifest`. */
export function targetOfLive(object: Record<string, unknown>, input: InitInput): InitTarget | undefined {
  const target = targetOfManifest({ file: "", document: 1, documents: 1, object }, input);
  if (target === undefined) return undefined;
  const { manifest: _, ...live } = target;
  const owner = listAt(object, "metadata", "ownerReferences").find((one) => textAt(one, "kind") === "ApplicationSet");
  const name = textAt(owner, "name");
  return name === undefined ? live : { ...live, set: { name, namespace: live.namespace } };
}

/** Labels by which a set selects clusters, and which no cluster that is known has. */
function lackingLabels(set: Manifest, { clusters }: InitInput): string[] {
  if (clusters.length === 0) return [];
  const known = new Set(clusters.flatMap(({ labels }) => Object.keys(labels)));
  return [...new Set(labelsSelected(dig(set.object, "spec", "generators")))].filter((key) => !known.has(key));
}

/** Folders and files that git generators look for, on all levels. */
function patternsOf(node: unknown): string[] {
  if (Array.isArray(node)) return [...new Set(node.flatMap(patternsOf))];
  if (!isRecord(node)) return [];
  const own = ["directories", "files"].flatMap((kind) => listAt(node, "git", kind));
  const paths = own.flatMap((one) => (dig(one, "exclude") === true ? [] : (textAt(one, "path") ?? [])));
  return [...paths, ...["matrix", "merge"].flatMap((kind) => patternsOf(dig(node, kind, "generators")))];
}

/** Keys of labels that selectors of clusters want to be there, on all levels. */
function labelsSelected(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(labelsSelected);
  if (!isRecord(node)) return [];
  const selector = dig(node, "clusters", "selector");
  const expressions = dig(selector, "matchExpressions");
  const wanted = (Array.isArray(expressions) ? expressions : []).flatMap((one) =>
    isRecord(one) && (one["operator"] === "In" || one["operator"] === "Exists") && typeof one["key"] === "string" ? [one["key"]] : [],
  );
  const labels = dig(selector, "matchLabels");
  const own = [...(isRecord(labels) ? Object.keys(labels) : []), ...wanted].filter((key) => key !== SECRET_TYPE);
  return [...own, ...["matrix", "merge"].flatMap((kind) => labelsSelected(dig(node, kind, "generators")))];
}

/** Some of its clusters are known to Argo CD alone. */
export function mentionsClusters(set: Record<string, unknown>): boolean {
  return takesClusters(listAt(set, "spec", "generators"));
}

function takesClusters(generators: readonly unknown[]): boolean {
  return generators.some(
    (one) =>
      dig(one, "clusters") !== undefined ||
      takesClusters(listAt(one, "matrix", "generators")) ||
      takesClusters(listAt(one, "merge", "generators")),
  );
}

interface ClusterIndex {
  known: boolean;
  byName: ReadonlyMap<string, InitCluster>;
  byServer: ReadonlyMap<string, InitCluster>;
}

/** Each Application written by hand asks for its own. */
const INDEXES = new WeakMap<readonly InitCluster[], ClusterIndex>();

function indexOf(clusters: readonly InitCluster[]): ClusterIndex {
  const index = INDEXES.get(clusters) ?? {
    known: clusters.length > 0,
    byName: new Map(clusters.map((cluster) => [cluster.name, cluster])),
    byServer: new Map(clusters.toReversed().map((cluster) => [plainServer(cluster.server), cluster])),
  };
  INDEXES.set(clusters, index);
  return index;
}

/** As lint and plan find it: by the inventory, or where there is none by the destination and the generator's parameters. */
function clusterOf(
  spec: Record<string, unknown>,
  params: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>>,
  index: ClusterIndex,
): Pick<InitTarget, "cluster" | "nameIsSure"> | undefined {
  const named = textAt(spec, "destination", "name");
  const server = textAt(spec, "destination", "server");
  const found =
    (named === undefined ? undefined : index.byName.get(named)) ??
    (server === undefined ? undefined : index.byServer.get(plainServer(server)));
  if (found !== undefined) return { cluster: found, nameIsSure: true };
  if (named === "in-cluster" || (server !== undefined && plainServer(server) === IN_CLUSTER)) {
    return { cluster: { name: "in-cluster", server: IN_CLUSTER, labels: {} }, nameIsSure: true };
  }
  // What a template leaves empty, or a placeholder that something else fills in, is one server for all of them.
  const isUnfilled = named === undefined && server !== undefined && !/^[a-z]+:\/\//i.test(server);
  if (index.known || isUnfilled) return undefined;
  const address = server ?? params["server"] ?? params["url"] ?? "";
  const name = named ?? params["cluster"] ?? params["name"] ?? params["clusterName"] ?? /^[a-z]+:\/\/([^/:]+)/i.exec(address)?.[1];
  if (name === undefined || name === "") return undefined;
  return { cluster: { name, server: address, labels: { ...params, ...labels } }, nameIsSure: named !== undefined };
}

function destination(spec: Record<string, unknown>): string | undefined {
  return textAt(spec, "destination", "name") ?? textAt(spec, "destination", "server");
}
