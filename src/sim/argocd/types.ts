import type { KubeObject } from "../kubernetes/types.ts";

export interface ApplicationSource {
  repoURL: string;
  path?: string;
  chart?: string;
  targetRevision?: string;
  ref?: string;
  [option: string]: unknown;
}

export interface Destination {
  server?: string;
  name?: string;
  namespace?: string;
}

interface Automated {
  enabled?: boolean;
  prune?: boolean;
  selfHeal?: boolean;
  allowEmpty?: boolean;
}

export interface RetryStrategy {
  limit?: number;
  backoff?: { duration?: string; factor?: number; maxDuration?: string };
  refresh?: boolean;
}

export interface ApplicationSpec {
  project: string;
  source?: ApplicationSource;
  sources?: ApplicationSource[];
  destination: Destination;
  syncPolicy?: { automated?: Automated; retry?: RetryStrategy; syncOptions?: string[] };
  sourceHydrator?: SourceHydrator;
  ignoreDifferences?: unknown[];
  revisionHistoryLimit?: number;
  [field: string]: unknown;
}

/** What people commit (dry), and where Argo CD writes and reads what it renders to. */
export interface SourceHydrator {
  drySource: { repoURL: string; targetRevision: string; path: string; [option: string]: unknown };
  syncSource: { targetBranch: string; path: string; repoURL?: string };
  /** Written here instead, for somebody to promote to the target branch. */
  hydrateTo?: { targetBranch: string };
}

export interface HydrateOperation {
  phase: "Hydrating" | "Hydrated" | "Failed";
  message: string;
  startedAt: string;
  finishedAt?: string;
  drySHA?: string;
  hydratedSHA?: string;
  sourceHydrator: SourceHydrator;
}

export interface SourceHydratorStatus {
  currentOperation?: HydrateOperation;
  lastSuccessfulOperation?: { drySHA: string; hydratedSHA: string; sourceHydrator: SourceHydrator };
  lastComparedDryRevision?: string;
}

export type SyncStatusCode = "Synced" | "OutOfSync" | "Unknown";
export type HealthCode = "Healthy" | "Suspended" | "Progressing" | "Missing" | "Degraded" | "Unknown";
type OperationPhase = "Running" | "Terminating" | "Succeeded" | "Failed" | "Error";

export interface ComparedTo {
  source?: ApplicationSource;
  sources?: ApplicationSource[];
  destination: Destination;
  ignoreDifferences?: unknown[];
}

export interface Condition {
  type: string;
  message: string;
  lastTransitionTime?: string;
}

interface SyncOperation {
  revision?: string;
  revisions?: string[];
  prune?: boolean;
  syncOptions?: string[];
  autoHealAttemptsCount?: number;
  [field: string]: unknown;
}

export interface Operation {
  sync?: SyncOperation;
  initiatedBy?: { username?: string; automated?: boolean };
  retry?: RetryStrategy;
  info?: { name: string; value: string }[];
}

export interface SyncResult {
  revision: string;
  revisions?: string[];
  source?: ApplicationSource;
  sources?: ApplicationSource[];
  resources?: unknown[];
}

export interface OperationState {
  operation: Operation;
  phase: OperationPhase;
  message?: string;
  startedAt: string;
  finishedAt?: string;
  retryCount?: number;
  syncResult?: SyncResult;
}

export interface HistoryRow {
  id: number;
  revision?: string;
  revisions?: string[];
  source?: ApplicationSource;
  sources?: ApplicationSource[];
  deployedAt: string;
  deployStartedAt?: string;
  initiatedBy?: { username?: string; automated?: boolean };
}

export interface ApplicationStatus {
  sync?: { status: SyncStatusCode; revision?: string; revisions?: string[]; comparedTo?: ComparedTo };
  health?: { status?: HealthCode; message?: string; lastTransitionTime?: string };
  operationState?: OperationState;
  history?: HistoryRow[];
  conditions?: Condition[];
  reconciledAt?: string;
  sourceHydrator?: SourceHydratorStatus;
  resources?: Record<string, unknown>[];
  [field: string]: unknown;
}

export interface Application extends KubeObject {
  spec: ApplicationSpec;
  status?: ApplicationStatus;
  operation?: Operation;
}

/** An object of the applications shelf, as what it is. */
export function asApplication(object: KubeObject): Application {
  return object as Application;
}

/** `sources` wins over `source`, and a source hydrator's branch over both. */
export function sourcesOf(spec: ApplicationSpec): ApplicationSource[] {
  if (spec.sourceHydrator !== undefined) {
    const { drySource, syncSource } = spec.sourceHydrator;
    return [{ repoURL: syncSource.repoURL ?? drySource.repoURL, path: syncSource.path, targetRevision: syncSource.targetBranch }];
  }
  if (spec.sources !== undefined && spec.sources.length > 0) return spec.sources;
  return spec.source === undefined ? [] : [spec.source];
}

export function isMultiSource(spec: ApplicationSpec): boolean {
  return spec.sourceHydrator === undefined && spec.sources !== undefined && spec.sources.length > 0;
}
