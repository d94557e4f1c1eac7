import type { NoData } from "../../base/reason.ts";
import type { SourceNamed, WindowScope } from "../refs.ts";

/** What cannot be planned, and what a person should know of a plan before it is carried out. */
export interface PlanProblems {
  UNIT_SPANS_STAGES: { stage: string; unit: SharedUnit };
  UNIT_TOO_LARGE: { stage: string; unit: SharedUnit; size: number };
  UNIT_TOPOLOGY: { stage: string; unit: SharedUnit; topologyKey: string };
  /** `others`: units of the stage of which it is true, too. */
  LIMITS_TOO_LOW: { stage: string; unit: SharedUnit; over: OverLimit; others: number };
  WEIGHT_PIN_SHARED: { clusters: readonly string[]; pinPath: string; pinFile: string; values: readonly string[] };
  UNKNOWN_CLUSTER:
    | { kind: "Target"; application: string; cluster: string }
    | { kind: "Destination"; destination: string }
    | { kind: "Undeclared"; destination: string; inventory: string; near?: string | undefined };
  TEMPLATE_VALUE: { variable: string; near?: string | undefined };
  PIN_FILE_MISSING: { pinFile: string; near?: string | undefined; isFolder?: true };
  PIN_FILE_UNREADABLE: { pinFile: string; said: string };
  RELEASE_COMMIT: { version: string | undefined };
  /** `ours`: no pin moves it. */
  BRANCH_NAME: { branch: string; ours?: true };
  BRANCH_MISSING: { branch: string };
  NO_TARGETS: { source: SourceNamed };
  EMPTY_STAGE: { stage: string; selector: string | undefined };
  /** `value`: absent where no cluster has the key. `near`: the key or value that some have. */
  /** `setting`: where it is no stage that selects, but a window, freeze or limit. `git`: no cluster's labels are known, and nothing in Git names it. */
  UNKNOWN_LABEL: {
    git?: true | undefined;
    stage?: string | undefined;
    setting?: string | undefined;
    key: string;
    value?: string | undefined;
    near?: string | undefined;
  };
  /** `names`: those of the stage's `of` without the label. */
  NOT_KEPT_APART: { stage: string; topologyKey: string; names: readonly string[]; of: number; near?: string | undefined };
  /** `Git`: Argo CD may know more clusters than `known`, the first names of `of`. */
  UNKNOWN_NAME: { kind: "Fleet" | "Git"; stage: string; name: string; near?: string | undefined; known: readonly string[]; of: number };
  /** No stage takes any of them. `near`: the label, or value of it, that some have and a stage most likely means by `key`. */
  REACHES_NOBODY: { of: number; key?: string | undefined; near?: string | undefined };
  COVERAGE: { clusters: readonly string[]; of: number };
  /** `moves`: the first of `count`. */
  /** `value`: which of several values of the release. */
  GOES_DOWN: { moves: readonly { application: string; value?: string | undefined; from: string; to: string }[]; count: number };
  IN_CLUSTER: { clusters: readonly string[] };
  UNKNOWN_PAIR: { stage: string; name: string; near?: string | undefined };
  /** `stepped`: steps of batches are counted, too. */
  MANY_BATCHES: { batches: number; stepped: boolean };
  BATCHES_CUT: { stage: string; over: OverLimit; batches: number; uncut: number };
  /** `stages`: the one that takes them, and the later one. */
  STAGES_IN_BOTH: { stages: readonly [string, string]; names: readonly string[] };
  /** `given`: an inventory is there, and holds no cluster. */
  LABELS_GUESSED: { given: boolean };
  /** `proof: content`, and control planes that nobody can ask for objects. */
  SYNC_NOT_GRANTED: { planes: readonly string[] };
  PROOF_UNREADABLE: { planes: readonly string[] };
  /** `clusters`: those that hold something else than the release. */
  RELEASE_BEFORE_ADOPTION: { values: readonly string[]; clusters: readonly string[]; attempt: number };
}

/** Clusters that change together. `count`: how many; the names are of the first. */
export interface SharedUnit {
  names: readonly string[];
  count: number;
  /** The pin that they share. */
  pin?: { path: string; file: string } | undefined;
}

/** More in flight than one of the limits allows. */
export interface OverLimit {
  /** As it stands in the repo's settings; `spec.`: in the rollout. */
  setting: `${LimitsPlace}${"clusters" | "targets" | "label"}`;
  /** Whom it counts. */
  only?: WindowScope | undefined;
  have: number;
  most: number;
  /** Of a limit by label: which label, and the percentage that `most` comes from. */
  label?: { key: string; value: string; percent: number };
}

/** Which limits: the last part names one of them. */
export type LimitsPlace = `${"" | "spec."}limits.${"" | `selected[${number}].`}`;

/** Why no stage takes a cluster. */
export interface Uncovered {
  NotSelected: NoData;
  StageFull: { stage: string };
}
