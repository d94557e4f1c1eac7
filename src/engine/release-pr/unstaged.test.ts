import { describe, expect, test } from "vitest";
import { plannedTarget } from "../../../test/support/sample-run.ts";
import { render } from "../../core/appset/render.ts";
import { type TargetBefore, type UnstagedInput, unstagedBy } from "./unstaged.ts";

const REPO = "https://github.com/acme/fleet.git";

function target(cluster: string, revision = "v1.4.1", over: Partial<TargetBefore> = {}): TargetBefore {
  return { ...plannedTarget(cluster), sources: [{ repoURL: REPO, path: "apps/payments", targetRevision: revision }], ...over };
}

function set(elements: Record<string, string>, more: Record<string, unknown> = {}) {
  const list = Object.entries(elements).map(([cluster, revision]) => ({ cluster, revision }));
  const spec = {
    project: "default",
    source: { repoURL: REPO, path: "apps/payments", targetRevision: "{{revision}}", ...more },
    destination: { name: "{{cluster}}", namespace: "x" },
  };
  const metadata = { name: "payments", namespace: "argocd" };
  const template = { metadata: { name: "payments-{{cluster}}" }, spec };
  return render({ metadata, spec: { generators: [{ list: { elements: list } }], template } }, { clusters: [] });
}

function input(over: Partial<UnstagedInput> = {}): UnstagedInput {
  return {
    rollout: { release: { kind: "from", file: "releases/payments.yaml", path: "version", attempt: 1 }, pins: [] },
    targets: [target("eu-1"), target("us-1")],
    touched: ["releases/payments.yaml"],
    isRelease: true,
    renders: undefined,
    pinsAfter: undefined,
    repoURL: REPO,
    baseBranch: "main",
    ...over,
  };
}

const told = (over: Partial<UnstagedInput>) =>
  unstagedBy(input(over)).map(({ application, cluster, why }) => ({ on: `${application} ${cluster}`, ...why }));

describe("does a PR pass the stages by", () => {
  test("one that changes a file no Application reads does not", () => {
    const before = set({ "eu-1": "v1.4.1", "us-1": "v1.4.1" });
    expect(told({ renders: { before, after: before }, pinsAfter: new Map([["hub/argocd/payments-eu-1", ["v1.4.1"]]]) })).toEqual([]);
  });

  test("§9.6 an Application whose spec changes is named with its cluster and what of it", () => {
    const renders = { before: set({ "eu-1": "v1.4.1", "us-1": "v1.4.1" }), after: set({ "eu-1": "v1.4.1", "us-1": "v1.4.2" }) };
    expect(told({ renders })).toEqual([{ on: "payments-us-1 hub/us-1", code: "UNSTAGED_CHANGED", places: ["spec.source.targetRevision"] }]);
  });

  test("a change of the template reaches all of them", () => {
    const same = { "eu-1": "v1.4.1", "us-1": "v1.4.1" };
    const renders = { before: set(same), after: set(same, { helm: { releaseName: "x" } }) };
    expect(unstagedBy(input({ renders, isRelease: false }))).toHaveLength(2);
  });

  test("one that goes is named; one that comes is not held against it", () => {
    const renders = { before: set({ "eu-1": "v1", "us-1": "v1" }), after: set({ "eu-1": "v1", "ap-1": "v2" }) };
    expect(told({ renders })).toEqual([{ on: "payments-us-1 hub/us-1", code: "UNSTAGED_DELETED" }]);
  });

  test("a pin in a values file is one, though no Application's spec changes", () => {
    const pinsAfter = new Map([
      ["hub/argocd/payments-eu-1", ["v1.4.2"]],
      ["hub/argocd/payments-us-1", ["v1.4.1"]],
    ]);
    expect(told({ pinsAfter, isRelease: false })).toEqual([
      { on: "payments-eu-1 hub/eu-1", code: "UNSTAGED_PIN", pinFile: "appsets/payments.yaml", from: "v1.4.1", to: "v1.4.2" },
    ]);
  });

  test("a release in a file that Applications read from the base branch reaches them at once", () => {
    const touched = ["apps/payments/values.yaml"];
    expect(told({ touched, targets: [target("eu-1", "main"), target("us-1")] })).toEqual([
      { on: "payments-eu-1 hub/eu-1", code: "UNSTAGED_READS", changed: "apps/payments/values.yaml", branch: "main" },
    ]);
    expect(told({ touched, targets: [target("eu-1", "main")], isRelease: false })).toEqual([]);
  });

  test("the rollout itself is read by nobody, wherever an Application's sources begin", () => {
    const sources = [{ repoURL: REPO, path: ".", targetRevision: "main" }];
    expect(told({ touched: ["rollouts/payments.yaml"], targets: [target("eu-1", "main", { sources })] })).toEqual([]);
  });

  test("with a commit as the release no target may follow the base branch", () => {
    const rollout = { release: { kind: "commit" as const, paths: ["apps/**"], attempt: 1 }, pins: [] };
    const edits = [{ kind: "value" as const, file: "f", path: "p", from: "image-7", to: "x" }];
    expect(
      told({
        rollout,
        touched: [],
        targets: [target("a", "HEAD"), target("b"), target("c", "refs/heads/main"), target("d", "v1", { edits })],
      }),
    ).toEqual([
      { on: "payments-a hub/a", code: "UNSTAGED_FOLLOWS", branch: "main" },
      { on: "payments-c hub/c", code: "UNSTAGED_FOLLOWS", branch: "main" },
      { on: "payments-d hub/d", code: "UNSTAGED_NO_PIN" },
    ]);
  });

  test("where the ApplicationSet cannot be rendered the pins still tell", () => {
    const broken = render({ spec: { generators: [{ plugin: {} }], template: {} } }, { clusters: [] });
    const pinsAfter = new Map([["hub/argocd/payments-eu-1", [null]]]);
    expect(told({ renders: { before: broken, after: broken }, pinsAfter })).toEqual([
      { on: "payments-eu-1 hub/eu-1", code: "UNSTAGED_PIN", pinFile: "appsets/payments.yaml", from: "v1.4.1" },
    ]);
  });
});
