import { formatSelector, type Selector } from "../base/selector.ts";
import type { StageAnalysis, StageHooks } from "./stage-checks.ts";
import type { Window } from "./windows.ts";

/**
 * A rollout as the rest of the program sees it: the resource of `rollouts/NAME.yaml` after validation, with every
 * default filled in and every duration in milliseconds. `schema.ts` holds the resource as people write it.
 */
export interface Rollout {
  name: string;
  /** Path of the file in the config repo it was read from. */
  file: string;
  mode: "Observe" | "Propose" | "Run";
  source: SourceRef;
  /** Absent on a resource of the ancestor without annotations: it can be linted and planned, not run. */
  release?: ReleaseSpec;
  pins: PinTemplate[];
  /** Where the weight of a step is written, beside the version. Absent: no stage has steps. */
  weightPins?: WeightPin[];
  delivery: Delivery;
  onNewRelease: "Supersede" | "Queue" | "Reject";
  onFailure: { action: "Pause" | "Rollback" | "Continue"; maxFailures: Quantity };
  baseline: "Strict" | "Tolerate";
  allowUnstaged: boolean;
  /** What an Application suspended by a paused Rollout counts as. Absent: Wait. */
  suspended?: "Wait" | "Accept";
  /** While baking, up to `most` dips within `windowMs`, each shorter than `ignoreMs`, are ignored. Absent: none is. */
  flap?: { ignoreMs: number; most: number; windowMs: number };
  /** How a rollback travels. Absent: batches as they moved, without bakes. */
  rollback?: { maxUnavailable?: Quantity; skipBake: boolean };
  /** What happens to clusters that appear during a run. Absent: Append. */
  joiners?: "Append" | "Ignore" | "Hold";
  /** Clusters that cannot be reached, or that the selector takes for stopped, are left out. Absent: they are not. */
  quarantine?: { max: Quantity; onReturn: "CatchUp" | "Skip"; selector?: Selector };
  /** When its batches may merge; none: always. */
  windows?: Window[];
  /** Rollouts that must be there first, cluster by cluster. */
  dependsOn?: Dependency[];
  /** Clusters are those of this file of the config repo. Absent: those that Argo CD knows. */
  inventory?: { file: string };
  settleMs: number;
  graceMs: number;
  seenDeadlineMs: number;
  waitingDeadlineMs: number;
  stages: Stage[];
}

export interface SourceRef {
  kind: "ApplicationSet" | "Application";
  name: string;
  namespace: string;
  /** Empty: the only one configured. */
  controlPlanes: string[];
  /** For kind Application: which ones. */
  selector?: Selector;
  unverified: boolean;
}

export type ReleaseSpec =
  | { kind: "version"; version: string; attempt: number }
  | { kind: "from"; file: string; path: string; attempt: number }
  | { kind: "values"; values: Record<string, { file: string; path: string } | string>; attempt: number }
  | { kind: "commit"; paths: string[]; attempt: number }
  /** `prefix`: what stands before the version in the tag's name; absent: nothing, or `v`. */
  | { kind: "tag"; range: string; prefix?: string; attempt: number };

/** Where one target's version is written. `file`, `path` and `value` are templates (`{{ cluster.name }}`). */
export type PinTemplate =
  | { kind: "value"; file: string; path: string; part?: PinPart; create: boolean; value: string }
  | { kind: "clusterGenerator"; file: string; old: string; new: string; path: string; value: string }
  | { kind: "branch"; branch: string };

/** All three are templates; `value` knows `{{ step.weight }}` and `{{ step.replicas }}`, too. */
export interface WeightPin {
  file: string;
  path: string;
  value: string;
  /** Of the workload, over the clusters of one batch together. */
  replicas?: number;
}

export type PinPart = "tag" | "digest" | "tag+digest" | "ref";

export interface Delivery {
  strategy: "PullRequest" | "Commit";
  merge: "Auto" | "Manual";
  method: "squash" | "merge" | "rebase";
  /** Branch the pins are read from and written to. Absent: the repo's default branch. */
  base?: string;
  labels: string[];
  reviewers: { teams: string[]; users: string[] };
  /** Templates: see delivery-template.ts. */
  title?: string;
  body?: string;
  commitMessage?: string;
  /** Adds Signed-off-by. */
  signoff?: true;
}

/** `SameVersion`: the very version of this release; else the least version that must be there. */
export interface Dependency {
  rollout: string;
  atLeast: string;
}

/** A count, or a percentage of what the field says it is of. */
export type Quantity = { count: number } | { percent: number };

export type Order = { by: "name" } | { by: "label"; key: string } | { by: "seeded"; seed: string };

export interface Stage {
  name: string;
  selector: Selector;
  maxClusters: Quantity;
  maxUnavailable: Quantity;
  batching: "Fixed" | "Rolling";
  order: Order;
  topologyKey?: string;
  /** Lists of clusters, by name or key, that are never in flight together. */
  pairs?: string[][];
  /** `maxUnavailable` grows from `start` with each clean batch; `maxUnavailable` itself is then its `max`. */
  grow?: { start: number; factor: number };
  /** The longest wait before a batch merges. */
  jitterMs?: number;
  /** Wanted before the stage's first batch merges: so many members of these teams. */
  approval?: { teams: string[]; count: number };
  analysis?: StageAnalysis;
  hooks?: StageHooks;
  /** A weighted canary: its batches travel as one PR a weight. Absent: at once. */
  steps?: Step[];
  bakeMs: number;
  progressDeadlineMs: number;
  requeue?: { selector: Selector; attempts: number; intervalMs: number };
}

/** A pause without a duration lasts until `/promote`. */
export type Step =
  | { kind: "setWeight"; weight: number }
  | { kind: "pause"; durationMs?: number }
  | { kind: "analysis"; analysis: StageAnalysis };

/** A source as people call it: `ApplicationSet argocd/payments`, or by its selector where it has no name. */
export function sourceText({ kind, namespace, name, selector }: Pick<SourceRef, "kind" | "namespace" | "name" | "selector">): string {
  if (name !== "") return `${kind} ${namespace}/${name}`;
  const every = selector === undefined || Object.keys(selector.matchLabels).length + selector.matchExpressions.length === 0;
  return every ? `all ${kind}s of ${namespace}` : `${kind}s of ${namespace} with ${formatSelector(selector)}`;
}
