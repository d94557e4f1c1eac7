/** Any Kubernetes object as it travels on the wire. Objects of the store are deep-frozen. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  generateName?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  [field: string]: unknown;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** One kind of object that the embedded API serves. */
export interface Resource {
  /** "" is the core group. */
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  /** Whether `metadata.generation` counts changes of anything but metadata and status. */
  generation: boolean;
}

function argo(kind: string): Resource {
  const singular = kind.toLowerCase();
  return { group: "argoproj.io", version: "v1alpha1", plural: `${singular}s`, singular, kind, namespaced: true, generation: true };
}

function plain(group: string, kind: string): Resource {
  const singular = kind.toLowerCase();
  return { group, version: "v1", plural: `${singular}s`, singular, kind, namespaced: true, generation: false };
}

/** What the embedded API knows. The CRDs of Argo CD have no status subresource: a write of the object writes its status, too. */
export const RESOURCES: readonly Resource[] = [
  argo("Application"),
  argo("ApplicationSet"),
  argo("AppProject"),
  argo("Rollout"),
  argo("AnalysisRun"),
  argo("AnalysisTemplate"),
  { ...argo("ClusterAnalysisTemplate"), namespaced: false },
  { group: "batch", version: "v1", plural: "jobs", singular: "job", kind: "Job", namespaced: true, generation: true },
  { group: "apps", version: "v1", plural: "replicasets", singular: "replicaset", kind: "ReplicaSet", namespaced: true, generation: true },
  { group: "", version: "v1", plural: "secrets", singular: "secret", kind: "Secret", namespaced: true, generation: false },
  { group: "", version: "v1", plural: "configmaps", singular: "configmap", kind: "ConfigMap", namespaced: true, generation: false },
  plain("", "ServiceAccount"),
  plain("rbac.authorization.k8s.io", "Role"),
  plain("rbac.authorization.k8s.io", "RoleBinding"),
  { group: "", version: "v1", plural: "namespaces", singular: "namespace", kind: "Namespace", namespaced: false, generation: false },
];

/** `argoproj.io/v1alpha1`, or `v1` for the core group. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** The resource with this plural name; throws where there is none, since only code of ours asks. */
export function resourceNamed(plural: string): Resource {
  const found = RESOURCES.find((resource) => resource.plural === plural);
  if (found === undefined) throw new Error(`the embedded Kubernetes API serves no "${plural}"`);
  return found;
}

type EventType = "ADDED" | "MODIFIED" | "DELETED";

/** One change, as kept in the store's log. `object` of a DELETED carries the resourceVersion of the deletion. */
export interface StoreEvent {
  revision: number;
  type: EventType;
  object: KubeObject;
  /** What it replaced; absent for ADDED. */
  previous?: KubeObject;
}
