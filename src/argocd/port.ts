import type { Time } from "../rollout/time.ts";

/** One Argo CD instance as observed. Reads answer from memory, which watches or streams keep fresh. */
export interface ControlPlane {
  readonly name: string;
  /** Resolves once a first full list was read; rejects with the reason where it cannot. */
  ready(): Promise<void>;
  /** What is known now. `fresh: false` with a reason where the connection is lost: nothing may be concluded from it then. */
  state(): { fresh: boolean; why?: string; since: Time };
  application(namespace: string, name: string): ApplicationView | undefined;
  /** Those owned by this ApplicationSet (by ownerReference), or all where it is absent. */
  applications(owner?: { namespace: string; name: string }): ApplicationView[];
  applicationSet(namespace: string, name: string): ApplicationSetView | undefined;
  clusters(): ClusterView[];
  /** Calls back with the keys (`namespace/name`) of Applications that changed, coalesced; null: anything may have. */
  onChange(listener: (changed: ReadonlySet<string> | null) => void): () => void;
  /**
   * Reads one Application by its name, from the source itself instead of from what a watch or stream has brought, and keeps it
   * with that time as its `askedAt`. `gone`: it is not there any more. Never rejects.
   */
  reread(namespace: string, name: string): Promise<RereadOutcome>;
  /** Asks Argo CD to compare again. */
  refresh(namespace: string, name: string): Promise<RefreshOutcome>;
  /** The Argo Rollouts of an Application, with what they show: all of them or none. */
  rollouts?(namespace: string, name: string): Promise<RolloutsOutcome>;
  /**
   * Runs one of Argo CD's resource actions on one Rollout, after asking Argo CD whether it offers it now. The only write to
   * Argo CD; absent where no token with that right is configured.
   */
  runAction?(target: { namespace: string; name: string }, rollout: RolloutRef, action: RolloutAction): Promise<ActionOutcome>;
  /** Whether Argo CD offers an action for one Rollout now; nothing is written. Present where `runAction` is. */
  offersAction?(target: { namespace: string; name: string }, rollout: RolloutRef, action: RolloutAction): Promise<ActionOffer>;
  /** Sync windows that concern an Application. undefined: cannot be seen. */
  syncWindows?(namespace: string, name: string): Promise<SyncWindowsView | undefined>;
  /** What Argo CD would generate from this ApplicationSet; nothing is written. For what cannot be rendered offline. */
  generate?(applicationSet: Record<string, unknown>): Promise<GenerateOutcome>;
  close(): Promise<void>;
}

/** `unavailable`: this adapter cannot see inside the Application. `tooMany`: how many it has, more than are read one by one. */
export type RolloutsOutcome = readonly RolloutView[] | "unavailable" | { tooMany: number };

export interface RolloutRef {
  namespace: string;
  name: string;
}

export type RolloutAction = "resume" | "promote-full" | "abort" | "retry";

/** `unavailable`: this adapter does not try, since nothing allows it to. `failed`: it was tried; why it failed, without a credential. */
export type RefreshOutcome = "asked" | "unavailable" | { failed: string };

/** `why`: in words, without a credential. */
export type RereadOutcome = { kind: "read" } | { kind: "gone" } | { kind: "failed"; why: string };

/** `notOffered`: Argo CD does not offer it now, e.g. a Rollout that is not paused cannot be resumed. */
export type ActionOutcome =
  | { kind: "done" }
  | { kind: "notOffered"; why: string }
  | { kind: "forbidden"; why: string }
  | { kind: "failed"; why: string };

export type ActionOffer = { kind: "offered" } | Exclude<ActionOutcome, { kind: "done" }>;

/** `failed`: Argo CD could not, e.g. a generator's file is not there. */
export type GenerateOutcome =
  | { kind: "done"; applications: Record<string, unknown>[] }
  | { kind: "forbidden"; why: string }
  | { kind: "failed"; why: string };

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
  /** Annotations are not kept: they may hold anything. */
  registered: boolean;
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
  deletionTimestamp?: Time;
  refreshRequested: boolean;
  /** Annotation `argocd.argoproj.io/skip-reconcile: "true"`: Argo CD does not look at it. Absent: it does. */
  skipReconcile?: true;
  /**
   * What of it cannot be read, so that nothing may be concluded from the rest: `status.conditions[2].type`, or why it is not all
   * here. Absent: nothing.
   */
  unreadable?: readonly string[];
  /** Bot's time of the read. */
  readAt: Time;
  /**
   * Bot's time at which it was last asked for by its name; what is here is of that moment or newer. Absent: never. What a list,
   * watch or stream brought may be old: that a later event was dropped on the way cannot be told.
   */
  askedAt?: Time;
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
    };
    conditions: { type: string; message: string; lastTransitionTime?: Time }[];
    reconciledAt?: Time;
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
  /** As in the cluster, for the comparison with Git's. */
  spec: Record<string, unknown>;
  conditions: { type: string; status: string; reason?: string; message?: string }[];
  deletionTimestamp?: Time;
  /** Why it cannot be read; then it has a condition that says so, and its spec is empty or of before. */
  unreadable?: readonly string[];
}
