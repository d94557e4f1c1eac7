import type { Store } from "../../kubernetes/store.ts";
import type { KubeObject } from "../../kubernetes/types.ts";
import type { Application } from "../types.ts";

/** The Argo Rollouts in the clusters, as the API shows and changes them. */
export interface RolloutsBackend {
  /** Those of an Application, whichever cluster they are in. */
  of(app: Application): KubeObject[];
  /** Pods under one of them, by the hash of their template. */
  pods(app: Application, rollout: KubeObject): { name: string; hash: string; images: string[]; healthy: boolean }[];
  /** Takes what an action made of it, as a patch to the cluster would. */
  write(app: Application, rollout: KubeObject): void;
}

/** Parts of a Rollout that actions look at. */
interface RolloutObject extends KubeObject {
  spec: { paused?: boolean; strategy?: { canary?: { steps?: unknown[] }; blueGreen?: object }; template?: PodTemplate } & Record<
    string,
    unknown
  >;
  status?: {
    abort?: boolean;
    promoteFull?: boolean;
    pauseConditions?: unknown[];
    currentPodHash?: string;
    stableRS?: string;
    observedGeneration?: string;
    currentStepIndex?: number;
    updatedReplicas?: number;
    availableReplicas?: number;
    replicas?: number;
    [field: string]: unknown;
  };
}

interface PodTemplate {
  spec?: { containers?: { image?: string }[] };
}

const TRACKING = "argocd.argoproj.io/tracking-id";
const imagesOf = (template: PodTemplate | undefined) =>
  (template?.spec?.containers ?? []).flatMap(({ image }) => (image === undefined ? [] : [image]));

/** Rollouts that stand in the embedded Kubernetes API; one is an Application's by its tracking annotation. */
export function storedRollouts(store: Store): RolloutsBackend {
  return {
    of: (app) =>
      store.list("rollouts").filter(({ metadata }) => metadata.annotations?.[TRACKING]?.startsWith(`${app.metadata.name}:`) === true),
    pods(_, rollout) {
      const { metadata, spec, status = {} } = rollout as RolloutObject;
      const { currentPodHash = "", stableRS = "", updatedReplicas = 0, replicas = 0 } = status;
      const replicaSet = store.get("replicasets", metadata.namespace ?? "", `${metadata.name}-${stableRS}`);
      const stable = imagesOf((replicaSet?.["spec"] as { template?: PodTemplate } | undefined)?.template);
      const pod = (hash: string, images: string[]) => (_: unknown, i: number) => ({
        name: `${metadata.name}-${hash}-${i}`,
        hash,
        images,
        healthy: true,
      });
      const newest = Array.from({ length: updatedReplicas }, pod(currentPodHash, imagesOf(spec.template)));
      if (stableRS === currentPodHash) return newest;
      return [...newest, ...Array.from({ length: Math.max(0, replicas - updatedReplicas) }, pod(stableRS, stable))];
    },
    write(_, { metadata, ...rollout }) {
      store.change("rollouts", metadata.namespace ?? "", metadata.name, (old) => ({ ...rollout, metadata: old.metadata }) as KubeObject);
    },
  };
}

interface OfferedAction {
  name: string;
  disabled?: boolean;
}

/** Which actions Argo CD offers for a Rollout, as its discovery script for them decides. */
export function offeredActions(rollout: KubeObject): OfferedAction[] {
  const { spec, status = {} } = rollout as RolloutObject;
  const promoted = status.currentPodHash === status.stableRS;
  const paused = status.pauseConditions === undefined ? spec.paused === true : status.pauseConditions.length > 0;
  const offered: Record<string, boolean> = {
    restart: true,
    pause: !paused && spec.paused !== true,
    resume: paused || spec.paused === true,
    abort: !promoted && status.abort !== true,
    retry: !promoted && status.abort === true,
    "promote-full": !promoted,
    "skip-current-step": !promoted && status.currentStepIndex !== undefined && spec.strategy?.canary?.steps !== undefined,
  };
  return Object.entries(offered).map(([name, enabled]) => (enabled ? { name } : { name, disabled: true }));
}

/** What an action makes of a Rollout; undefined: there is no such action. The controller in the cluster does the rest. */
export function acted(rollout: KubeObject, action: string, now: string): KubeObject | undefined {
  const { spec, status = {} } = rollout as RolloutObject;
  const { pauseConditions: _p, ...unpaused } = status;
  const { abort: _a, ...unaborted } = status;
  switch (action) {
    case "resume":
      return { ...rollout, spec: spec.paused === undefined ? spec : { ...spec, paused: false }, status: unpaused };
    case "pause":
      return { ...rollout, spec: { ...spec, paused: true } };
    case "restart":
      return { ...rollout, spec: { ...spec, restartAt: now } };
    case "abort":
      return { ...rollout, status: { ...status, abort: true } };
    case "retry":
      return { ...rollout, status: unaborted };
    case "promote-full":
      return status.currentPodHash === status.stableRS ? rollout : { ...rollout, status: { ...status, promoteFull: true } };
    case "skip-current-step":
      return { ...rollout, status: { ...unpaused, currentStepIndex: (status.currentStepIndex ?? 0) + 1 } };
    default:
      return undefined;
  }
}
