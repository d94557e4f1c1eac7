/** What is known of Argo CD's objects, as decoded: the shapes that decisions and views of them share. */
import type { AnyReason } from "../base/reason.ts";
import type { Time } from "../base/time.ts";
import type { AppliedBy } from "./decode/tracking.ts";

export interface RolloutRef {
  namespace: string;
  name: string;
}

/** An Argo Rollout as `kubectl argo rollouts get rollout` shows it. */
export interface RolloutView extends RolloutRef {
  phase: string;
  message: string;
  paused: boolean;
  /** From 0; the step under way. */
  step?: number;
  steps?: number;
  setWeight?: number;
  actualWeight?: number;
  stableImages: string[];
  canaryImages: string[];
  replicas: { desired: number; updated: number; ready: number; available: number };
}

export interface SyncWindowsView {
  /** An automated sync may run now. */
  open: boolean;
  /** When it opens next, where that can be told. */
  opensAt?: Time;
  windows: { kind: "allow" | "deny"; schedule: string; duration: string; timeZone?: string; manualSync: boolean }[];
}

/** A cluster Argo CD knows, without any credential. */
export interface ClusterView {
  name: string;
  server: string;
  labels: Record<string, string>;
  /** Of its Secret, for the clusters generator; never shown. Absent: not known. */
  annotations?: Readonly<Record<string, string>>;
  /** The AppProject that a project-scoped cluster belongs to. */
  project?: string;
  registered: boolean;
  /** It is what destinations of Applications say, by name or by server alone: its Secret's labels and annotations are not known, nor its name. */
  derived?: "name" | "server";
  /** undefined: this adapter cannot see it. */
  connection?: { status: "Successful" | "Failed" | "Unknown"; message: string; attemptedAt?: Time };
}

export interface SourceView {
  repoURL: string;
  path?: string;
  chart?: string;
  targetRevision?: string;
  ref?: string;
  /** helm, kustomize, directory, plugin: compared as a whole. */
  rest?: Record<string, unknown>;
}

export interface DestinationView {
  server?: string;
  name?: string;
  namespace?: string;
}

/** The fields of an Application that decisions use, decoded leniently: a field of the wrong type is absent, and is named in `unreadable`. */
export interface ApplicationView {
  uid: string;
  namespace: string;
  name: string;
  resourceVersion: string;
  labels: Record<string, string>;
  owner?: { kind: string; name: string; uid: string };
  /** The Application that applies it from Git, as far as Argo CD notes one. */
  appliedBy?: AppliedBy;
  deletionTimestamp?: Time;
  refreshRequested: boolean;
  /** Annotation `argocd.argoproj.io/skip-reconcile: "true"`: Argo CD does not look at it. Absent: it does. */
  skipReconcile?: true;
  /** Annotation `argocd.argoproj.io/manifest-generate-paths`. */
  generatePaths?: string;
  /** Why it cannot all be read, so that nothing may be concluded from what is here. */
  unreadable?: AnyReason;
  /** Bot's time of the read. */
  readAt: Time;
  /**
   * Bot's time at which it was last asked for by its name; what is here is of that moment or newer. Absent: never. What a list,
   * watch or stream brought may be old: that a later event was dropped on the way cannot be told.
   */
  askedAt?: Time;
  /**
   * What its cluster said when it was asked for one of the Application's objects through Argo CD, right after that read; `failed`: why it
   * could not be reached, at every try from `since` on. `unclear`: Argo CD failed at it in a way that says nothing of the cluster. `of`: the
   * object that was asked for and not got. Absent: it cannot be asked here.
   */
  clusterAnswer?: { at: Time; failed?: string; since?: Time; unclear?: string; of?: string };
  spec: {
    project: string;
    /** `sources` wins over `source`. */
    sources: SourceView[];
    multiSource: boolean;
    destination: DestinationView;
    automated: boolean;
    ignoreDifferences?: unknown;
    sourceHydrator?: unknown;
  };
  /** `.operation` present. */
  operationRequested: boolean;
  status: {
    sync: {
      status?: string;
      /** In the order of sources; one item for a single source. */
      revisions: string[];
      comparedTo?: { sources: SourceView[]; destination: DestinationView; ignoreDifferences?: unknown };
    };
    health: { status?: string; message?: string; lastTransitionTime?: Time };
    operation?: {
      phase: string;
      message?: string;
      startedAt?: Time;
      finishedAt?: Time;
      retryCount: number;
      /** What it was told about retries; absent parts are Argo CD's defaults (5 s, doubled, at most 3 minutes). */
      retry?: { limit?: number; durationMs?: number; factor?: number; maxMs?: number };
      /** What was asked for; empty: head at run time. */
      requestedRevisions: string[];
      appliedRevisions: string[];
      /** The sources it applied are the spec's of this very read. Absent: it did not get as far as to record any. */
      ofSpec?: boolean;
      /** Which resources failed it, a few lines, in Argo CD's words. Absent: none did, or it is over and well. */
      failed?: string[];
      /** It was given manifests from somebody's own machine instead of Git's: until another one ends, so is every comparison. */
      local?: true;
      /** It was a dry run, or of some objects alone: what it succeeded at is not what is deployed. */
      partial?: true;
    };
    conditions: { type: string; message: string; lastTransitionTime?: Time }[];
    reconciledAt?: Time;
    /** Which resources are Degraded, a few lines, in Argo CD's words. Absent: none is, or Argo CD does not keep the health of each. */
    degraded?: string[];
    /** Applications that it makes: namespace and name. Absent: none. */
    children?: string[];
    /** ApplicationSets that it makes: what they make counts with it. Absent: none. */
    childSets?: string[];
    /** Of all pods it has, those that go away or have ended among them. Absent: none are told, or there are Jobs, whose pods stay as they are. */
    images?: string[];
    hydrator?: {
      /** `ofSpec`: it was for the sourceHydrator of the spec of this very read. */
      current?: { phase?: string; drySHA?: string; hydratedSHA?: string; message?: string; finishedAt?: Time; ofSpec: boolean };
      last?: { drySHA?: string; hydratedSHA?: string; ofSpec: boolean };
      lastComparedDryRevision?: string;
    };
  };
}

export interface ApplicationSetView {
  namespace: string;
  name: string;
  uid: string;
  resourceVersion: string;
  /** Absent: it has none. */
  labels?: Record<string, string>;
  /** As in the cluster, for the comparison with Git's. */
  spec: Record<string, unknown>;
  conditions: { type: string; status: string; reason?: string; message?: string }[];
  deletionTimestamp?: Time;
  /** The Application that applies it from Git, as far as Argo CD notes one. */
  appliedBy?: AppliedBy;
  /** Its controller was asked to generate anew, and has not yet. */
  refreshRequested?: true;
  /** Why it cannot be read; then its spec is empty or of before. */
  unreadable?: AnyReason;
}
