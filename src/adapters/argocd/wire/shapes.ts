import { WHOLE_OBJECT_ANNOTATIONS } from "../../../core/argocd/decode/cluster.ts";
import { GENERATE_PATHS } from "../../../core/argocd/generate-paths.ts";
import { Seldom, type Shape } from "./shape.ts";

/*
 * What of Argo CD's objects ever becomes a value in memory. Decoders pick what they need out of that; a field that a
 * decoder begins to use must not be dropped here.
 */

interface Shapes {
  shape: Shape;
  lesser: readonly Shape[];
}

const METADATA: Shape = {
  "*": false,
  name: true,
  namespace: true,
  uid: true,
  resourceVersion: true,
  labels: true,
  ownerReferences: true,
  deletionTimestamp: true,
  annotations: {
    "*": false,
    "argocd.argoproj.io/refresh": true,
    "argocd.argoproj.io/skip-reconcile": true,
    "argocd.argoproj.io/tracking-id": true,
    "argocd.argoproj.io/application-set-refresh": true,
    [GENERATE_PATHS]: true,
  },
};

/** Of manifests sent from somebody's own machine, and of objects that it was of alone: that there are some. */
const OPERATION: Shape = {
  "*": false,
  sync: { "*": false, revision: true, revisions: true, manifests: true, dryRun: true, resources: { "*": false, kind: true } },
  retry: true,
};

const HYDRATION: Shape = {
  "*": false,
  phase: true,
  drySHA: true,
  hydratedSHA: true,
  message: true,
  finishedAt: true,
  sourceHydrator: true,
};

/** What became of each resource that a sync tried, where not all is well. */
const RESULTS = new Seldom(
  { "*": false, kind: true, namespace: true, name: true, status: true, hookPhase: true, message: true },
  /"SyncFailed"|"Failed"|"Error"/,
);

export const APPLICATION: Shape = {
  metadata: METADATA,
  spec: { info: false },
  operation: OPERATION,
  status: {
    "*": false,
    sync: true,
    health: true,
    reconciledAt: true,
    summary: { "*": false, images: true },
    // Only of Jobs, of Applications, and of what is not well, does anything change.
    resources: new Seldom(
      { "*": false, group: true, kind: true, namespace: true, name: true, health: true },
      /Job"|"Application"|"ApplicationSet"|"Degraded"/,
    ),
    conditions: true,
    operationState: {
      "*": false,
      phase: true,
      message: true,
      startedAt: true,
      finishedAt: true,
      retryCount: true,
      operation: OPERATION,
      syncResult: { "*": false, revision: true, revisions: true, source: true, sources: true, resources: RESULTS },
    },
    sourceHydrator: { "*": false, currentOperation: HYDRATION, lastSuccessfulOperation: HYDRATION, lastComparedDryRevision: true },
  },
};

/** Of one read by its name: what it is made of, too, so that one of that can be asked for. */
export const APPLICATION_BY_NAME: Shape = {
  ...APPLICATION,
  status: {
    ...(APPLICATION["status"] as Shape),
    resources: { "*": false, group: true, version: true, kind: true, namespace: true, name: true, health: true },
  },
};

const APPLICATION_SET: Shape = { metadata: METADATA, status: { "*": false, conditions: true } };

/** Of one that is nested too deeply: which it is, whose, and where it runs; or which it is. */
export const APPLICATION_SHAPES = {
  shape: APPLICATION,
  lesser: [
    { "*": false, metadata: METADATA, spec: { "*": false, project: true, destination: true } },
    { "*": false, metadata: METADATA },
  ],
} as const satisfies Shapes;

export const SET_SHAPES = { shape: APPLICATION_SET, lesser: [{ "*": false, metadata: METADATA }] } as const satisfies Shapes;

/** Annotations but those that repeat the whole Secret, with its credential. */
const CLUSTER_ANNOTATIONS: Shape = Object.fromEntries(WHOLE_OBJECT_ANNOTATIONS.map((key) => [key, false]));

/** `data.config` is a credential. */
export const CLUSTER_SECRET: Shape = {
  "*": false,
  metadata: { "*": false, name: true, namespace: true, resourceVersion: true, labels: true, annotations: CLUSTER_ANNOTATIONS },
  data: { "*": false, name: true, server: true, project: true },
  stringData: { "*": false, name: true, server: true, project: true },
};

/** An item of `GET /api/v1/clusters`. */
export const CLUSTER_ITEM: Shape = {
  "*": false,
  name: true,
  server: true,
  labels: true,
  annotations: CLUSTER_ANNOTATIONS,
  project: true,
  connectionState: true,
  info: { "*": false, connectionState: true },
};
