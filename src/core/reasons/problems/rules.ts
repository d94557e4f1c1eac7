import type { NoData } from "../../base/reason.ts";
import type { TemplateFault } from "../../base/template.ts";
import type { SourceNamed } from "../refs.ts";

/** What a rollout says that no run could go by, though its schema is kept. */
export interface RuleProblems {
  BAD_NAME: { given: string };
  DUPLICATE_STAGE: { stage: string; first: number };
  STAGE_SHADOWED: { stage: string; taker: string; selector: string };
  ORDER_KEY: { kind: "Missing" | "Needless" };
  TOPOLOGY_KEY: { outer: string; inner: string };
  SOURCE_REF:
    | { kind: "NoName" | "NoSelector" | "NamesOfApplications" }
    | { kind: "SaidTwice"; first: string; second: string }
    | { kind: "Group"; given: string }
    | { kind: "NoPlane"; known: readonly string[] };
  BAD_LABEL: { kind: "Key" | "Value"; given: string };
  SELECTOR_VALUES: { operator: string };
  SELECTOR_NEVER_MATCHES: { label: string };
  DUPLICATE_ROLLOUT: { name: string; also: string };
  SOURCE_SHARED:
    | { kind: "Source"; source: SourceNamed; owner: string; ownerFile: string }
    | { kind: "Application" | "Place"; what: string; owner: string; ownerFile: string };
  UNKNOWN_DEPENDENCY: { kind: "Broken"; name: string; brokenFile: string } | { kind: "Unknown"; name: string; near?: string | undefined };
  /** `own`, `known`: names of the values of this rollout's release and of the other's. */
  DEPENDENCY_VALUE: { kind: "Same" | "AtLeast"; name: string; own: readonly string[]; known: readonly string[] };
  /** `known`: stages of the other rollout. */
  DEPENDENCY_STAGES: { rollout: string; stage: string; known: readonly string[]; near?: string | undefined };
  DEPENDENCY_CYCLE: { circle: readonly string[] };
}

/** What it says of its release, its pins and the texts of its pull requests. */
export interface ReleaseProblems {
  RELEASE_KIND:
    | { kind: "None"; known: readonly string[] }
    | { kind: "Two"; first: string; second: string }
    | { kind: "NoValues"; field: string }
    | { kind: "NoPath" };
  /** Of a release of several values. `other`: the value that stands there, too. */
  RELEASE_VALUE: { kind: "SamePlace"; value: string; other: string } | { kind: "Unused"; value: string };
  BAD_GLOB: { given: string; fault: "Empty" | "TooLong" | "Slash" | "Dots" };
  BAD_RANGE: { given: string };
  COMMIT_PATHS: { pinFile: string; glob: string };
  /** `known`: names of the release's values. */
  BAD_TEMPLATE:
    | TemplateFault
    | { kind: "TitleLines" }
    | { kind: "NoValue"; value: string; known: readonly string[]; near?: string | undefined };
  PIN_KIND: { kind: "NoPlace" | "TwoKinds" | "NoFile" | "NoPath" | "BranchValue" | "CopyValue" | "CreatePart" | "FastForward" };
  PIN_VALUE:
    | { kind: "Default"; first?: string | undefined }
    | { kind: "NoVersion"; first?: string | undefined }
    | { kind: "NoValue"; value: string; known: readonly string[]; near?: string | undefined };
  /** `beside`: the path of what stays, with its value. `Digest`: a tag is written, and a digest stays. */
  DIGEST_BESIDE_TAG: { kind: "Tag" | "Digest"; pinPath: string; pinFile: string; beside: string; value: string };
  BRANCH_NEEDS_COMMIT: NoData;
  /** `ofPin`: its template was filled in for a target. */
  FILE_OUTSIDE_REPO: { given: string; fault: OutsideFault; ofPin: boolean };
}

/** Why a path names no file inside of the repo. */
export type OutsideFault = "Empty" | "Absolute" | "Backslash" | "Nul" | "Dots" | "Git" | "Steps" | "Rules" | "RulesFile";
