import { defined } from "../../core/base/defined.ts";
import type { Store } from "../kubernetes/store.ts";
import type { KubeObject } from "../kubernetes/types.ts";
import type { Lag } from "./application/lag.ts";
import type { Desired, Manifests } from "./application/manifests.ts";
import type { Workload, WorkloadModel } from "./application/workload.ts";
import type { ClusterIndex, RegisteredCluster } from "./clusters.ts";
import type { FaultBoard, FaultKind } from "./faults.ts";
import type { Repositories } from "./git/repositories.ts";
import type { Scheduler } from "./scheduler.ts";
import { type Application, type ApplicationStatus, asApplication, type Operation } from "./types.ts";

/** How thorough a comparison is. live: only the live objects again; latest: the repository too, as cached; force: past that cache. */
export const LEVEL = { live: 1, latest: 2, force: 3 } as const;
export type Level = (typeof LEVEL)[keyof typeof LEVEL];

/** What the application controller holds in memory of one Application. */
export interface Actor {
  namespace: string;
  name: string;
  workload: WorkloadModel;
  /** A number in [0, 1) of this Application's own stream. */
  random: () => number;
  /** The comparison that waits, and the one under way. */
  waiting: { level: Level; at: number; stop: () => void } | undefined;
  comparing: boolean;
  periodic: () => void;
  /** Of the last comparison; what refreshes of live objects compare with. */
  desired: Desired | undefined;
  /** What it last saw in the cluster; undefined: nothing since the controller was started. */
  remembered: Workload | undefined;
  /** When the repository first failed; undefined: it did not. */
  repoErrorSince: number | undefined;
  operating: boolean;
  /** Tries an operation again that a closed sync window holds. */
  blocked: (() => void) | undefined;
  /** Counts the controller's lives: work that an earlier one began ends in nothing. */
  life: number;
  syncFailures: number;
  heals: number;
  gone: boolean;
}

/** What both loops of the application controller share. */
export interface Shared {
  store: Store;
  scheduler: Scheduler;
  lag: Lag;
  board: FaultBoard;
  clusters: ClusterIndex;
  manifests: Manifests;
  repositories: Repositories;
  namespace: string;
  /** The health of each resource stands in the Application, too. */
  persistsHealth: boolean;
  refresh(actor: Actor, level: Level, ms?: number): void;
  /** Whether the shard of the controller that an Application belongs to is not running. */
  isDown(actor: Actor): boolean;
  /** What a source hydrator has to do for an Application, whenever it was compared. */
  hydrate(actor: Actor): void;
  /** Applies the Argo CD objects among the files of an Application whose destination is Argo CD's own cluster. */
  applyOwn(app: Application, desired: Desired): Promise<void>;
  /** What an Application has applied so. */
  madeBy(owner: string): { kind: string; namespace: string; name: string }[];
}

/** Stretched by this Application's own chance. */
export function stretched(shared: Shared, actor: Actor, ms: number): number {
  return ms * (1 + shared.lag.spread * actor.random());
}

export function applicationOf({ store }: Shared, actor: Actor): Application | undefined {
  const object = store.get("applications", actor.namespace, actor.name);
  return object === undefined ? undefined : asApplication(object);
}

/** What one patch sets; the rest stays. */
interface Patch {
  status?: ApplicationStatus;
  metadata?: Application["metadata"];
  operation?: Operation;
}

/** One write, whole or not at all. */
export function patchApplication({ store }: Shared, actor: Actor, edit: (app: Application, status: ApplicationStatus) => Patch): void {
  store.change("applications", actor.namespace, actor.name, (object) => {
    const app = asApplication(object);
    const { operation: old, ...rest } = app;
    const { operation = old, ...patch } = edit(app, app.status ?? {});
    return defined({ ...rest, ...patch, operation });
  });
}

/** Takes the operation away and writes its end, in one patch. */
export function endOperation({ store }: Shared, actor: Actor, end: (status: ApplicationStatus) => ApplicationStatus): void {
  store.change("applications", actor.namespace, actor.name, (object) => {
    const { operation: _, ...app } = asApplication(object);
    return { ...app, status: end(app.status ?? {}) } as KubeObject;
  });
}

export function clusterOf(shared: Shared, app: Application): RegisteredCluster | undefined {
  const found = shared.clusters.resolve(app.spec.destination);
  return "error" in found ? undefined : found;
}

/** Slower where the cluster is. */
export function slowness(shared: Shared, app: Application): number {
  const cluster = clusterOf(shared, app)?.name;
  if (cluster === undefined) return 1;
  return shared.board.find("slow", { cluster, application: app.metadata.name, mentions: () => false })?.factor ?? 1;
}

/** Whether the Application's cluster has a fault, whatever version is meant. */
export function hasFault(shared: Pick<Shared, "board">, cluster: string | undefined, kind: FaultKind): boolean {
  return cluster !== undefined && shared.board.has(kind, cluster);
}
