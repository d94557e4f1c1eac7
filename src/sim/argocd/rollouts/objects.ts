import { defined } from "../../../core/base/defined.ts";
import { kubeTime, type Store } from "../../kubernetes/store.ts";
import type { KubeObject } from "../../kubernetes/types.ts";
import type { HealthCode } from "../types.ts";
import type { RolloutSpec } from "./manifest.ts";

export interface RolloutStatus {
  phase?: "Progressing" | "Paused" | "Healthy" | "Degraded";
  message?: string;
  abort?: boolean;
  abortedAt?: string;
  promoteFull?: boolean;
  controllerPause?: boolean;
  pauseConditions?: { reason: string; startTime: string }[];
  currentStepIndex?: number;
  currentPodHash?: string;
  stableRS?: string;
  observedGeneration?: string;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  [field: string]: unknown;
}

export interface RolloutObject extends KubeObject {
  spec: RolloutSpec;
  status?: RolloutStatus;
}

/** Where the Rollouts of one cluster stand. */
export interface RolloutShelf {
  list(): RolloutObject[];
  get(namespace: string, name: string): RolloutObject | undefined;
  put(object: RolloutObject): RolloutObject;
  remove(namespace: string, name: string): void;
  /** The ReplicaSet of a template, for who looks at the cluster itself. */
  keepTemplate?(object: RolloutObject, hash: string): void;
  /** Called after each change, whoever made it. */
  onChange(listener: (object: RolloutObject) => void): void;
}

/** The shelf of a cluster that only the simulator holds. */
export function memoryShelf(now: () => number, cluster: string): RolloutShelf {
  const objects = new Map<string, RolloutObject>();
  const listeners: ((object: RolloutObject) => void)[] = [];
  let revision = 0;
  return {
    list: () => [...objects.values()],
    get: (namespace, name) => objects.get(`${namespace}/${name}`),
    put(object) {
      const key = `${object.metadata.namespace}/${object.metadata.name}`;
      const old = objects.get(key);
      revision += 1;
      const metadata = {
        ...object.metadata,
        uid: old?.metadata.uid ?? `${cluster}-${object.metadata.namespace}-${object.metadata.name}`,
        resourceVersion: String(revision),
        creationTimestamp: old?.metadata.creationTimestamp ?? kubeTime(now()),
        generation: (old?.metadata.generation ?? 0) + (old !== undefined && sameSpec(old, object) ? 0 : 1),
      };
      const kept = { ...object, metadata };
      objects.set(key, kept);
      for (const listener of listeners) listener(kept);
      return kept;
    },
    remove: (namespace, name) => void objects.delete(`${namespace}/${name}`),
    onChange: (listener) => void listeners.push(listener),
  };
}

const sameSpec = (a: RolloutObject, b: RolloutObject) => JSON.stringify(a.spec) === JSON.stringify(b.spec);

/** The shelf of the cluster that Argo CD runs in: the embedded Kubernetes API's own. */
export function storeShelf(store: Store): RolloutShelf {
  const as = (object: KubeObject | undefined) => object as RolloutObject | undefined;
  return {
    list: () => store.list("rollouts") as RolloutObject[],
    get: (namespace, name) => as(store.get("rollouts", namespace, name)),
    put(object) {
      const { namespace = "", name } = object.metadata;
      const changed = store.change("rollouts", namespace, name, (old) => ({
        ...object,
        metadata: { ...object.metadata, ...pick(old) },
      }));
      return as(changed) ?? (store.create(object) as RolloutObject);
    },
    remove(namespace, name) {
      if (store.get("rollouts", namespace, name) !== undefined) store.delete("rollouts", namespace, name);
    },
    keepTemplate({ metadata: { namespace = "", name }, spec }, hash) {
      if (store.get("replicasets", namespace, `${name}-${hash}`) !== undefined) return;
      const metadata = { name: `${name}-${hash}`, namespace };
      store.create({
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        metadata,
        spec: { replicas: spec.replicas ?? 1, template: spec.template },
      });
    },
    onChange(listener) {
      store.subscribe("rollouts", ({ type, object }) => {
        if (type !== "DELETED") listener(object as RolloutObject);
      });
    },
  };
}

/** What the API server gives an object, and keeps. */
function pick({ metadata }: KubeObject): Partial<KubeObject["metadata"]> {
  const { uid, resourceVersion, generation, creationTimestamp } = metadata;
  return defined({
    uid,
    resourceVersion,
    generation,
    creationTimestamp,
  });
}

/** Health of a Rollout as Argo CD's check for it tells: a paused one is Suspended, one whose spec nobody has seen is Progressing. */
export function rolloutHealth({ metadata, status = {} }: RolloutObject): { status: HealthCode; message: string } {
  const { phase, message = "", observedGeneration = "0", controllerPause, pauseConditions = [] } = status;
  if (Number(observedGeneration) < (metadata.generation ?? 0)) {
    return { status: "Progressing", message: "Waiting for rollout spec update to be observed" };
  }
  if (controllerPause === true && pauseConditions.length === 0) return { status: "Progressing", message: "Waiting for rollout to unpause" };
  if (phase === "Paused") return { status: "Suspended", message };
  return { status: phase === "Healthy" || phase === "Degraded" ? phase : "Progressing", message };
}
