/** A Rollout paused at its second of four steps, with its stable ReplicaSet, as the API server would give them. */
export function rawRollout(application: string, namespace = "payments", name = "api"): Record<string, unknown> {
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Rollout",
    metadata: {
      name,
      namespace,
      annotations: { "argocd.argoproj.io/tracking-id": `${application}:argoproj.io/Rollout:${namespace}/${name}` },
    },
    spec: {
      replicas: 5,
      strategy: { canary: { steps: [{ setWeight: 20 }, { pause: {} }, { setWeight: 60 }, { pause: { duration: "10m" } }] } },
      template: { spec: { containers: [{ name: "api", image: "registry.example.com/api:v2" }] } },
    },
    status: {
      phase: "Paused",
      message: "CanaryPauseStep",
      currentStepIndex: 1,
      currentPodHash: "new",
      stableRS: "old",
      controllerPause: true,
      pauseConditions: [{ reason: "CanaryPauseStep", startTime: "2026-11-21T10:00:00Z" }],
      replicas: 5,
      updatedReplicas: 1,
      readyReplicas: 5,
      availableReplicas: 5,
    },
  };
}

export function rawReplicaSet(namespace = "payments", name = "api-old"): Record<string, unknown> {
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name, namespace },
    spec: { template: { spec: { containers: [{ name: "api", image: "registry.example.com/api:v1" }] } } },
  };
}

/** How the two above are to be seen. */
export const ROLLOUT_VIEW = {
  namespace: "payments",
  name: "api",
  phase: "Paused",
  message: "CanaryPauseStep",
  paused: true,
  step: 1,
  steps: 4,
  setWeight: 20,
  actualWeight: 20,
  stableImages: ["registry.example.com/api:v1"],
  canaryImages: ["registry.example.com/api:v2"],
  replicas: { desired: 5, updated: 1, ready: 5, available: 5 },
};

/** An AppProject with these sync windows. */
export function rawProject(syncWindows: Record<string, unknown>[], name = "default"): Record<string, unknown> {
  return { apiVersion: "argoproj.io/v1alpha1", kind: "AppProject", metadata: { name, namespace: "argocd" }, spec: { syncWindows } };
}
