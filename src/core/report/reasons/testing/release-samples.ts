import type { ReleaseProblems } from "../../../reasons/problems/rules.ts";
import type { Samples } from "./copy-samples.ts";

/** Of releases, pins and texts of pull requests. */
export const RELEASE_SAMPLES: Samples<keyof ReleaseProblems> = {
  RELEASE_KIND: [
    { kind: "None", known: ["version", "from"] },
    { kind: "Two", first: "version", second: "tag" },
    { kind: "NoValues", field: "values" },
    { kind: "NoPath" },
  ],
  RELEASE_VALUE: [
    { kind: "SamePlace", value: "sidecar", other: "image" },
    { kind: "Unused", value: "chart" },
  ],
  BAD_GLOB: [
    { given: "/apps/**", fault: "Slash" },
    { given: "", fault: "Empty" },
    { given: "…", fault: "TooLong" },
    { given: "../x", fault: "Dots" },
  ],
  BAD_RANGE: [{ given: "v1.x-payments" }],
  COMMIT_PATHS: [{ pinFile: "appsets/payments.yaml", glob: "appsets/payments.yaml" }],
  BAD_TEMPLATE: [
    { kind: "Unknown", variable: "foo", known: ["cluster.name", "params.X"] },
    { kind: "Unknown", variable: "cluster.nam", known: ["cluster.name", "params.X"], near: "cluster.name" },
    { kind: "Open", template: "a {{ b" },
    { kind: "TitleLines" },
    { kind: "NoValue", value: "foo", known: ["image"] },
  ],
  PIN_KIND: [
    { kind: "NoPath" },
    { kind: "NoFile" },
    { kind: "NoPlace" },
    { kind: "TwoKinds" },
    { kind: "BranchValue" },
    { kind: "FastForward" },
    { kind: "CopyValue" },
    { kind: "CreatePart" },
  ],
  PIN_VALUE: [
    { kind: "NoValue", value: "foo", known: ["image"] },
    { kind: "NoValue", value: "imag", known: ["image"], near: "image" },
    { kind: "NoValue", value: "foo", known: [] },
    { kind: "NoVersion", first: "image" },
    { kind: "Default", first: undefined },
  ],
  DIGEST_BESIDE_TAG: [
    { kind: "Digest", pinPath: "images[0].newTag", pinFile: "kustomization.yaml", beside: "images[0].digest", value: "sha256:1f2e" },
    { kind: "Tag", pinPath: "images[0].digest", pinFile: "kustomization.yaml", beside: "images[0].newTag", value: "v1" },
  ],
  BRANCH_NEEDS_COMMIT: [{}],
  FILE_OUTSIDE_REPO: [
    { given: "../x.yaml", fault: "Dots", ofPin: false },
    { given: "", fault: "Empty", ofPin: true },
    { given: "/x", fault: "Absolute", ofPin: true },
    { given: "a\\b", fault: "Backslash", ofPin: true },
    { given: "a", fault: "Nul", ofPin: true },
    { given: ".git/x", fault: "Git", ofPin: true },
    { given: "a//b", fault: "Steps", ofPin: true },
    { given: ".github", fault: "Rules", ofPin: true },
    { given: ".github/stagecoach.yaml", fault: "RulesFile", ofPin: true },
  ],
};
