import type { Clock } from "../../core/base/time.ts";

/**
 * What goes wrong on one cluster. `revision` narrows a fault to one version: a commit, a targetRevision, or any text that stands in
 * the Application's spec or in the files of its source (an image tag, a chart version). `application` narrows it to one name.
 */
export type Fault = { revision?: string; application?: string } & (
  | {
      kind: "degraded";
      /** Healthy again this long after; absent: never. */
      recoversAfter?: number;
      /** Healthy this long first, then Degraded. Absent: never Healthy. */
      after?: number;
      message?: string;
      /** now: what already runs degrades, too. Default next: only what is applied from now on. */
      scope?: "next" | "now";
    }
  | { kind: "stuck"; scope?: "next" | "now" }
  | { kind: "suspended" }
  | { kind: "flap"; times?: number; period?: number }
  /**
   * Nothing gets to it. Argo CD goes on comparing with what it remembers, and calls the connection good. `noticed`: its controller was
   * started anew since, or the cluster's Secret changed: then it has nothing to remember.
   */
  | { kind: "unreachable"; noticed?: boolean }
  | { kind: "slow"; factor: number }
  /** Its shard of the controller is busy: comparisons begin this much later, in milliseconds. */
  | { kind: "late"; by: number }
  /** Its shard of the controller is not running: nothing of it is compared or synced, and its status stays as it is. */
  | { kind: "controller-down" }
  /** argo-cd#28306: a refresh that is asked for while a comparison runs is lost with that comparison's end. */
  | { kind: "refresh-lost" }
  /** The source hydrator cannot hydrate. */
  | { kind: "hydrate-failed"; message?: string }
  | { kind: "autosync-off" }
  | { kind: "window-closed" }
  /** Attempts that fail; absent: all of them. */
  | { kind: "sync-failed"; attempts?: number; message?: string }
);

export type FaultKind = Fault["kind"];

/** What happens when, in the clock's milliseconds after the start. */
export interface FaultScript {
  faults?: { cluster: string; fault: Fault; at?: number; until?: number }[];
  relabel?: { cluster: string; labels: Record<string, string | null>; at: number }[];
  repoDown?: { at: number; for: number }[];
}

/** What a fault may be narrowed to. */
export interface FaultSubject {
  cluster: string;
  application: string;
  /** Whether this text stands in the version that is meant. */
  mentions(text: string): boolean;
}

export interface FaultBoard {
  of(cluster: string): readonly Fault[];
  find<K extends FaultKind>(kind: K, subject: FaultSubject): Extract<Fault, { kind: K }> | undefined;
  /** Whether the cluster has this fault for whatever runs there. */
  has(kind: FaultKind, cluster: string): boolean;
  /** The texts that faults of this cluster are narrowed to. */
  texts(cluster: string): string[];
  set(cluster: string, faults: readonly Fault[]): void;
  add(cluster: string, fault: Fault): void;
  remove(cluster: string, fault: Fault): void;
}

export function createFaultBoard(onChange: (cluster: string, before: readonly Fault[], after: readonly Fault[]) => void): FaultBoard {
  const board = new Map<string, readonly Fault[]>();
  const of = (cluster: string) => board.get(cluster) ?? [];

  function set(cluster: string, faults: readonly Fault[]): void {
    const before = of(cluster);
    if (faults.length === 0) board.delete(cluster);
    else board.set(cluster, faults);
    onChange(cluster, before, faults);
  }

  return {
    of,
    set,
    find<K extends FaultKind>(kind: K, { cluster, application, mentions }: FaultSubject) {
      return of(cluster).find((fault): fault is Extract<Fault, { kind: K }> => {
        if (fault.kind !== kind) return false;
        if (fault.application !== undefined && fault.application !== application) return false;
        return fault.revision === undefined || mentions(fault.revision);
      });
    },
    has: (kind, cluster) => of(cluster).some((fault) => fault.kind === kind),
    texts: (cluster) => of(cluster).flatMap(({ revision }) => (revision === undefined ? [] : [revision])),
    add: (cluster, fault) => set(cluster, [...of(cluster), fault]),
    remove: (cluster, fault) =>
      set(
        cluster,
        of(cluster).filter((other) => other !== fault),
      ),
  };
}

/** Whether Argo CD knows that it cannot get to a cluster. */
export function isNoticed(board: FaultBoard, cluster: string | undefined): boolean {
  return cluster !== undefined && board.of(cluster).some((fault) => fault.kind === "unreachable" && fault.noticed === true);
}

/** Puts the script's entries on the clock. */
export function playScript(
  script: FaultScript,
  clock: Pick<Clock, "after">,
  act: { board: FaultBoard; relabel: (cluster: string, labels: Record<string, string | null>) => void; repoDown: (down: boolean) => void },
): void {
  for (const { cluster, fault, at = 0, until } of script.faults ?? []) {
    if (at === 0) act.board.add(cluster, fault);
    else clock.after(at, () => act.board.add(cluster, fault));
    if (until !== undefined) clock.after(until, () => act.board.remove(cluster, fault));
  }
  for (const { cluster, labels, at } of script.relabel ?? []) clock.after(at, () => act.relabel(cluster, labels));
  for (const { at, for: length } of script.repoDown ?? []) {
    clock.after(at, () => act.repoDown(true));
    clock.after(at + length, () => act.repoDown(false));
  }
}
