import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sentenceOf } from "../../../core/report/reasons/say.ts";
import { fastClock } from "../../../sim/clock.ts";
import { type KubernetesSim, startKubernetes } from "../../../sim/kubernetes/index.ts";
import type { ControlPlane } from "../port.ts";
import { rawApplication } from "../testing/application.ts";
import { until } from "../testing/contract.ts";
import { clusterSecret, putIn } from "../testing/harness.ts";
import { ROLLOUT_VIEW, rawProject, rawReplicaSet, rawRollout } from "../testing/rollout.ts";
import type { WireReader } from "../wire/http.ts";
import { type KubernetesOptions, openKubernetes } from "./index.ts";
import { kubeSource } from "./source.ts";

const log = { info: () => undefined, warn: () => undefined };
function openOn(sim: KubernetesSim, over: Partial<KubernetesOptions> = {}): ControlPlane {
  return openKubernetes({
    name: "hub",
    kubeConfig: { kubeconfig: sim.kubeconfig() },
    clusterSecrets: true,
    annotationRefresh: false,
    clock: fastClock(),
    log,
    ...over,
  });
}

const secret = clusterSecret;

const READ = ["get", "list", "watch"] as const;

/** Answers every request with this text. */
const serves = (text: string) => async (_path: string, _query: object, reader: WireReader) => {
  reader.chunk(Buffer.from(text));
  return { done: Promise.resolve(), stop: () => undefined };
};
const TUNING = {
  pageSize: 1,
  silentMs: 1000,
  watchMs: 1000,
  relistMs: 1000,
  staleMs: 0,
  maxBackoffMs: 10,
  readyMs: 1000,
  random: () => 0,
};

describe("the Kubernetes adapter", () => {
  let sim: KubernetesSim;
  let plane: ControlPlane | undefined;
  afterEach(async () => {
    await plane?.close();
    await sim.close();
  });

  test("reads page by page", async () => {
    sim = await startKubernetes({ clock: fastClock() });
    for (let i = 0; i < 7; i++) putIn(sim, rawApplication({ metadata: { name: `app-${i}` } }));
    plane = openOn(sim, { tuning: { pageSize: 3 } });
    await plane.ready();
    expect(plane.applications()).toHaveLength(7);
    expect(sim.requests().get("list applications")).toBe(3);
  });

  test("a lost connection is not fresh after its bound, and says why", async () => {
    sim = await startKubernetes({ clock: fastClock() });
    const warned: string[] = [];
    let heard: () => void = () => undefined;
    const twice = new Promise<void>((resolve) => {
      heard = resolve;
    });
    plane = openOn(sim, {
      clusterSecrets: false,
      tuning: { staleMs: 0, maxBackoffMs: 20 },
      log: { info: () => undefined, warn: (fields) => warned.push(JSON.stringify(fields)) > 3 && heard() },
    });
    await plane.ready();
    await sim.close();
    await twice;
    expect(plane.state()).toMatchObject({ fresh: false, why: expect.toHaveCode("COLLECTION_LOST") });
    expect(warned.join()).not.toContain(sim.token);
  });

  test("namespaces limit what it asks for, as a Role needs", async () => {
    sim = await startKubernetes({ clock: fastClock() });
    putIn(sim, rawApplication({ metadata: { name: "here", namespace: "team-a" } }));
    putIn(sim, rawApplication({ metadata: { name: "there", namespace: "team-b" } }));
    const token = sim.addAccount("a", [{ verbs: [...READ], apiGroups: ["argoproj.io"], resources: ["*"], namespaces: ["team-a"] }]);
    plane = openOn(sim, { kubeConfig: { kubeconfig: sim.kubeconfig(token) }, namespaces: ["team-a"], clusterSecrets: false });
    await plane.ready();
    expect(plane.applications().map((view) => view.name)).toEqual(["here"]);
  });

  test("without Secrets the clusters are what Applications agree on", async () => {
    sim = await startKubernetes({ clock: fastClock() });
    const on = (name: string, destination: Record<string, string>, labels: Record<string, string>) =>
      putIn(sim, rawApplication({ metadata: { name, labels }, spec: { destination: { server: undefined, ...destination } } }));
    on("a-1", { name: "eu-1" }, { area: "emea", app: "a" });
    on("b-1", { name: "eu-1" }, { area: "emea", app: "b" });
    on("a-2", { server: "https://us-1.example.com/" }, { area: "amer" });
    on("a-3", { server: "https://kubernetes.default.svc" }, {});
    plane = openOn(sim, { clusterSecrets: false });
    await plane.ready();
    expect(plane.clusters()).toEqual([
      { name: "eu-1", server: "", labels: { area: "emea" }, registered: true, derived: "name" },
      { name: "in-cluster", server: "https://kubernetes.default.svc", labels: {}, registered: false, derived: "name" },
      { name: "us-1.example.com", server: "https://us-1.example.com", labels: { area: "amer" }, registered: true, derived: "server" },
    ]);
    expect(sim.requests().get("list secrets")).toBeUndefined();
  });

  test("in-cluster without a Secret has no labels and is not registered", async () => {
    sim = await startKubernetes({ clock: fastClock() });
    putIn(sim, rawApplication({ metadata: { name: "a" }, spec: { destination: { server: "https://kubernetes.default.svc" } } }));
    putIn(sim, secret("cluster-x-1", { name: "eu-1", server: "https://eu-1.example.com" }));
    putIn(sim, secret("cluster-y-2", { server: "https://nameless.example.com" }));
    putIn(sim, secret("cluster-z-3", { config: "{}" }));
    plane = openOn(sim);
    await plane.ready();
    expect(plane.clusters().map(({ name, registered }) => [name, registered])).toEqual([
      ["eu-1", true],
      ["https://nameless.example.com", true],
      ["in-cluster", false],
    ]);
  });

  test("never writes unless it may, and then the annotation alone", async () => {
    sim = await startKubernetes({ clock: fastClock() });
    putIn(sim, rawApplication({ metadata: { name: "a" } }));
    plane = openOn(sim);
    await plane.ready();
    expect([plane.refresh, plane.refreshSet]).toEqual([undefined, undefined]);
    expect([...sim.requests().keys()].filter((request) => !/^(list|watch) /.test(request))).toEqual([]);
  });

  test("who may ask for a refresh and is not granted to patch is told the right that is missing", async () => {
    sim = await startKubernetes({ clock: fastClock() });
    putIn(sim, rawApplication({ metadata: { name: "a" } }));
    const token = sim.addAccount("bot", [{ verbs: [...READ], apiGroups: ["argoproj.io"], resources: ["*"] }]);
    plane = openOn(sim, { annotationRefresh: true, clusterSecrets: false, kubeConfig: { kubeconfig: sim.kubeconfig(token) } });
    await plane.ready();
    expect(await plane.refresh?.("argocd", "a")).toEqual({
      failed: expect.toHaveCode("PATCH_WANTED"),
    });
  });

  describe("Rollouts and sync windows", () => {
    const resources = [
      { group: "argoproj.io", version: "v1alpha1", kind: "Rollout", namespace: "payments", name: "api", status: "Synced" },
    ];
    const here = { destination: { server: "https://kubernetes.default.svc", namespace: "payments" } };
    const clock = fastClock(1, Date.parse("2026-11-21T12:00:00Z"));
    beforeEach(async () => {
      sim = await startKubernetes({ clock });
      putIn(sim, rawReplicaSet());
      putIn(sim, rawRollout("a"));
      putIn(sim, rawProject([{ kind: "allow", schedule: "0 22 * * *", duration: "1h", applications: ["a"] }]));
      putIn(sim, rawApplication({ metadata: { name: "a" }, spec: here, status: { resources } }));
      putIn(sim, rawApplication({ metadata: { name: "elsewhere" }, status: { resources } }));
    });

    test("of its own cluster are shown as kubectl's plugin shows them; those of others cannot be seen", async () => {
      plane = openOn(sim, { clock });
      await plane.ready();
      expect(await plane.rollouts?.("argocd", "a")).toEqual([ROLLOUT_VIEW]);
      expect(await plane.rollouts?.("argocd", "elsewhere")).toBe("unavailable");
      expect(plane.runAction).toBeUndefined();
      expect(await plane.syncWindows?.("argocd", "a")).toMatchObject({ open: false, opensAt: "2026-11-21T22:00:00.000Z" });
      expect(await plane.syncWindows?.("argocd", "elsewhere")).toEqual({ open: true, windows: [] });
    });

    test("are all shown or none: of too many it is said how many there are", async () => {
      plane = openOn(sim, { clock });
      await plane.ready();
      for (const count of [60, 101]) {
        const many = Array.from({ length: count }, (_, i) => ({ ...resources[0], name: `api-${i}` }));
        for (const { name = "" } of many) putIn(sim, rawRollout("a", "payments", name));
        putIn(sim, rawApplication({ metadata: { name: "a" }, spec: here, status: { resources: many } }));
        const seen = await plane.rollouts?.("argocd", "a");
        if (count === 60) expect(seen).toHaveLength(60);
        else expect(seen).toEqual({ tooMany: 101 });
      }
    });

    test("are unavailable to whom RBAC does not grant them, and nothing else is", async () => {
      const sees = ["applications", "applicationsets"];
      const token = sim.addAccount("bot", [{ verbs: [...READ], apiGroups: ["argoproj.io"], resources: sees }]);
      plane = openOn(sim, { clock, clusterSecrets: false, kubeConfig: { kubeconfig: sim.kubeconfig(token) } });
      await plane.ready();
      expect(await plane.rollouts?.("argocd", "a")).toBe("unavailable");
      expect(await plane.syncWindows?.("argocd", "a")).toBeUndefined();
      expect(plane.state().fresh).toBe(true);
    });
  });

  test("who may not list is told the verb, the resource and where", async () => {
    sim = await startKubernetes({ clock: fastClock() });
    const token = sim.addAccount("bot", [{ verbs: [...READ], apiGroups: ["argoproj.io"], resources: ["*"], namespaces: ["argocd"] }]);
    const kubeConfig = { kubeconfig: sim.kubeconfig(token) };
    plane = openOn(sim, { kubeConfig, namespaces: ["argocd"] });
    await expect(plane.ready()).rejects.toThrow(
      /cluster secrets: .*cannot list resource "secrets".*get, list and watch on secrets .*argocd/,
    );
    await plane.close();
    plane = openOn(sim, { kubeConfig, clusterSecrets: false });
    await expect(plane.ready()).rejects.toThrow(
      /on applications\.argoproj\.io in a ClusterRole|on applicationsets\.argoproj\.io in a ClusterRole/,
    );
  });

  test("who may list but not watch is told so, and stays told", async () => {
    sim = await startKubernetes({ clock: fastClock() });
    const token = sim.addAccount("bot", [{ verbs: ["get", "list"], apiGroups: ["argoproj.io"], resources: ["*"] }]);
    let lists = 0;
    plane = openOn(sim, {
      clusterSecrets: false,
      kubeConfig: { kubeconfig: sim.kubeconfig(token) },
      tuning: { maxBackoffMs: 10 },
    });
    const known = plane;
    const seen: boolean[] = [];
    await until(known, () => /cannot watch resource "application.*grant/.test(sentenceOf(known.state().why)));
    await until(known, () => {
      seen.push(known.state().fresh);
      return ++lists > 3;
    });
    expect(seen).not.toContain(true);
  });

  test("a list without end is not read without end", async () => {
    sim = await startKubernetes({ clock: fastClock() });
    const page = JSON.stringify({ metadata: { continue: "on" }, items: [] });
    const client = { get: async () => ({}), mergePatch: async () => undefined, read: serves(page) };
    const source = kubeSource({
      client,
      clock: fastClock(),
      tuning: TUNING,
      what: "applications",
      resource: "applications.argoproj.io",
      path: "/x",
      namespace: undefined,
      shape: {},
      lesser: [],
      log,
      project: () => undefined,
    });
    await expect(source.list(() => false)).rejects.toThrow(/pages .*500000/);
  });
});
