import type { Clock } from "../../core/base/time.ts";
import type { KubernetesSim } from "../kubernetes/index.ts";
import type { KubeObject } from "../kubernetes/types.ts";
import type { ArgoApi } from "./api/index.ts";
import type { RolloutsBackend } from "./api/rollouts.ts";
import type { SyncWindow } from "./api/windows.ts";
import type { Lag } from "./application/lag.ts";
import type { Workload } from "./application/workload.ts";
import type { Render } from "./appset/controller.ts";
import type { ClusterOptions } from "./clusters.ts";
import type { Fault, FaultScript } from "./faults.ts";
import type { Bootstrap } from "./first-objects.ts";
import type { GitSource } from "./git/git-source.ts";
import type { Push } from "./git/push.ts";
import type { SyntheticRegistry } from "./git/repositories.ts";
import type { ConnectionInfo } from "./http.ts";

export interface ArgoCdOptions {
  kubernetes: KubernetesSim;
  clock: Clock;
  /** Repositories it can fetch; sources elsewhere are answered by `registry`. */
  git: GitSource | readonly GitSource[];
  /** Everything random follows from it. Default 1. */
  seed?: number;
  faults?: FaultScript;
  lag?: Partial<Lag>;
  /** `controller.resource.health.persist`: the health of each resource stands in the Application, too. Default: it does not, as since Argo CD 3. */
  persistsHealth?: boolean;
  /** Default argocd. */
  namespace?: string;
  /** Registered at the start. */
  clusters?: readonly ClusterOptions[];
  /** An Application `name` (default `config`) that applies the Argo CD objects under `path` from Git. */
  bootstrap?: Bootstrap;
  /** Charts and foreign repositories; default: whatever is asked for exists. */
  registry?: SyntheticRegistry;
  /** How ApplicationSets are evaluated; for tests of what surrounds it. */
  render?: Render;
  webhookSecret?: string;
  /** Of the API's account that may do everything; default: a random one. */
  apiToken?: string;
  /** Serves TLS, with a certificate of its own CA. */
  tls?: boolean;
  /** Where the Argo Rollouts are; default: those in the embedded Kubernetes API. */
  rollouts?: RolloutsBackend;
  port?: number;
  host?: string;
}

export interface ArgoCdSim {
  /** Of its API: `/api/webhook`, `/api/v1/…`. */
  url: string;
  /** PEM of the CA, where it serves TLS. */
  ca: string | undefined;
  /** Its REST API: tokens, accounts, faults. */
  api: ArgoApi;
  namespace: string;
  /** As a webhook does, without one. */
  notifyPush(push: Push): void;
  addCluster(cluster: ClusterOptions): void;
  /** Unregisters it; its Applications become invalid, or go if a generator made them. */
  removeCluster(name: string): void;
  /** Edits the labels of its Secret; null removes one. */
  relabel(cluster: string, labels: Record<string, string | null>): void;
  /** Replaces what is wrong with a cluster; null: nothing is any more. */
  setFault(cluster: string, fault: Fault | readonly Fault[] | null): void;
  /** While true no repository can be reached. */
  setRepoDown(down: boolean): void;
  /** Stops both controllers, or starts them again: meanwhile every status stays as it is, whatever the clusters do. */
  setControllersDown(down: boolean): void;
  /** Has the generators of an ApplicationSet fail with these words; null: no longer. */
  failGenerator(applicationSet: string, message: string | null): void;
  /** The sync windows of an AppProject, in place of those it has. */
  setSyncWindows(project: string, windows: readonly SyncWindow[]): void;
  resume(cluster: string): void;
  drift(application: string): void;
  clusters(): ConnectionInfo[];
  /** Health in the cluster itself, for tests of what Argo CD does not say. */
  liveHealth(application: string): string | undefined;
  /** What was applied to the cluster last, as a hash, and how it is: the truth that every status is late by. */
  truth(application: string): Readonly<Workload> | undefined;
  /** The Argo Rollouts of an Application, in its cluster. */
  rolloutsOf(application: string): KubeObject[];
  /** Resolves when no work is under way but waiting for the clock. */
  idle(): Promise<void>;
  /** When something is due next, by the clock. */
  nextAt(): number | undefined;
  /** Ends everything, the given git sources too. */
  close(): Promise<void>;
}
