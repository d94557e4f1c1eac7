import { afterEach, describe, expect, it } from "vitest";
import { clusterSecret, secretNameOf } from "./clusters.ts";
import { type TestWorld, testWorld } from "./testing/world.ts";
import type { Application } from "./types.ts";

let world: TestWorld;
afterEach(() => world.close());

const CLUSTERS = ["eu-1", "eu-2", "us-1"].map((name) => ({ name, labels: { area: name.slice(0, 2) } }));

/** A set over clusters by selector, as it stands in Git; `__URL__` is where the repository is. */
function setFile(generator: string): string {
  return `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata:
  name: my-set
spec:
  generators:
${generator}
  template:
    metadata:
      name: 'app-{{name}}'
    spec:
      project: default
      source:
        repoURL: __URL__
        targetRevision: main
        path: app
      destination:
        name: '{{name}}'
        namespace: app
      syncPolicy:
        automated: {}
`;
}

const BY_AREA = "    - clusters:\n        selector:\n          matchLabels:\n            area: eu";

async function fleet(set: string, extra: Record<string, string> = {}): Promise<void> {
  world = await testWorld({ "app/deployment.yaml": "image: app:v1\n", ...extra }, { clusters: CLUSTERS });
  await world.repo.commit({ "sets/my-set.yaml": set.replaceAll("__URL__", world.repo.url) });
  const { repo } = world;
  world.kubernetes.store.create({
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name: "config", namespace: "argocd" },
    spec: {
      project: "default",
      source: { repoURL: repo.url, targetRevision: "main", path: "sets", directory: { recurse: true } },
      destination: { server: "https://kubernetes.default.svc", namespace: "argocd" },
      syncPolicy: { automated: { prune: true, selfHeal: true } },
    },
  });
}

const apps = () =>
  world.kubernetes.store
    .list("applications")
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== "config")
    .sort();
const set = () => world.kubernetes.store.get("applicationsets", "argocd", "my-set");
const condition = (type: string) =>
  (set()?.["status"] as { conditions?: { type: string; status: string; message: string }[] } | undefined)?.conditions?.find(
    (c) => c.type === type,
  );
const isLive = (app: Application) =>
  app.status?.sync?.status === "Synced" && app.status.health?.status === "Healthy" && app.operation === undefined;
const push = () => world.argo.notifyPush({ repoURLs: [world.repo.url], ref: "refs/heads/main" });

describe("ApplicationSets of the embedded Argo CD", () => {
  it("come from Git by a parent, generate Applications that belong to them, and these go live", async () => {
    await fleet(setFile(BY_AREA));
    await world.until("all live", () => apps().length === 2 && ["config", ...apps()].every((name) => isLive(world.app(name))));
    expect(apps()).toEqual(["app-eu-1", "app-eu-2"]);
    const { metadata } = world.app("app-eu-1");
    expect(metadata.ownerReferences).toEqual([
      {
        apiVersion: "argoproj.io/v1alpha1",
        kind: "ApplicationSet",
        name: "my-set",
        uid: set()?.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    expect(metadata.finalizers).toEqual(["resources-finalizer.argocd.argoproj.io"]);
    expect(condition("ErrorOccurred")?.status).toBe("False");
  });

  it("drops empty blocks of a source and fills in the project, as the real one does (recorded of 3.5.1)", async () => {
    const empty = "        path: app\n        directory: { recurse: false }\n        kustomize: { images: [] }\n        helm: {}\n";
    await fleet(setFile(BY_AREA).replace("        path: app\n", empty).replace("      project: default\n", "      project: ''\n"));
    await world.until("two", () => apps().length === 2);
    const { project, source } = world.app("app-eu-1").spec;
    expect([project, Object.keys(source ?? {}).sort()]).toEqual(["default", ["path", "repoURL", "targetRevision"]]);
    await world.until("all live", () => apps().every((name) => isLive(world.app(name))));
  });

  it("(15) a cluster's label adds and removes Applications at once", async () => {
    await fleet(setFile(BY_AREA));
    await world.until("two", () => apps().length === 2);
    world.argo.relabel("us-1", { area: "eu" });
    world.argo.relabel("eu-2", { area: null });
    await world.until("the swap", () => apps().join() === "app-eu-1,app-us-1");
    world.argo.addCluster({ name: "eu-3", labels: { area: "eu" } });
    await world.until("one more", () => apps().includes("app-eu-3"));
    world.argo.removeCluster("eu-1");
    await world.until("one less", () => !apps().includes("app-eu-1"));
  });

  it("(14) changes nothing while a generator fails", async () => {
    const generator = '    - git:\n        repoURL: __URL__\n        revision: main\n        files:\n          - path: "clusters/*.yaml"';
    await fleet(setFile(generator), { "clusters/a.yaml": "name: eu-1\n", "clusters/b.yaml": "name: eu-2\n" });
    await world.until("two", () => apps().length === 2);
    await world.repo.commit({ "clusters/a.yaml": null, "clusters/b.yaml": "name: [broken\n" });
    push();
    await world.until("the error", () => condition("ErrorOccurred")?.status === "True");
    await world.pass(600_000);
    expect(apps()).toEqual(["app-eu-1", "app-eu-2"]);
    await world.repo.commit({ "clusters/b.yaml": "name: eu-2\n" });
    push();
    await world.until("it goes on", () => apps().join() === "app-eu-2");
    expect(condition("ErrorOccurred")?.status).toBe("False");
  });

  it("(16) git generators notice a commit by polling, or at once by the set's refresh annotation", async () => {
    const generator = '    - git:\n        repoURL: __URL__\n        revision: main\n        files:\n          - path: "clusters/*.yaml"';
    await fleet(setFile(generator), { "clusters/a.yaml": "name: eu-1\n" });
    await world.until("one", () => apps().length === 1);
    await world.repo.commit({ "clusters/b.yaml": "name: eu-2\n" });
    const from = world.clock.now();
    await world.until("polling", () => apps().length === 2);
    expect(world.clock.now() - from).toBeGreaterThan(5000);
    await world.repo.commit({ "clusters/c.yaml": "name: us-1\n" });
    world.kubernetes.store.change("applicationsets", "argocd", "my-set", (object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        annotations: { ...object.metadata.annotations, "argocd.argoproj.io/application-set-refresh": "true" },
      },
    }));
    await world.pass(2000);
    expect(apps()).toHaveLength(3);
    expect(set()?.metadata.annotations?.["argocd.argoproj.io/application-set-refresh"]).toBeUndefined();
  });

  it("(17) puts back what somebody edits or deletes, but not what is others' to set", async () => {
    await fleet(setFile(BY_AREA));
    await world.until("two live", () => apps().length === 2 && apps().every((name) => isLive(world.app(name))));
    world.edit("app-eu-1", (app) => ({
      ...app,
      metadata: { ...app.metadata, labels: { mine: "1" }, annotations: { mine: "1", "notified.notifications.argoproj.io": "{}" } },
      spec: { ...app.spec, source: { repoURL: world.repo.url, path: "app", targetRevision: "other" } },
    }));
    world.edit("app-eu-2", (app) => ({ ...app, metadata: { ...app.metadata, finalizers: [] } }));
    world.kubernetes.store.delete("applications", "argocd", "app-eu-2");
    await world.until("put back", () => apps().length === 2 && world.app("app-eu-1").spec.source?.targetRevision === "main");
    expect(world.app("app-eu-1").metadata.labels).toBeUndefined();
    expect(world.app("app-eu-1").metadata.annotations).toEqual({ "notified.notifications.argoproj.io": "{}" });
  });

  it("an ApplicationSet that is edited by hand makes its parent OutOfSync, which heals it", async () => {
    await fleet(setFile(BY_AREA));
    await world.until("two", () => apps().length === 2 && isLive(world.app("config")));
    world.kubernetes.store.change("applicationsets", "argocd", "my-set", (object) => {
      const spec = object["spec"] as Record<string, unknown>;
      return { ...object, spec: { ...spec, generators: [{ list: { elements: [{ name: "us-1" }] } }] } };
    });
    await world.until("OutOfSync", () => world.app("config").status?.sync?.status === "OutOfSync");
    await world.until("healed", () => isLive(world.app("config")) && apps().join() === "app-eu-1,app-eu-2");
  });

  it("a set that cannot be applied fails its parent's sync, and stays as it was", async () => {
    await fleet(setFile(BY_AREA));
    await world.until("two", () => apps().length === 2 && isLive(world.app("config")));
    await world.repo.commit({
      "sets/my-set.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: my-set}\nspec: {template: {}}\n",
    });
    push();
    await world.until("failure", () => world.app("config").status?.operationState?.phase === "Failed");
    expect(world.app("config").status?.operationState?.message).toContain("spec.generators: Required value");
    expect(apps()).toHaveLength(2);
  });

  it("prunes a set that is gone from Git, and its Applications with it", async () => {
    await fleet(setFile(BY_AREA), { "sets/keep.yaml": "# nothing\n" });
    await world.until("two live", () => apps().length === 2 && apps().every((name) => isLive(world.app(name))));
    await world.repo.commit({ "sets/my-set.yaml": null });
    push();
    await world.until("all gone", () => set() === undefined && apps().length === 0);
  });

  it("leaves what ignoreApplicationDifferences names as people set it, and puts the rest back", async () => {
    const ignoring = (path: string) => setFile(BY_AREA).replace("spec:\n", `spec:\n  ignoreApplicationDifferences:\n    - ${path}\n`);
    await fleet(ignoring("jsonPointers: [/spec/syncPolicy/automated]"));
    await world.until("two live", () => apps().length === 2 && apps().every((name) => isLive(world.app(name))));
    const off = { automated: { enabled: false } };
    for (const project of ["other", "default"])
      world.edit("app-eu-1", (app) => ({ ...app, spec: { ...app.spec, project, syncPolicy: off } }));
    world.edit("app-eu-1", (app) => ({ ...app, spec: { ...app.spec, project: "other" } }));
    await world.pass(5000);
    expect(world.app("app-eu-1").spec).toMatchObject({ project: "default", syncPolicy: off });
    await world.repo.commit({
      "sets/my-set.yaml": ignoring("name: app-eu-2\n      jqPathExpressions: [.spec.syncPolicy]").replaceAll("__URL__", world.repo.url),
    });
    world.argo.notifyPush({ repoURLs: [world.repo.url], ref: "refs/heads/main" });
    await world.until("it is put back", () => world.app("app-eu-1").spec.syncPolicy?.automated?.enabled === undefined);
  });

  it("(14) a generator that is made to fail changes nothing, says why, and goes on once it may", async () => {
    await fleet(setFile(BY_AREA));
    await world.until("two live", () => apps().length === 2 && apps().every((name) => isLive(world.app(name))));
    world.argo.failGenerator("my-set", "plugin: 503");
    world.argo.relabel("us-1", { area: "eu" });
    await world.pass(10_000);
    const status = world.kubernetes.store.get("applicationsets", "argocd", "my-set")?.["status"];
    expect([apps(), JSON.stringify(status)]).toEqual([["app-eu-1", "app-eu-2"], expect.stringContaining("plugin: 503")]);
    world.argo.failGenerator("my-set", null);
    await world.until("three", () => apps().length === 3);
  });

  it("a webhook of GitHub's form is a push", async () => {
    await fleet(setFile(BY_AREA));
    await world.until("two live", () => apps().length === 2 && apps().every((name) => isLive(world.app(name))));
    const head = await world.repo.commit({ "app/deployment.yaml": "image: app:v2\n" });
    const body = {
      ref: "refs/heads/main",
      repository: { clone_url: world.repo.url, default_branch: "main" },
      commits: [{ modified: ["app/deployment.yaml"] }],
    };
    const send = (event: string) =>
      fetch(`${world.argo.url}/api/webhook`, { method: "POST", headers: { "x-github-event": event }, body: JSON.stringify(body) });
    expect((await send("ping")).status).toBe(200);
    expect((await send("push")).status).toBe(200);
    await world.pass(5000);
    expect(apps().map((name) => world.app(name).status?.sync?.revision)).toEqual([head, head]);
  });

  it("names cluster Secrets as `argocd cluster add` does, and shows no credential", async () => {
    await fleet(setFile(BY_AREA));
    expect(secretNameOf("https://k8s.example.com:6443")).toMatch(/^cluster-k8s\.example\.com-\d+$/);
    // Known from Argo CD's own tests.
    expect(secretNameOf("http://foo")).toBe("cluster-foo-752281925");
    expect(secretNameOf("http://[fe80::1ff:fe23:4567:890a]:8000")).toBe("cluster-fe80--1ff-fe23-4567-890a-664858999");
    expect(clusterSecret({ name: "eu-1" }, "argocd").metadata.name).not.toContain("eu-1");
    const response = await fetch(`${world.argo.url}/api/v1/clusters`, {
      headers: { authorization: `Bearer ${world.argo.api.token}` },
    });
    const text = await response.text();
    expect(text).toContain('"eu-1"');
    expect(text).not.toMatch(/credential|secret-type/);
  });
});
