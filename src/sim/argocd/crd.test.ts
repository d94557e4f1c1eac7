import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../kubernetes/types.ts";
import { CRD_SLICES } from "./testing/crd-slices.ts";
import { crdSchema, crdsPresent, crdValidator, disagreements, sliceValidator } from "./testing/crds.ts";
import { type TestWorld, testWorld } from "./testing/world.ts";

if (!crdsPresent) console.error("skipped: objects against the whole CRDs, which are not beside this checkout (../shared/data)");

const SET = (url: string) => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: { name: my-set }
spec:
  generators: [{ clusters: {} }]
  ignoreApplicationDifferences: [{ jsonPointers: [/spec/syncPolicy] }]
  template:
    metadata: { name: 'app-{{name}}' }
    spec:
      project: default
      sources: [{ repoURL: '${url}', targetRevision: main, path: app }, { repoURL: 'https://charts.example.com', chart: c, targetRevision: 1.0.0 }]
      destination: { name: '{{name}}', namespace: app }
      syncPolicy: { automated: { selfHeal: true } }
`;

const ROLLOUT = (image: string) => `apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: { name: web }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template: { metadata: { labels: { app: web } }, spec: { containers: [{ name: web, image: '${image}' }] } }
  strategy: { canary: { steps: [{ setWeight: 20 }, { pause: {} }, { setWeight: 50 }, { pause: { duration: 10s } }] } }
`;

const LOCAL = "https://kubernetes.default.svc";
let world: TestWorld;
const seen = new Map<string, KubeObject[]>();

/** One world in which everything happens that the embedded Argo CD can write about. */
beforeAll(async () => {
  const clusters = ["ok", "degraded", "failing", "away", "late"].map((name) => ({ name }));
  const files = {
    "app/deployment.yaml": "image: app:v1\n",
    "dry/deployment.yaml": "image: app:v1\n",
    "rollout/web.yaml": ROLLOUT("web:v1"),
  };
  world = await testWorld(files, { clusters });
  const { repo, argo } = world;
  await repo.commit({ "sets/my-set.yaml": SET(repo.url) });
  argo.setFault("degraded", { kind: "degraded" });
  argo.setFault("failing", { kind: "sync-failed" });
  argo.setFault("late", { kind: "late", by: 30_000 });
  const local = { server: LOCAL, namespace: "app" };
  world.create("config", {
    source: { repoURL: repo.url, targetRevision: "main", path: "sets" },
    destination: { server: LOCAL, namespace: "argocd" },
    syncPolicy: { automated: { prune: true } },
  });
  world.create("single", { destination: { name: "ok", namespace: "app" } });
  world.create("canary", { source: { repoURL: repo.url, targetRevision: "main", path: "rollout" }, destination: local });
  world.create("far-canary", {
    source: { repoURL: repo.url, targetRevision: "main", path: "rollout" },
    destination: { name: "ok", namespace: "app" },
  });
  const drySource = { repoURL: repo.url, targetRevision: "main", path: "dry" };
  world.create("hydrated", { source: undefined, sourceHydrator: { drySource, syncSource: { targetBranch: "env", path: "out" } } });
  world.create("broken", { source: undefined, sourceHydrator: { drySource, syncSource: { targetBranch: "env2", path: "out" } } });
  world.edit("hydrated", (app) => ({ ...app, spec: { ...app.spec, destination: { name: "ok", namespace: "app" } } }));
  world.edit("broken", (app) => ({ ...app, spec: { ...app.spec, destination: { name: "failing", namespace: "app" } } }));
  await world.pass(30_000);
  argo.setFault("away", { kind: "unreachable", noticed: true });
  argo.setFault("failing", [{ kind: "hydrate-failed" }, { kind: "sync-failed" }]);
  argo.drift("app-ok");
  await repo.commit({ "rollout/web.yaml": ROLLOUT("web:v2"), "dry/deployment.yaml": "image: app:v2\n" });
  await world.pass(20_000);
  argo.setSyncWindows("default", [
    { kind: "deny", schedule: "* * * * *", duration: "1h", applications: ["app-ok"], andOperator: true, manualSync: true },
    { kind: "allow", schedule: "0 3 * * *", duration: "1h", clusters: ["late"], timeZone: "Europe/Rome", syncOverrun: true },
  ]);
  await world.pass(300_000);
  argo.resume("ok");
  argo.setControllersDown(true);
  await world.pass(30_000);
  argo.setControllersDown(false);
  await world.pass(300_000);
  world.kubernetes.store.change("applicationsets", "argocd", "my-set", (set) => ({
    ...set,
    spec: {
      ...(set["spec"] as object),
      generators: [{ git: { repoURL: "https://example.com/none", revision: "main", files: [{ path: "*.yaml" }] } }],
    },
  }));
  await world.pass(10_000);
  for (const plural of ["applications", "applicationsets", "appprojects", "rollouts"]) {
    seen.set(
      plural,
      world.kubernetes.store.since(plural, 0).map(({ object }) => object),
    );
  }
  seen.get("rollouts")?.push(...argo.rolloutsOf("far-canary"));
});
afterAll(() => world.close());

const KINDS = [
  { plural: "applications", kind: "Application", least: 100 },
  { plural: "applicationsets", kind: "ApplicationSet", least: 2 },
  { plural: "appprojects", kind: "AppProject", least: 2 },
  { plural: "rollouts", kind: "Rollout", least: 8 },
];

describe("objects that the embedded world writes", () => {
  it.each(KINDS)("every state of $plural is valid by the facts that are written down here", ({ plural, kind, least }) => {
    const validate = sliceValidator(kind);
    const objects = seen.get(plural) ?? [];
    expect(objects.length).toBeGreaterThanOrEqual(least);
    for (const object of objects) expect(validate(object), `${JSON.stringify(validate.errors)} in ${JSON.stringify(object)}`).toBe(true);
  });

  it.skipIf(!crdsPresent).each(KINDS)("every state of $plural is valid by its whole CRD", ({ plural, kind }) => {
    const validate = crdValidator(kind);
    for (const object of seen.get(plural) ?? []) {
      expect(validate(object), `${JSON.stringify(validate.errors)} in ${JSON.stringify(object)}`).toBe(true);
    }
  });

  it("show everything that there is to be seen", () => {
    const all = JSON.stringify([...seen.values()]);
    for (const word of [
      "Hydrating",
      "Hydrated",
      "CanaryPauseStep",
      "SyncError",
      "ComparisonError",
      "autoHealAttemptsCount",
      "retryCount",
    ]) {
      expect(all, word).toContain(word);
    }
    expect(all).toContain('"phase":"Failed","message":"Failed to hydrate');
    expect(all).toContain("Suspended");
  });
});

describe.skipIf(!crdsPresent)("the facts that are written down here", () => {
  it.each(Object.keys(CRD_SLICES))("agree with the CRD of %s", (kind) => {
    expect(disagreements(CRD_SLICES[kind] ?? {}, crdSchema(kind), kind)).toEqual([]);
  });
});
