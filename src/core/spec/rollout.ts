import type { z } from "zod";
import type { Selector } from "../base/selector.ts";
import type { SourceNamed } from "../reasons/refs.ts";
import type { rolloutLimitsSchema } from "./schema-common.ts";
import type { deliverySchema, specSchema } from "./schema-spec.ts";
import type { stageSchema, weightPinSchema } from "./schema-stage.ts";
import type { ScopedWindow } from "./windows.ts";

type WrittenSpec = z.output<typeof specSchema>;
type WrittenStage = z.output<typeof stageSchema>;

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
  /** What stages take and all counts are of. Absent: clusters. */
  targetBy?: TargetBy | undefined;
  /** Absent on a resource of the ancestor without annotations: it can be linted and planned, not run. */
  release?: ReleaseSpec | undefined;
  pins: PinTemplate[];
  /** Where the weight of a step is written, beside the version. Absent: no stage has steps. */
  weightPins?: WeightPin[] | undefined;
  delivery: Delivery;
  onNewRelease: WrittenSpec["onNewRelease"];
  onFailure: { action: "Pause" | "Rollback" | "Continue"; maxFailures: Quantity };
  baseline: WrittenSpec["baseline"];
  allowUnstaged: boolean;
  /** What an Application suspended by a paused Rollout counts as. Absent: Wait. */
  suspended?: WrittenSpec["suspended"];
  /** What a change is recognised by. Absent: by its objects where they can be asked for and tell. */
  proof?: WrittenSpec["proof"];
  /** While baking, up to `most` dips within `windowMs`, each shorter than `ignoreMs`, are ignored. Absent: none is. */
  flap?: { ignoreMs: number; most: number; windowMs: number } | undefined;
  /** How a rollback travels. Absent: batches as they moved, without bakes. */
  rollback?: { maxUnavailable?: Quantity | undefined; skipBake: boolean } | undefined;
  /** What happens to clusters that appear during a run. Absent: Append. */
  joiners?: WrittenSpec["joiners"];
  /** Clusters that cannot be reached, or that the selector takes for stopped, are left out. Absent: they are not. */
  quarantine?: { max: Quantity; onReturn: "CatchUp" | "Skip"; selector?: Selector | undefined } | undefined;
  /** When its batches may merge; none: always. */
  windows?: ScopedWindow[] | undefined;
  /** Most that its own runs may have in flight. */
  limits?: z.output<typeof rolloutLimitsSchema> | undefined;
  /** Rollouts that must be there first, cluster by cluster. */
  dependsOn?: Dependency[] | undefined;
  /** Clusters are those of this file of the config repo, or of one for each control plane. Absent: those that Argo CD knows. */
  inventory?: WrittenSpec["inventory"];
  settleMs: number;
  graceMs: number;
  seenDeadlineMs: number;
  waitingDeadlineMs: number;
  stages: Stage[];
}

/** What a rollout counts in the place of clusters. */
export type TargetBy = "application" | "namespace";

/** With an empty name `names` or `selector` say which: which Applications; with kind ApplicationSet which sets. */
export interface SourceRef extends SourceNamed {
  /** Empty: the only one configured. */
  controlPlanes: string[];
  unverified: boolean;
}

export type ReleaseSpec =
  | { kind: "version"; version: string; attempt: number }
  | { kind: "from"; file: string; path: string; attempt: number }
  | { kind: "values"; values: Record<string, { file: string; path: string } | string>; attempt: number }
  | { kind: "commit"; paths: string[]; attempt: number }
  /** `prefix`: what stands before the version in the tag's name; absent: nothing, or `v`. */
  | { kind: "tag"; range: string; prefix?: string | undefined; attempt: number };

/** Where one target's version is written. `file`, `path` and `value` are templates (`{{ cluster.name }}`). */
export type PinTemplate =
  | { kind: "value"; file: string; path: string; part?: PinPart | undefined; create: boolean; value: string }
  | { kind: "clusterGenerator"; file: string; old: string; new: string; path: string; value: string }
  | { kind: "copy"; from: string; to: string }
  /** A tag is `refs/tags/NAME`. `forced`: back or aside, too. */
  | { kind: "branch"; branch: string; forced?: true };

/** Its texts are templates; `value` knows `{{ step.weight }}` and `{{ step.replicas }}`, too. */
export type WeightPin = z.output<typeof weightPinSchema>;

export type PinPart = "tag" | "digest" | "tag+digest" | "ref";

/** How a batch reaches the branch. Its texts are templates: see delivery-template.ts. */
export interface Delivery extends Omit<z.output<typeof deliverySchema>, "ahead" | "reviewers" | "signoff"> {
  /** Absent: the next batch's pull request is opened while the one before settles. */
  ahead?: false | undefined;
  reviewers: { teams: string[]; users: string[] };
  signoff?: true | undefined;
}

/** `SameVersion`: the very version of this release; else the least version that must be there. */
export type Dependency = NonNullable<WrittenSpec["dependsOn"]>[number];

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
  topologyKey?: string | undefined;
  /** Lists of clusters, by name or key, that are never in flight together. */
  pairs?: string[][] | undefined;
  /** `maxUnavailable` grows from `start` with each clean batch; `maxUnavailable` itself is then its `max`. */
  grow?: { start: number; factor: number } | undefined;
  /** The longest wait before a batch merges. */
  jitterMs?: number | undefined;
  /** Of Applications without automated sync. Absent: a person syncs, and nobody said that this is meant. */
  sync?: "Wait" | "Request" | undefined;
  /** Wanted before the stage's first batch merges: so many members of these teams. */
  approval?: WrittenStage["approval"];
  analysis?: StageAnalysis | undefined;
  hooks?: StageHooks | undefined;
  /** A weighted canary: its batches travel as one PR a weight. Absent: at once. */
  steps?: Step[] | undefined;
  /** When its batches may merge, besides the rollout's. */
  windows?: Omit<ScopedWindow, "stages">[] | undefined;
  bakeMs: number;
  progressDeadlineMs: number;
  requeue?: { selector: Selector; attempts: number; intervalMs: number } | undefined;
}

/** `analysis` of a stage. Values of its arguments are templates, as in pins. */
export type StageAnalysis = NonNullable<WrittenStage["analysis"]>;

export type AnalysisWhen = StageAnalysis["when"][number];

export type AnalysisArg = StageAnalysis["args"][number];

export type HookWhen = "before" | "after" | "onFailure";

export interface StageHook {
  url: string;
  timeoutMs: number;
}

export type StageHooks = Record<HookWhen, StageHook[]>;

/** A pause without a duration lasts until `/promote`. */
export type Step =
  | { kind: "setWeight"; weight: number }
  | { kind: "pause"; durationMs?: number | undefined }
  | { kind: "analysis"; analysis: StageAnalysis };

/** Which files of the config repo say which clusters there are. */
export function inventoryFiles({ inventory }: Pick<Rollout, "inventory">): string[] {
  return [...(inventory?.file === undefined ? [] : [inventory.file]), ...Object.values(inventory?.files ?? {})];
}
