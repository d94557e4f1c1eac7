import { afterEach, describe, expect, test } from "vitest";
import { fastClock } from "../../sim/clock.ts";
import { type KubernetesSim, startKubernetes } from "../../sim/kubernetes/index.ts";
import type { ControlPlane } from "../port.ts";
import { rawApplication } from "../testing/application.ts";
import { clusterSecret, putIn } from "../testing/harness.ts";
import { type KubernetesOptions, openKubernetes } from "./index.ts";

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
    expect(plane.state()).toMatchObject({ fresh: false, why: expect.stringMatching(/application/) });
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
      { name: "eu-1", server: "", labels: { area: "emea" }, registered: true },
      { name: "in-cluster", server: "https://kubernetes.default.svc", labels: {}, registered: false },
      { name: "us-1.example.com", server: "https://us-1.example.com", labels: { area: "amer" }, registered: true },
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
    expect(await plane.refresh("argocd", "a")).toBe("unavailable");
    expect([...sim.requests().keys()].filter((request) => !/^(list|watch) /.test(request))).toEqual([]);
  });
});
