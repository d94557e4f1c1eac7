import { describe, expect, test } from "vitest";
import type { ControlPlane } from "../../adapters/argocd/port.ts";
import { application, COMMIT, input, MERGED, REPO } from "../../adapters/argocd/testing/application.ts";
import { changeFor } from "../../core/argocd/liveness/change-for.ts";
import { assess } from "../../core/argocd/liveness/liveness.ts";
import type { Run } from "../../core/run/state/run.ts";
import type { Commits } from "./commits.ts";
import { specsByPlane } from "./plane-sets.ts";
import { givenTo, openRenderer } from "./rendered.ts";
import type { Snapshot } from "./snapshot.ts";

const FILE = "argocd/payments-eu-1.yaml";
const KEY = "hub/argocd/payments-eu-1";
const edit = { kind: "value" as const, file: FILE, path: "spec.source.helm.parameters[name=image.tag].value", from: "v1", to: "v2" };

function sourceAt(value: string) {
  return { repoURL: REPO, path: "apps/payments", targetRevision: "main", helm: { parameters: [{ name: "image.tag", value }] } };
}

function manifestAt(tag: string, namespace = "argocd"): string {
  const annotations = { "argocd.argoproj.io/manifest-generate-paths": "." };
  const spec = { project: "default", source: sourceAt(tag), destination: { server: "https://eu-1.example.com", namespace: "payments" } };
  return JSON.stringify({ kind: "Application", metadata: { name: "payments-eu-1", namespace, annotations }, spec });
}

function snapshotOf(texts: Record<string, string>): Snapshot {
  const files = { paths: () => Object.keys(texts), read: (path: string) => texts[path] ?? null };
  return { with: async (work: (given: typeof files) => unknown) => work(files) } as unknown as Snapshot;
}

const targets = [{ key: KEY, edits: [edit] }];
const run = {
  rollout: "payments",
  spec: { source: { kind: "Application", controlPlanes: [] } },
  plan: { stages: [] },
  batches: [{ targets }],
} as unknown as Run;

/** What Git says of the Application before and after the change, with more files in the repo. */
async function rendered(more: Record<string, string> = {}, of: Run = run) {
  const commits = { snapshot: (commit: string) => snapshotOf({ [FILE]: manifestAt(commit), ...more }) } as unknown as Commits;
  const at = openRenderer({ planes: new Map(), repoURL: REPO }, commits)(of, "main");
  return { before: await at("v1"), after: await at("v2") };
}

/** The verdict on the Application as it lives with this tag, compared with itself at the merge commit, Synced and Healthy. */
async function verdict(tag: string, more: Record<string, string> = {}) {
  const { before, after } = await rendered(more);
  const source = sourceAt(tag);
  const given = givenTo(after, "hub", "payments-eu-1");
  const app = application({
    metadata: { name: "payments-eu-1", annotations: { "argocd.argoproj.io/manifest-generate-paths": "." } },
    spec: { source },
    status: { sync: { comparedTo: { source } }, operationState: { syncResult: { source } } },
  });
  const { change, also, intended, files } = changeFor({
    edits: [edit],
    commit: COMMIT,
    mergedAt: MERGED,
    repoURL: REPO,
    before: before?.get("hub")?.get("payments-eu-1"),
    after: after?.get("hub")?.get("payments-eu-1"),
    live: app.spec,
    madeFrom: given?.madeFrom,
  });
  const edited = { files, repoURL: REPO, given };
  return assess(input({ application: app, change, also, ...(intended && { intended }), edited, ancestry: () => "contains" }));
}

const KUSTOMIZED = { "argocd/kustomization.yaml": "resources: [payments-eu-1.yaml]\n" };

describe("an Application with its pin in its own manifest", () => {
  test("is not live by the commit alone: its parent has not applied the new spec", async () => {
    expect(await verdict("v1")).toMatchObject({
      verdict: "pending",
      clause: "spec",
      sentence: { because: { code: "SPEC_DIFFERS" } },
    });
  });

  test("is live with the new spec, though its manifest-generate-paths leave the manifest out", async () => {
    expect(await verdict("v2")).toMatchObject({ verdict: "live" });
  });

  test("that is kustomized on its way is not live by the commit alone either, and is with the new value", async () => {
    expect(await verdict("v1", KUSTOMIZED)).toMatchObject({ verdict: "pending", clause: "spec" });
    expect(await verdict("v2", KUSTOMIZED)).toMatchObject({ verdict: "live" });
  });

  test("is not taken for another of its name in another namespace", async () => {
    const other = { key: "hub/team/payments-eu-1", edits: [{ ...edit, file: "team.yaml" }] };
    const both = { ...run, batches: [{ targets: [...targets, other] }] } as unknown as Run;
    const { after } = await rendered({ "team.yaml": manifestAt("v9", "team") }, both);
    expect(after?.get("hub")?.get("payments-eu-1")).toBeUndefined();
    expect(givenTo(after, "hub", "payments-eu-1")?.madeFrom).toEqual(new Set([FILE, "team.yaml"]));
  });
});

test("of a set that cannot be rendered offline it is known what it is made from", async () => {
  const plane = { name: "hub", clusters: () => [] } as unknown as ControlPlane;
  const git = { repoURL: REPO, revision: "main", files: [{ path: "clusters/{{region}}/*.json" }] };
  const generators = [{ matrix: { generators: [{ plugin: {} }, { git }] } }];
  const object = { kind: "ApplicationSet", metadata: { name: "s" }, spec: { generators, template: {} } };
  const sets = new Map([["hub", { file: "appsets/payments.yaml", object }]]);
  const specs = await specsByPlane(REPO, snapshotOf({ "clusters/eu/a.json": "{}", "base/b.json": "{}" }), sets, [plane], "main");
  expect(givenTo(specs, "hub", "payments-eu-1")?.madeFrom).toEqual(new Set(["appsets/payments.yaml", "clusters/eu/a.json"]));
});
