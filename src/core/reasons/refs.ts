/** A batch as reasons name it: enough to call it by its name wherever it is shown. */
export interface BatchRef {
  /** The stage's name. */
  stage: string;
  /** Number within its stage, from 1. */
  number: number;
  kind: "Planned" | "CatchUp" | "Hotfix" | "Revert";
  step?: { index: number; of: number; weight: number };
}

/** Number of a batch's PR; null where it has none, because it moves branches. */
export type PullRef = number | null;
