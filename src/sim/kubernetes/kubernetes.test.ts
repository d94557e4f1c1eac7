import { CoreV1Api, CustomObjectsApi, KubeConfig, Watch } from "@kubernetes/client-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fastClock } from "../clock.ts";
import { type KubernetesSim, startKubernetes } from "./index.ts";
import type { KubeObject } from "./types.ts";

const ARGO = { group: "argoproj.io", version: "v1alpha1", namespace: "argocd", plural: "applications" };
const PATH = "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications";

let sim: KubernetesSim;
beforeEach(async () => {
  sim = await startKubernetes({ clock: fastClock() });
});
afterEach(() => sim.close());

function config(token?: string): KubeConfig {
  const kube = new KubeConfig();
  kube.loadFromString(sim.kubeconfig(token));
  return kube;
}

const custom = (token?: string) => config(token).makeApiClient(CustomObjectsApi);

function application(name: string, labels: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name, namespace: "argocd", labels },
    spec: { project: "default", destination: { name: "eu-1" } },
  };
}

interface Seen {
  type: string;
  name: string;
  object: KubeObject & { code?: number };
}

/** Watches with the real client; `until` resolves once an event satisfies the condition. */
async function watching(
  query: Record<string, string>,
): Promise<{ events: Seen[]; until: (done: (events: Seen[]) => boolean) => Promise<void>; ended: Promise<unknown>; stop: () => void }> {
  const events: Seen[] = [];
  const waiters = new Set<() => void>();
  let end: (reason: unknown) => void = () => undefined;
  const ended = new Promise((resolve) => {
    end = resolve;
  });
  const controller = await new Watch(config()).watch(
    PATH,
    query,
    (type: string, object: KubeObject) => {
      events.push({ type, name: object.metadata?.name ?? "", object });
      for (const waiter of waiters) waiter();
    },
    (reason: unknown) => end(reason ?? "closed"),
  );
  const until = (done: (events: Seen[]) => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!done(events)) return;
        waiters.delete(check);
        resolve();
      };
      waiters.add(check);
      check();
    });
  return { events, until, ended, stop: () => controller.abort() };
}

const names = (list: unknown) => (list as { items: KubeObject[] }).items.map((item) => item.metadata.name);
const meta = (list: unknown) =>
  (list as { metadata: { continue?: string; resourceVersion: string; remainingItemCount?: number } }).metadata;
const code = (wanted: number) => expect.objectContaining({ code: wanted });

describe("the embedded Kubernetes, asked by the real client", () => {
  it("creates, reads, updates and deletes", async () => {
    const api = custom();
    await api.createNamespacedCustomObject({ ...ARGO, body: application("a") });
    const read = (await api.getNamespacedCustomObject({ ...ARGO, name: "a" })) as KubeObject;
    expect(read.metadata).toMatchObject({ name: "a", generation: 1 });
    await api.replaceNamespacedCustomObject({
      ...ARGO,
      name: "a",
      body: { ...read, spec: { project: "p", destination: { name: "eu-1" } } },
    });
    await expect(api.replaceNamespacedCustomObject({ ...ARGO, name: "a", body: read })).rejects.toEqual(code(409));
    await expect(api.createNamespacedCustomObject({ ...ARGO, body: application("a") })).rejects.toEqual(code(409));
    await api.deleteNamespacedCustomObject({ ...ARGO, name: "a" });
    await expect(api.getNamespacedCustomObject({ ...ARGO, name: "a" })).rejects.toEqual(code(404));
  });

  it("refuses what the controllers could not read, naming the field", async () => {
    const created = custom().createNamespacedCustomObject({ ...ARGO, body: { ...application("a"), spec: {} } });
    await expect(created).rejects.toThrow(/spec.destination: Required value/);
  });

  it("lists by selector, and pages of one list are of one moment", async () => {
    for (const name of ["a", "b", "c", "d", "e"]) sim.store.create(application(name, { area: name < "d" ? "emea" : "amer" }));
    const api = custom();
    expect(names(await api.listNamespacedCustomObject({ ...ARGO, labelSelector: "area in (amer)" }))).toEqual(["d", "e"]);
    expect(names(await api.listNamespacedCustomObject({ ...ARGO, fieldSelector: "metadata.name=c" }))).toEqual(["c"]);
    const first = await api.listNamespacedCustomObject({ ...ARGO, limit: 2 });
    sim.store.delete("applications", "argocd", "c");
    sim.store.create(application("bb"));
    const { continue: token = "", remainingItemCount, resourceVersion } = meta(first);
    expect(remainingItemCount).toBe(3);
    const second = await api.listNamespacedCustomObject({ ...ARGO, limit: 9, _continue: token });
    expect([...names(first), ...names(second)]).toEqual(["a", "b", "c", "d", "e"]);
    expect(meta(second).resourceVersion).toBe(resourceVersion);
  });

  it("answers 410 to a page that has expired", async () => {
    for (const name of ["a", "b", "c"]) sim.store.create(application(name));
    const { continue: token = "" } = meta(await custom().listNamespacedCustomObject({ ...ARGO, limit: 1 }));
    sim.faults.expire();
    await expect(custom().listNamespacedCustomObject({ ...ARGO, limit: 1, _continue: token })).rejects.toEqual(code(410));
  });

  it("patches by JSON patch, which is what the client sends by default", async () => {
    sim.store.create(application("a"));
    const body = [{ op: "add", path: "/metadata/annotations", value: { "argocd.argoproj.io/refresh": "normal" } }];
    const result = (await custom().patchNamespacedCustomObject({ ...ARGO, name: "a", body })) as KubeObject;
    expect(result.metadata.annotations).toEqual({ "argocd.argoproj.io/refresh": "normal" });
  });

  it("patches by merge patch", async () => {
    sim.store.create(application("a", { keep: "1", drop: "1" }));
    const response = await fetch(`${sim.url}${PATH}/a`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${sim.token}`, "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ metadata: { labels: { drop: null } } }),
    });
    expect(((await response.json()) as KubeObject).metadata.labels).toEqual({ keep: "1" });
  });

  it("serves Secrets and Namespaces to the typed client", async () => {
    const core = config().makeApiClient(CoreV1Api);
    await core.createNamespacedSecret({
      namespace: "argocd",
      body: { metadata: { name: "s" }, data: { name: Buffer.from("eu-1").toString("base64") } },
    });
    expect((await core.listSecretForAllNamespaces()).items.map((secret) => secret.data?.["name"])).toEqual(["ZXUtMQ=="]);
    expect((await core.listNamespace()).items.map((namespace) => namespace.metadata?.name)).toContain("default");
  });

  it("lets in only who has a token, and lets do only what a rule allows", async () => {
    const reader = sim.addAccount("reader", [{ resources: ["applications"], verbs: ["get", "list", "watch"] }]);
    await expect(custom(reader).listNamespacedCustomObject(ARGO)).resolves.toBeDefined();
    await expect(custom(reader).createNamespacedCustomObject({ ...ARGO, body: application("a") })).rejects.toEqual(code(403));
    const refused = config(reader).makeApiClient(CoreV1Api).listNamespacedSecret({ namespace: "argocd" });
    await expect(refused).rejects.toThrow(/secrets is forbidden: User .+ cannot list resource/);
    await expect(custom("wrong").listNamespacedCustomObject(ARGO)).rejects.toEqual(code(401));
  });
});

describe("a watch of the embedded Kubernetes", () => {
  it("goes on from a resourceVersion and shows what enters and leaves its selector", async () => {
    sim.store.create(application("old", { area: "emea" }));
    const watch = await watching({ resourceVersion: String(sim.store.revision()), labelSelector: "area=emea" });
    sim.store.create(application("a", { area: "emea" }));
    sim.store.create(application("b", { area: "amer" }));
    sim.store.change("applications", "argocd", "b", (o) => ({ ...o, metadata: { ...o.metadata, labels: { area: "emea" } } }));
    sim.store.change("applications", "argocd", "a", (o) => ({ ...o, metadata: { ...o.metadata, labels: {} } }));
    await watch.until((events) => events.length === 3);
    watch.stop();
    expect(watch.events.map(({ type, name }) => `${type} ${name}`)).toEqual(["ADDED a", "ADDED b", "DELETED a"]);
    expect(watch.events[2]?.object.metadata).toMatchObject({ labels: { area: "emea" }, resourceVersion: String(sim.store.revision()) });
  });

  it("begins with everything there is, and says when that was all", async () => {
    sim.store.create(application("a"));
    const watch = await watching({ sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" });
    await watch.until((events) => events.length === 2);
    watch.stop();
    expect(watch.events.map(({ type }) => type)).toEqual(["ADDED", "BOOKMARK"]);
    expect(watch.events[1]?.object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
  });

  it("answers a resourceVersion it no longer knows with an ERROR event of code 410", async () => {
    sim.store.create(application("a"));
    sim.faults.expire();
    const watch = await watching({ resourceVersion: "2" });
    await watch.ended;
    expect(watch.events.map(({ type, object }) => [type, object.code])).toEqual([["ERROR", 410]]);
  });

  it("ends after timeoutSeconds, with bookmarks on the way", async () => {
    await sim.close();
    sim = await startKubernetes({ clock: fastClock(1000) });
    const watch = await watching({ timeoutSeconds: "100", allowWatchBookmarks: "true", resourceVersion: String(sim.store.revision()) });
    await watch.ended;
    expect(watch.events.map(({ type }) => type)).toEqual(["BOOKMARK"]);
    expect(sim.openWatches()).toBe(0);
  });

  it("can be cut, and can fall silent", async () => {
    const silent = await watching({ resourceVersion: String(sim.store.revision()) });
    sim.faults.silenceWatches(true);
    sim.store.create(application("a"));
    sim.faults.silenceWatches(false);
    sim.store.create(application("b"));
    await silent.until((events) => events.length === 1);
    expect(silent.events.map(({ name }) => name)).toEqual(["b"]);
    sim.faults.dropWatches();
    await silent.ended;
  });
});
