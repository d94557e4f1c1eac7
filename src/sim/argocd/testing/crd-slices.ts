import { defined } from "../../../core/base/defined.ts";
/**
 * The parts of Argo CD's and Argo Rollouts' CRDs that the embedded world writes, written down as facts for checkouts that do
 * not have the CRDs beside them: types, required fields, enums. What stands here and in the CRDs must agree, which a test checks
 * where both are there.
 */
export type Schema = Record<string, unknown>;

const text: Schema = { type: "string" };
const flag: Schema = { type: "boolean" };
const whole: Schema = { type: "integer" };
const time: Schema = { type: "string", format: "date-time" };
const list = (items: Schema): Schema => ({ type: "array", items });
/** Passed on as somebody wrote it: not looked into. */
const anything: Schema = { type: "object", additionalProperties: true };
const words: Schema = { type: "object", additionalProperties: text };
const either = (...values: string[]): Schema => ({ type: "string", enum: values });

/** A closed object: a field that is not named here is an error, as the API server would prune it. */
function object(properties: Record<string, Schema>, ...required: string[]): Schema {
  return defined({ type: "object", properties, additionalProperties: false, required: required.length === 0 ? undefined : required });
}

const source = object(
  {
    repoURL: text,
    path: text,
    chart: text,
    ref: text,
    name: text,
    targetRevision: text,
    helm: anything,
    kustomize: anything,
    directory: anything,
  },
  "repoURL",
);
const sources = list(source);
const destination = object({ server: text, name: text, namespace: text });
const backoff = object({ duration: text, factor: whole, maxDuration: text });
const retry = object({ limit: whole, backoff, refresh: flag });
const initiatedBy = object({ username: text, automated: flag });
const revisions = { revision: text, revisions: list(text) };
const operation = object({
  sync: object({ ...revisions, prune: flag, syncOptions: list(text), autoHealAttemptsCount: whole }),
  initiatedBy,
  retry,
  info: list(object({ name: text, value: text }, "name", "value")),
});
const drySource = object({ repoURL: text, targetRevision: text, path: text }, "path", "repoURL", "targetRevision");
const sourceHydrator = object(
  {
    drySource,
    syncSource: object({ targetBranch: text, path: text, repoURL: text }, "path", "targetBranch"),
    hydrateTo: object({ targetBranch: text }, "targetBranch"),
  },
  "drySource",
  "syncSource",
);
const hydrations = object({
  currentOperation: object(
    {
      phase: either("Hydrating", "Failed", "Hydrated"),
      message: text,
      startedAt: time,
      finishedAt: time,
      drySHA: text,
      hydratedSHA: text,
      sourceHydrator,
    },
    "message",
    "phase",
  ),
  lastSuccessfulOperation: object({ drySHA: text, hydratedSHA: text, sourceHydrator }),
  lastComparedDryRevision: text,
});
const automated = object({ enabled: flag, prune: flag, selfHeal: flag, allowEmpty: flag });
const applicationSpec = object(
  {
    project: text,
    source,
    sources,
    destination,
    sourceHydrator,
    syncPolicy: object({ automated, retry, syncOptions: list(text) }),
    ignoreDifferences: list(anything),
    revisionHistoryLimit: whole,
  },
  "destination",
  "project",
);
const syncResult = object({ ...revisions, source, sources, resources: list(anything) }, "revision");
const operationState = object(
  { operation, phase: text, message: text, startedAt: time, finishedAt: time, retryCount: whole, syncResult },
  "operation",
  "phase",
  "startedAt",
);
const historyRow = object(
  { id: whole, ...revisions, source, sources, deployStartedAt: time, deployedAt: time, initiatedBy },
  "deployedAt",
  "id",
);
const comparedTo = object({ source, sources, destination, ignoreDifferences: list(anything) }, "destination");
const resource = object({ group: text, version: text, kind: text, namespace: text, name: text, status: text });
const applicationStatus = object({
  sync: object({ status: text, ...revisions, comparedTo }, "status"),
  health: object({ status: text, message: text, lastTransitionTime: time }),
  operationState,
  history: list(historyRow),
  conditions: list(object({ type: text, message: text, lastTransitionTime: time }, "message", "type")),
  reconciledAt: time,
  resources: list(resource),
  resourceHealthSource: text,
  controllerNamespace: text,
  summary: anything,
  sourceType: text,
  sourceTypes: list(text),
  sourceHydrator: hydrations,
});
const head = { apiVersion: text, kind: text, metadata: { type: "object" } };

const setCondition = object(
  { type: text, status: text, reason: text, message: text, lastTransitionTime: time },
  "message",
  "reason",
  "status",
  "type",
);
const window = object({
  kind: text,
  schedule: text,
  duration: text,
  timeZone: text,
  manualSync: flag,
  andOperator: flag,
  syncOverrun: flag,
  applications: list(text),
  namespaces: list(text),
  clusters: list(text),
});

const pause = object({ reason: text, startTime: time }, "reason", "startTime");

export const CRD_SLICES: Readonly<Record<string, Schema>> = {
  Application: object({ ...head, spec: applicationSpec, status: applicationStatus, operation }, "metadata", "spec"),
  ApplicationSet: object(
    {
      ...head,
      spec: object(
        {
          generators: list(anything),
          goTemplate: flag,
          ignoreApplicationDifferences: list(object({ name: text, jsonPointers: list(text), jqPathExpressions: list(text) })),
          syncPolicy: anything,
          template: object({ metadata: { type: "object" }, spec: anything }, "metadata", "spec"),
        },
        "generators",
        "template",
      ),
      status: object({ conditions: list(setCondition) }),
    },
    "metadata",
    "spec",
  ),
  AppProject: object(
    {
      ...head,
      spec: object({
        sourceRepos: list(text),
        destinations: list(object({ server: text, name: text, namespace: text })),
        clusterResourceWhitelist: list(anything),
        syncWindows: list(window),
      }),
    },
    "metadata",
    "spec",
  ),
  Rollout: object(
    {
      ...head,
      spec: object({
        replicas: whole,
        paused: flag,
        restartAt: time,
        selector: object({ matchLabels: words }),
        template: anything,
        strategy: object({
          canary: object({
            steps: list(object({ setWeight: whole, pause: object({ duration: { "x-kubernetes-int-or-string": true } }) })),
          }),
        }),
      }),
      status: object({
        phase: text,
        message: text,
        abort: flag,
        abortedAt: time,
        promoteFull: flag,
        controllerPause: flag,
        pauseConditions: list(pause),
        currentStepIndex: whole,
        currentPodHash: text,
        stableRS: text,
        observedGeneration: text,
        replicas: whole,
        updatedReplicas: whole,
        readyReplicas: whole,
        availableReplicas: whole,
      }),
    },
    "spec",
  ),
};
