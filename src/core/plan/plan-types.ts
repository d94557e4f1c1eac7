import type { ReasonsOf } from "../base/reason.ts";
import type { Uncovered } from "../reasons/problems/plan.ts";
import type { Warning } from "../reasons/problems/problem.ts";
import type { PinPart, Rollout, TargetBy } from "../spec/rollout.ts";
import type { Limits } from "../spec/schema-common.ts";

/** A cluster as planning sees it, or what the rollout counts in its place. */
export interface Cluster {
  /**
   * `controlPlane/name`: two control planes' clusters of one name are two. Of an Application `controlPlane/application`, of a namespace
   * `controlPlane/cluster:namespace`.
   */
  key: string;
  name: string;
  controlPlane: string;
  server: string;
  /** Labels of its Secret, without Argo CD's own type label, over those of its control plane. Selectors also see `name` and `server` where no label has that key. */
  labels: Record<string, string>;
  /** False for an `in-cluster` without a Secret, which is warned about. */
  registered: boolean;
  /** Only its server is known: `name` is that server's host, and what Argo CD calls it nobody says. */
  byServer?: true;
  /** Of what a rollout counts in the place of clusters (`targetBy`), an Application or a namespace: the cluster that it is on. */
  on?: Cluster;
}

/** One edit of one file: a pin of one target, resolved. Two targets with the same `editKey` share a pin. */
export interface Edit {
  file: string;
  /**
   * Pin path as docs/spec.md §6 spells it, templates filled in. For kind `branch` the name of the branch, or `refs/tags/NAME` of a tag; for `clusterGenerator` the two entries; for
   * `copy` the directory that is copied, over the one that `file` names: its values are ids of trees, of which one stands for what is not there.
   */
  path: string;
  kind: "value" | "clusterGenerator" | "copy" | "branch";
  part?: PinPart;
  create?: boolean;
  /** Of a value that was absent: how many steps of its path came, or would come, with it; left out: how it was could not be told afterwards. */
  made?: number;
  /** What a run made goes, with all that came with it (`made`): `to` is empty, and so is what is read where it is gone. */
  removes?: true;
  /** clusterGenerator only: path of the entry holding the new version; `path` holds the old one. */
  entry?: string;
  /** clusterGenerator only: the cluster that moves, by name. */
  cluster?: string;
  /** clusterGenerator only: where the version stands inside an entry's `clusters`. */
  at?: string;
  /** branch only: back or aside, too, from `from` alone. */
  forced?: true;
  /** copy only: what it changes. */
  copied?: Copied;
  /** The value at the base when it was read; null where it is absent (create) or unknown (no checkout). */
  from: string | null;
  to: string;
  /** Of a weight pin that is not planned yet: what its value is made of. `replicas`: how many the batch's clusters have together. */
  weigh?: { value: WeightPart[]; replicas?: number };
  /** Of a planned weight pin: its value at each weight of the stage, the last of which is `to`. */
  steps?: string[];
}

/** What a copy does to a directory, as it was planned. */
export interface Copied {
  added: number;
  changed: number;
  removed: number;
  /** From the repo's root; of many some of each directory. Where nothing changes, those that are there. */
  files: string[];
}

/** The files that an edit writes, as far as it names them; a branch's are nobody's. */
export function filesOf({ kind, file, copied }: Pick<Edit, "kind" | "file" | "copied">): readonly string[] {
  if (kind === "branch") return [];
  return kind === "copy" ? (copied?.files ?? []) : [file];
}

/** A part of a weight pin's value: text, or what a step says. */
export type WeightPart = string | { step: "weight" | "replicas" };

export function editKey(edit: Pick<Edit, "file" | "path" | "part" | "cluster">): string {
  return `${edit.file}\n${edit.path}\n${edit.part ?? ""}\n${edit.cluster ?? ""}`;
}

/** One Application on one cluster. */
export interface Target {
  /** `controlPlane/namespace/application`. */
  key: string;
  application: string;
  namespace: string;
  controlPlane: string;
  /** Key of its cluster, or of what is counted in its place. */
  cluster: string;
  /** Key of its cluster, where that is another. */
  on?: string | undefined;
  edits: Edit[];
  /** Known only where an inventory with status was given. */
  status?: { healthy: boolean; synced: boolean };
}

/** What a run carries. */
export interface Release {
  /** `version` for a single value; several names for `release.values`. */
  values: Record<string, string>;
  attempt: number;
}

export interface PlanInput {
  rollout: Rollout;
  release: Release;
  clusters: readonly Cluster[];
  targets: readonly Target[];
  /** The clusters themselves, where `clusters` are what is counted in their place. */
  fleet?: readonly Cluster[] | undefined;
  /** Of the repo's settings: no batch is planned larger than they could ever allow. */
  limits?: Limits | undefined;
}

export interface PlannedTarget {
  key: string;
  application: string;
  cluster: string;
  /** As of `Target`. */
  on?: string | undefined;
  edits: Edit[];
}

export interface PlannedBatch {
  /** Cluster keys. */
  clusters: string[];
  targets: PlannedTarget[];
}

export interface PlannedStage {
  name: string;
  /** Over the stage's clusters, order, edits and gates. Approvals are given to it. */
  hash: string;
  /** Resolved: how many clusters may be in flight at once. */
  maxUnavailable: number;
  /** Cluster keys in the stage's batches, in order. */
  clusters: string[];
  /** Cluster keys put off to the stage's end. */
  requeued: string[];
  batches: PlannedBatch[];
  /** The targets of the requeued clusters, so that a catch-up batch can be built from the frozen plan. */
  requeuedTargets: PlannedTarget[];
}

export interface Plan {
  rollout: string;
  /** What is counted. Absent: clusters. */
  targetBy?: TargetBy | undefined;
  release: Release;
  /** sha256 over the stages' hashes, hex. */
  hash: string;
  stages: PlannedStage[];
  /** Clusters with a target that no stage takes, and why. */
  uncovered: { cluster: string; why: ReasonsOf<Uncovered> }[];
  warnings: Warning[];
}

/** Every pin stands at the release already, as far as that was known. A weight that goes up by steps changes on the way. */
export function changesNothing(plan: Plan): boolean {
  const edits = targetsOf(plan).flatMap((target) => target.edits);
  return edits.length > 0 && edits.every((edit) => edit.from === edit.to && edit.steps === undefined);
}

/** How many clusters of a stage are in flight at once at most: those kept apart are fewer than `maxUnavailable`. Of those put off no batch is cut yet. */
export function mostAtOnce({ batches, requeued, maxUnavailable }: Pick<PlannedStage, "batches" | "requeued" | "maxUnavailable">): number {
  return batches.reduce((most, { clusters }) => Math.max(most, clusters.length), Math.min(maxUnavailable, requeued.length));
}

/** Every target a plan has, those put off to their stage's end, too. */
export function targetsOf({ stages }: Pick<Plan, "stages">): PlannedTarget[] {
  return stages.flatMap(targetsOfStage);
}

/** Every target of a stage, batch by batch, then those put off to its end. */
export function targetsOfStage(stage: { batches: readonly Pick<PlannedBatch, "targets">[]; requeuedTargets: readonly PlannedTarget[] }) {
  const { batches, requeuedTargets } = stage;
  return [...batches.flatMap((batch) => batch.targets), ...requeuedTargets];
}
