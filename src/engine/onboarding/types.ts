/**
 * `stagecoach init` and onboarding: looks through a config repo and proposes rollouts. Nothing here reads a disk or a
 * network: files, the fleet and the judgement of a proposal are handed in.
 */
import type { RepoFiles } from "../../core/base/repo-files.ts";
import type { Cluster, Plan } from "../../core/plan/plan-types.ts";
import type { Objection, PlaceHindrance } from "../../core/reasons/onboarding.ts";
import type { PlaceKind } from "../../core/report/onboarding/types.ts";
import type { Foreseen } from "../../core/report/simulated.ts";
import type { RepoBounds } from "../../core/spec/repo-config.ts";
import type { PinPart, Rollout } from "../../core/spec/rollout.ts";

export interface InitCluster {
  name: string;
  server: string;
  labels: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  project?: string;
}

/** One of several control planes, as it lives. */
export interface InitPlane {
  name: string;
  /** As its operator gave them. */
  labels: Readonly<Record<string, string>>;
  clusters: readonly InitCluster[];
  applications: readonly Record<string, unknown>[];
}

export interface InitInput {
  files: RepoFiles;
  /** As registered in Argo CD; empty: not known, so they are taken from generators and destinations. */
  clusters: readonly InitCluster[];
  /** Application objects as kubectl prints them; used where an ApplicationSet of the repo cannot be rendered. */
  applications: readonly Record<string, unknown>[];
  /** Where there are several: what lives on each. All that is above is then of all of them. */
  planes?: readonly InitPlane[] | undefined;
  /** Whether a repoURL means this very repo. */
  isThisRepo(repoURL: string): boolean;
  /** Where batches are merged; undefined: nobody tells, and it is one of the usual names. */
  defaultBranch?: string | undefined;
  /** What stands against a rollout file as proposed, by the very code that lints and plans; empty: nothing does. */
  verify(file: string, text: string, targets: readonly InitTarget[]): readonly Objection[];
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
  /** Absent: there is one alone, and nobody needs to name it. */
  controlPlane?: Pick<InitPlane, "name" | "labels">;
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
  /** Its place among the items of a List, from 0. */
  item?: number | undefined;
  object: Record<string, unknown>;
}

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
  /** A digest beside it wins over it. */
  outdone?: true;
}

/** What the files hold that an Application is made of. */
export interface FilePlaces {
  places: Place[];
  /** Why a folder or file holds no place. */
  why: PlaceHindrance[];
}

/** A proposed rollout with the plan of its next release. */
export interface Planned {
  rollout: Rollout;
  plan: Plan;
  clusters: readonly Cluster[];
  /** Of the repo's settings. */
  bounds: RepoBounds;
}

/** Simulates a run of each; undefined where that takes too long. Handed in, since the simulated world is none of the engine's. */
export type Foresee = (planned: readonly Planned[]) => readonly (Foreseen | undefined)[];
