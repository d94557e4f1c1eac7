import { expect, test } from "vitest";
import type { Guess, Hindrance, Objection, PlaceHindrance, Question, SlotHindrance } from "../../reasons/onboarding.ts";
import { sayGuess, sayQuestion } from "./guess.ts";
import { sayHindrance } from "./hindrance.ts";

type SampleOf<Data extends { kind: string }> = { [Kind in Data["kind"]]: Extract<Data, { kind: Kind }>[] };

const PLACES: SampleOf<PlaceHindrance> = {
  BrokenFile: [{ kind: "BrokenFile", file: "overlays/prod/kustomization.yaml", line: 3, problem: "Tabs are not allowed as indentation" }],
  OtherRepo: [{ kind: "OtherRepo", repoURL: "https://github.com/acme/charts" }],
  OtherBranch: [
    { kind: "OtherBranch", branch: "env/prod" },
    { kind: "OtherBranch", branch: "develop", some: true },
  ],
  Floating: [
    { kind: "Floating", at: "source.targetRevision", value: "main" },
    { kind: "Floating", at: "source.targetRevision", value: "" },
  ],
  NothingThere: [
    { kind: "NothingThere", folder: "apps/shop" },
    { kind: "NothingThere", folder: "" },
  ],
  OfSecret: [{ kind: "OfSecret", at: "source.targetRevision", value: "{{metadata.annotations.v}}" }],
};

const SLOTS: SampleOf<SlotHindrance> = {
  OfSome: [{ slot: "targetRevision", kind: "OfSome", have: 2, applications: 5 }],
  NotToldApart: [
    { slot: "targetRevision", kind: "NotToldApart", texts: ["a/x.yaml", "b/y.yaml"] },
    { slot: "targetRevision", kind: "NotToldApart", texts: ["a", "b", "c", "d"] },
    {
      slot: "targetRevision",
      kind: "NotToldApart",
      texts: ["dev/x.yaml", "prod/x.yaml"],
      label: { values: ["dev", "prod"], text: "{{ application.labels.env }}/x.yaml" },
    },
  ],
};

const OBJECTIONS: SampleOf<Objection> = {
  NotWritten: [{ kind: "NotWritten", file: "apps/eu.yaml" }],
  ChangesNothing: [{ kind: "ChangesNothing", applications: ["shop-eu"] }],
  ChangesOthers: [{ kind: "ChangesOthers", applications: ["a", "b", "c", "d"] }],
  Problem: [{ kind: "Problem", problem: { code: "CONFIG_X", message: "it is not so", hint: "make it so" } }],
};

const many = <Data extends { kind: string }>(samples: SampleOf<Data>) => Object.values<Data[]>(samples).flat();

const HINDRANCES: SampleOf<Hindrance> = {
  TooManyFiles: [{ kind: "TooManyFiles", files: 30_000, looked: 20_000 }],
  TooLarge: [{ kind: "TooLarge", bytes: 10 * 1024 * 1024 + 1 }],
  TooMuchText: [{ kind: "TooMuchText", files: 1200 }],
  HelmTemplate: [{ kind: "HelmTemplate", templates: 1 }],
  Broken: [{ kind: "Broken", is: "YAML", problem: "bad indentation" }],
  NoName: [{ kind: "NoName" }],
  NotRendered: [{ kind: "NotRendered", problem: undefined }],
  ClustersUnknown: [{ kind: "ClustersUnknown" }],
  ClusterUnknown: [
    { kind: "ClusterUnknown", application: "shop-eu", destination: "eu-1" },
    { kind: "ClusterUnknown", application: "shop-eu", destination: undefined },
  ],
  NoApplications: [
    { kind: "NoApplications", labels: [], patterns: [] },
    { kind: "NoApplications", labels: [], patterns: ["apps/*/prod"] },
    { kind: "NoApplications", labels: ["env"], patterns: [] },
    { kind: "NoApplications", labels: ["env", "region"], patterns: [] },
  ],
  Patched: [{ kind: "Patched", folder: "overlays/prod", plain: { kind: "ClustersUnknown" } }],
  Changed: [{ kind: "Changed", folder: "apps/prod", by: "namePrefix", applications: ["shop", "till"] }],
  DeclaredTwice: [{ kind: "DeclaredTwice", application: "shop-eu" }],
  SameName: [{ kind: "SameName", application: "shop", files: ["dev/shop.yaml", "prod/shop.yaml"] }],
  OneApplication: [
    { kind: "OneApplication", cluster: "eu-1" },
    { kind: "OneApplication", cluster: undefined },
  ],
  NothingAlike: [{ kind: "NothingAlike", alone: 4, applications: 6 }],
  EachAlone: [1, 7].map((applications) => ({ kind: "EachAlone", applications })),
  OnlyOne: [{ kind: "OnlyOne" }],
  Jsonnet: [{ kind: "Jsonnet", folder: "apps" }],
  Parents: [{ kind: "Parents" }],
  OneVersionForAll: [
    { kind: "OneVersionForAll", applications: 3, slot: "targetRevision", file: "set.yaml", path: "spec.x" },
    {
      kind: "OneVersionForAll",
      applications: 2,
      slot: "kustomize newTag shop",
      file: "base/kustomization.yaml",
      path: "x",
      overlays: ["overlays/dev"],
    },
    { kind: "OneVersionForAll", applications: 2, slot: "kustomize newTag shop", file: "base/kustomization.yaml", path: "x", overlays: [] },
    {
      kind: "OneVersionForAll",
      applications: 2,
      slot: "Helm values image.tag",
      file: "chart/values.yaml",
      path: "image.tag",
      overlays: [],
    },
  ],
  NoPin: [{ kind: "NoPin", slots: many<SlotHindrance>(SLOTS) }],
  NoVersion: [
    { kind: "NoVersion", anywhere: true, because: [] },
    { kind: "NoVersion", anywhere: false, because: [] },
    ...many<PlaceHindrance>(PLACES).map((one) => ({ kind: "NoVersion" as const, anywhere: false, because: [one] })),
  ],
  Disproved: many<Objection>(OBJECTIONS).map((one) => ({ kind: "Disproved" as const, against: [one] })),
  PartlyStaged: [{ kind: "PartlyStaged", rollout: "shop", file: "rollouts/shop.yaml", applications: ["shop-us"] }],
  EnoughProposed: [{ kind: "EnoughProposed", rollouts: 100 }],
};

test("every reason for which init proposes nothing, with what to do", () => {
  const said = many<Hindrance>(HINDRANCES).map((one) => {
    const { why, hint } = sayHindrance(one);
    return `${one.kind}: ${why}\n  → ${hint}`;
  });
  expect(`\n${said.join("\n")}\n`).toMatchSnapshot();
});

const GUESSES: SampleOf<Guess> = {
  DefaultForAll: [{ kind: "DefaultForAll", version: "v1.2.1" }],
  MovesByItself: [{ kind: "MovesByItself", version: "latest" }],
  SeveralImages: [{ kind: "SeveralImages", images: 3 }],
  OrderByText: [
    { kind: "OrderByText", of: "clusters", text: "name" },
    { kind: "OrderByText", of: "Applications", text: "branch" },
  ],
  OrderOfLabel: [{ kind: "OrderOfLabel", label: "ring" }],
  OneEnvironment: [{ kind: "OneEnvironment" }],
  BranchesMove: [{ kind: "BranchesMove" }],
  LeftOut: [["shop-preview"], ["shop-preview", "shop-build"]].flatMap((applications) => [
    { kind: "LeftOut" as const, applications },
    { kind: "LeftOut" as const, applications, branch: "develop" },
  ]),
  TakenForProduction: [["shop"], ["shop", "web"]].map((applications) => ({ kind: "TakenForProduction", applications })),
  LabelsUnknown: [{ kind: "LabelsUnknown" }],
  NamesOnly: [{ kind: "NamesOnly", of: "Applications" }],
};

const QUESTIONS: SampleOf<Question> = {
  WhichVersion: [{ kind: "WhichVersion", versions: ["v1", "v2", "v3", "v4", "v5"], taken: "v5" }],
  WhoSyncs: [{ kind: "WhoSyncs", stages: ["staging", "prod"] }],
  WhichValue: [{ kind: "WhichValue", name: "shop", values: ["v1", "v2"] }],
  BringAlong: [
    { kind: "BringAlong", slot: "kustomize newTag redis", values: ["v7.2.0"], pin: { file: "a.yaml", path: "x" } },
    { kind: "BringAlong", slot: "kustomize newTag redis", values: ["7.2"], pin: { path: "x" }, own: { name: "redis", value: "7.2" } },
    { kind: "BringAlong", slot: "kustomize newTag redis", values: ["7.2"], pin: { path: "x" }, outdone: true },
    {
      kind: "BringAlong",
      slot: "kustomize digest proxy",
      values: ["sha256:1"],
      pin: { path: "x" },
      own: { name: "proxy", value: "sha256:1", beside: "v1" },
    },
  ],
};

test("everything init guesses and asks", () => {
  const asked = many<Question>(QUESTIONS).map(sayQuestion);
  const said = [...many<Guess>(GUESSES).map(sayGuess), ...asked.map(({ ask, answers }) => [ask, ...answers].join("\n  - "))];
  expect(`\n${said.join("\n")}\n`).toMatchSnapshot();
});
