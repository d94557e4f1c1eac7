import type { KindsOf } from "../base/reason.ts";
import type { Selector } from "../base/selector.ts";

/** Whose windows they are, and for whom where not for all. `File`: the settings of the repo. */
export type WindowOwner = KindsOf<{
  Rollout: { only?: WindowScope | undefined };
  Stage: { stage: string; only?: WindowScope | undefined };
  File: { file: string; only?: WindowScope | undefined };
  Server: { only?: WindowScope | undefined };
}>;

/** Those whom a window, a freeze or a limit is for; absent: all. */
export interface WindowScope {
  /** `region=eu`, as kubectl writes it. */
  selector?: string | undefined;
  rollouts?: readonly string[] | undefined;
  stages?: readonly string[] | undefined;
}

/** What owns the Applications of a rollout, as reasons name it: by its selector where it has no name. */
export interface SourceNamed {
  kind: "ApplicationSet" | "Application";
  namespace: string;
  name: string;
  /** Of several sets. */
  names?: readonly string[] | undefined;
  selector?: Selector | undefined;
}

/** A batch as reasons name it: enough to call it by its name wherever it is shown. */
export interface BatchRef {
  /** The stage's name. */
  stage: string;
  /** Number within its stage, from 1. */
  number: number;
  kind: "Planned" | "CatchUp" | "Hotfix" | "Revert";
  step?: { index: number; of: number; weight: number } | undefined;
}

/** Number of a batch's PR; null where it has none, because it moves branches. */
export type PullRef = number | null;

/** A wait that `/promote` ends, as reasons name it. pull: for an approval, or for somebody to have it merged. */
export interface WaitNamed {
  kind: "bake" | "step" | "pull";
  batch: BatchRef;
  pull: PullRef;
}

/** An analysis as reasons name it. */
export interface AnalysisRef {
  /** Names of its templates. */
  templates: string[];
  /** Measured from the stage's first merge on, beside its batches. */
  background?: true | undefined;
  of: BatchRef | { stage: string };
  /** Key of the cluster it is run for; absent: for all of them. */
  cluster?: string | undefined;
}

/** A hook as reasons name it. */
export interface HookRef {
  /** Among those of its moment, from 1. */
  number: number;
  when: "before" | "after" | "onFailure";
  stage: string;
  /** Of its address the host only: the rest may hold a secret. Empty: not known. */
  host: string;
}

export type CheckRef = AnalysisRef | HookRef;
