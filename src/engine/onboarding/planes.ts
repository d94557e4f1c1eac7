/** Applications of several control planes, each as it lives on its own. Called by `collect.ts` and `propose.ts`. */
import { SECRET_TYPE } from "../../core/argocd/decode/cluster.ts";
import { sameValue } from "../../core/argocd/same.ts";
import { sourcesOf } from "./places-spec.ts";
import type { Scan } from "./scan.ts";
import { targetOfLive, targetOfManifest } from "./targets.ts";
import type { InitCluster, InitInput, InitPlane, InitTarget } from "./types.ts";

const IN_CLUSTER = "in-cluster";

/** What lives on each; a hand-written one with its manifest, where the repo has just one that is as it lives. */
export function targetsOnPlanes(planes: readonly InitPlane[], scan: Scan, input: InitInput): InitTarget[] {
  return planes.flatMap((plane) => {
    const clusters = plane.clusters.map((cluster) => labelled(cluster, plane));
    const alone: InitInput = { ...input, clusters, applications: plane.applications };
    const written = scan.applications.flatMap((manifest) => targetOfManifest(manifest, alone) ?? []);
    return plane.applications.flatMap((object) => {
      const target = targetOfLive(object, alone);
      return target === undefined ? [] : [{ ...withManifest(onPlane(target, plane, clusters), written) }];
    });
  });
}

/** The labels of its Secret are over those of the plane. */
function labelled(cluster: InitCluster, { labels }: InitPlane): InitCluster {
  const { [SECRET_TYPE]: _, ...own } = cluster.labels;
  return { ...cluster, labels: { ...labels, ...own } };
}

/** Argo CD's own cluster, of which each plane has one, is called by its plane: plans call it so where a rollout names several. */
function onPlane(target: InitTarget, plane: InitPlane, clusters: readonly InitCluster[]): InitTarget {
  const controlPlane = { name: plane.name, labels: plane.labels };
  const isOwn = target.cluster.name === IN_CLUSTER && !clusters.some(({ name }) => name === IN_CLUSTER || name === plane.name);
  if (!isOwn) return { ...target, controlPlane };
  return { ...target, controlPlane, cluster: { ...target.cluster, name: plane.name, labels: plane.labels } };
}

function withManifest(target: InitTarget, written: readonly InitTarget[]): InitTarget {
  if (target.set !== undefined) return target;
  const same = written.filter((one) => one.application === target.application && isMadeAlike(one, target));
  const [only] = same;
  return only?.manifest === undefined || same.length > 1 ? target : { ...target, manifest: only.manifest };
}

function isMadeAlike(one: InitTarget, other: InitTarget): boolean {
  const [a, b] = [one, other].map(({ spec }) => sourcesOf(spec).map(({ source }) => source));
  return sameValue({ valuesObject: { sources: a } }, { valuesObject: { sources: b } });
}

/** Which control planes the `sourceRef` of these names; none where there is one alone. */
export function planesOf(targets: readonly InitTarget[]): { controlPlane?: string[] } {
  const names = [...new Set(targets.flatMap(({ controlPlane }) => controlPlane?.name ?? []))].sort();
  return names.length === 0 ? {} : { controlPlane: names };
}

/** Where a rollout names one of them alone, its own cluster is called as ever. */
export function asOnOne(targets: InitTarget[]): InitTarget[] {
  if (planesOf(targets).controlPlane?.length !== 1) return targets;
  return targets.map((target) => {
    const { cluster, controlPlane } = target;
    const isOwn = cluster.name === controlPlane?.name && cluster.server === "https://kubernetes.default.svc";
    return isOwn ? { ...target, cluster: { ...cluster, name: IN_CLUSTER } } : target;
  });
}

/** By Secrets, or by what the operators of all their control planes gave these. */
export function areLabelsKnown({ clusters }: InitInput, targets: readonly InitTarget[]): boolean {
  return clusters.length > 0 || targets.every(({ controlPlane }) => Object.keys(controlPlane?.labels ?? {}).length > 0);
}
