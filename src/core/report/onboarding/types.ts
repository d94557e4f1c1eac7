/** What `stagecoach init` and onboarding propose for a repo, as its views draw it. Made by `engine/onboarding`. */
import type { Guess, Hindrance, Question } from "../../reasons/onboarding.ts";
import type { PinPart } from "../../spec/rollout.ts";
import type { RepoKind } from "./repo-kind.ts";

/** Kinds of places where versions live (docs/spec.md §6). */
export type PlaceKind =
  | "generator field"
  | "targetRevision"
  | "kustomize newTag"
  | "Helm values"
  | "chart dependency"
  | "kustomize helmCharts"
  | "kustomize ?ref="
  | "inline image"
  | "branch";

/** A pin as it stands in a rollout. */
export type ProposedPin =
  | { file: string; path: string; part?: PinPart; create?: true; value?: string }
  | { clusterGenerator: { file: string; path: string } }
  | { branch: string };

/** The release to begin with: a version, several values by name, or each merge of a change of these paths. */
export type ProposedRelease = { version: string } | { values: Record<string, string> } | { commit: { paths: string[] } };

export interface ProposedStage {
  name: string;
  /** Of `clusters.selector`, or of `targets.selector` where Applications are counted. */
  selector: Record<string, unknown>;
  maxClusters?: number;
  maxUnavailable: number | string;
  topologyKey?: string;
  bake?: string;
  /** Its Applications are synced by hand, or some of them. */
  sync?: "Wait";
  requeue?: { selector: Record<string, unknown>; attempts: number; interval: string };
  /** How many clusters, or Applications, it would take now. */
  clusters: number;
}

export interface ProposedRollout {
  name: string;
  /** `rollouts/NAME.yaml`. */
  file: string;
  text: string;
  source: { kind: "ApplicationSet" | "Application"; name: string; file: string };
  kinds: readonly PlaceKind[];
  pins: readonly ProposedPin[];
  stages: readonly ProposedStage[];
  /** What is counted: clusters, or each Application. */
  targetBy?: "application";
  targets: number;
  clusters: number;
  /** What stands there now; the newest where there are several, or else the most frequent. */
  version: string;
  guesses: readonly Guess[];
  questions: readonly Question[];
}

/** Something that only a person can decide. */
export interface Undecided {
  /** `ApplicationSet payments`. */
  what: string;
  file: string;
  /** How many Applications it is about, where that is known. */
  applications?: number;
  why: Hindrance;
}

export interface Figures {
  files: number;
  applicationSets: number;
  applications: number;
  kustomizations: number;
  charts: number;
  valuesFiles: number;
}

export interface Proposal {
  figures: Figures;
  /** Where the clusters are known from. */
  fleet: "inventory" | "generators" | "nothing";
  clusters: number;
  rollouts: readonly ProposedRollout[];
  /** Names of rollouts that the repo has; what they are about is not proposed again. */
  existing: readonly string[];
  /** `.github/stagecoach.yaml`; undefined: the repo has one. */
  settings: { file: string; text: string } | undefined;
  undecided: readonly Undecided[];
  /** What the repo is, where nothing of Argo CD's is in it. */
  repoKind?: RepoKind;
}
