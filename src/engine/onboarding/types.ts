/**
 * `stagecoach init` and onboarding: looks through a config repo and proposes rollouts. Nothing here reads a disk or a
 * network: files, the fleet and the judgement of a proposal are handed in.
 */

import type { RepoFiles } from "../../core/base/repo-files.ts";
import type { RepoKind } from "../../core/report/onboarding.ts";

export interface InitCluster {
  name: string;
  server: string;
  labels: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  project?: string;
}

export interface InitInput {
  files: RepoFiles;
  /** As registered in Argo CD; empty: not known, so they are taken from generators and destinations. */
  clusters: readonly InitCluster[];
  /** Application objects as kubectl prints them; used where an ApplicationSet of the repo cannot be rendered. */
  applications: readonly Record<string, unknown>[];
  /** Whether a repoURL means this very repo. */
  isThisRepo(repoURL: string): boolean;
  /** What stands against a rollout file as proposed, by the very code that lints and plans; empty: nothing does. */
  verify(file: string, text: string, targets: readonly InitTarget[]): readonly string[];
}

/** One Application, as it is or as it would be generated, with all that a pin's template may say. */
export interface InitTarget {
  application: string;
  namespace: string;
  labels: Readonly<Record<string, string>>;
  spec: Record<string, unknown>;
  /** Parameters its generator gave it, flattened. */
  params: Readonly<Record<string, string>>;
  cluster: InitCluster;
  /** The destination says the cluster's name, or the inventory has it: `cluster.name` can be relied on. */
  nameIsSure: boolean;
  /** Where its own manifest stands; absent where an ApplicationSet makes it. */
  manifest?: Manifest;
  /** The ApplicationSet that makes it; without a manifest where no file declares that as it is. */
  set?: { name: string; namespace: string; manifest?: Manifest };
}

/** One document of a YAML file. */
export interface Manifest {
  file: string;
  /** From 1. */
  document: number;
  /** How many the file has. */
  documents: number;
  object: Record<string, unknown>;
}

/** Kinds of places where versions live (docs/spec.md §6). */
type PlaceKind =
  | "generator field"
  | "targetRevision"
  | "kustomize newTag"
  | "Helm values"
  | "chart dependency"
  | "kustomize helmCharts"
  | "kustomize ?ref="
  | "inline image";

type PinPart = "tag" | "digest" | "tag+digest" | "ref";

/** A place where one target's version is written. */
export interface Place {
  kind: PlaceKind;
  /** The same for the same thing in every target: `kustomize newTag app`. */
  slot: string;
  file: string;
  /** Pin path, of this very target. */
  path: string;
  part?: PinPart;
  value: string;
  /** Name of the image whose version it is, without tag and digest; absent: it is none, or nobody can tell. */
  image?: string;
  /** It is not there yet: `value` is what an earlier file says, and this one overrides it. */
  create?: true;
}

/** A pin as it stands in a rollout. */
export type ProposedPin =
  | { file: string; path: string; part?: PinPart; create?: true; value?: string }
  | { clusterGenerator: { file: string; path: string } };

/** The release to begin with: a version, or several values by name. */
export type ProposedRelease = { version: string } | { values: Record<string, string> };

/** What init could not decide, with answers to choose from: each a word, or a line to paste. */
export interface Question {
  ask: string;
  answers: readonly string[];
}

export interface ProposedStage {
  name: string;
  /** Of `clusters.selector`, or of `targets.selector` where Applications are counted. */
  selector: Record<string, unknown>;
  maxClusters?: number;
  maxUnavailable: number | string;
  topologyKey?: string;
  bake?: string;
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
  /** What stands there now; the most frequent where there are several. */
  version: string;
  /** What was guessed, one sentence each. */
  guesses: readonly string[];
  questions: readonly Question[];
}

/** Something that only a person can decide. */
export interface Undecided {
  /** `ApplicationSet payments`. */
  what: string;
  file: string;
  why: string;
  /** What to do. */
  hint: string;
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
