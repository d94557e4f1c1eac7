/** Why `stagecoach init` and onboarding propose no rollout for something of a repo, what they guess of those they propose, and what they ask. */
import type { OwnWords, ProblemReason } from "./problems/problem.ts";
import type { RenderProblem } from "./render.ts";

/** What stands in the way of one thing of a repo. */
export type Hindrance =
  | { kind: "TooManyFiles"; files: number; looked: number }
  /** One file, which is not read. */
  | { kind: "TooLarge"; bytes: number }
  /** Files beyond what is read of one commit. */
  | { kind: "TooMuchText"; files: number }
  /** How many files of one chart. */
  | { kind: "HelmTemplate"; templates: number }
  | { kind: "Broken"; is: "YAML" | "JSON"; problem: string }
  | { kind: "NoName" }
  | { kind: "NotRendered"; problem: RenderProblem | undefined }
  | { kind: "ClustersUnknown" }
  /** `destination` undefined: it names none. */
  | { kind: "ClusterUnknown"; application: string; destination: string | undefined }
  /** `labels`: those that its selectors want and no cluster that is known has. `patterns`: what its git generators look for. */
  | { kind: "NoApplications"; labels: readonly string[]; patterns: readonly string[] }
  /** `plain`: what it lacks as it stands. */
  | { kind: "Patched"; folder: string; plain: Hindrance }
  /** A kustomization makes other Applications of them than their files say; `by`: its field. */
  | { kind: "Changed"; folder: string; by: string; applications: readonly string[] }
  | { kind: "DeclaredTwice"; application: string }
  | { kind: "SameName"; application: string; files: readonly string[] }
  | { kind: "OneApplication"; cluster: string | undefined }
  | { kind: "NothingAlike"; alone: number; applications: number }
  | { kind: "EachAlone"; applications: number }
  | { kind: "OnlyOne" }
  /** Its folder is rendered by Jsonnet. */
  | { kind: "Jsonnet"; folder: string }
  /** `overlays`: they are written by hand, and these folders stand over the kustomization that all of them read; empty: none does. */
  | { kind: "OneVersionForAll"; applications: number; slot: string; file: string; path: string; overlays?: readonly string[] }
  | { kind: "NoPin"; slots: readonly SlotHindrance[] }
  | { kind: "NoVersion"; anywhere: boolean; because: readonly PlaceHindrance[] }
  | { kind: "Disproved"; against: readonly Objection[] }
  /** They make other Applications, and nothing besides. */
  | { kind: "Parents" }
  | { kind: "PartlyStaged"; rollout: string; file: string; applications: readonly string[] }
  | { kind: "EnoughProposed"; rollouts: number };

/** Why a version that is there is no pin of a rollout. */
export type SlotHindrance = { slot: string } & (
  | { kind: "OfSome"; have: number; applications: number }
  /** `label`: values of a label `env` that would tell them apart, and the text with it. */
  | { kind: "NotToldApart"; texts: readonly string[]; label?: { values: readonly string[]; text: string } | undefined }
);

/** Why an Application's version has no place in the repo. */
export type PlaceHindrance =
  | { kind: "BrokenFile"; file: string; line: number; problem: string }
  | { kind: "OtherRepo"; repoURL: string }
  /** `some`: others of them read the default one. */
  | { kind: "OtherBranch"; branch: string; some?: boolean }
  | { kind: "Floating"; at: string; value: string }
  /** What it is made from holds no version of an image or a chart. */
  | { kind: "NothingThere"; folder: string }
  | { kind: "OfSecret"; at: string; value: string };

/** What rendering, lint or a plan holds against a rollout that would be proposed. */
export type Objection =
  | { kind: "NotWritten"; file: string }
  | { kind: "ChangesNothing"; applications: readonly string[] }
  | { kind: "ChangesOthers"; applications: readonly string[] }
  | { kind: "Problem"; problem: ProblemReason | OwnWords };

/** What init guessed of a rollout that it proposes. `of`: what its stages take. */
export type Guess =
  | { kind: "DefaultForAll"; version: string }
  | { kind: "MovesByItself"; version: string }
  | { kind: "SeveralImages"; images: number }
  | { kind: "OrderByText"; of: "clusters" | "Applications"; text: string }
  | { kind: "OrderOfLabel"; label: string }
  | { kind: "OneEnvironment" }
  | { kind: "BranchesMove" }
  /** They run the same thing, and have no version in the repo, or on another branch. */
  | { kind: "LeftOut"; applications: readonly string[]; branch?: string | undefined }
  /** Their names say no environment, where all others say one before production. */
  | { kind: "TakenForProduction"; applications: readonly string[] }
  | { kind: "LabelsUnknown" }
  | { kind: "NamesOnly"; of: "clusters" | "Applications" };

/** What init could not decide of a rollout. */
export type Question =
  /** `taken`: what the rollout begins with. */
  | { kind: "WhichVersion"; versions: readonly string[]; taken: string }
  /** `stages`: those whose Applications have no automated sync. */
  | { kind: "WhoSyncs"; stages: readonly string[] }
  | { kind: "WhichValue"; name: string; values: readonly string[] }
  /** `own`: the release's version is none of it, so it needs a value of its own; `beside`: the version the release has so far. `outdone`: by a digest. */
  | {
      kind: "BringAlong";
      slot: string;
      values: readonly string[];
      pin: object;
      own?: { name: string; value: string; beside?: string };
      outdone?: true;
    };
