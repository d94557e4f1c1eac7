import { afterEach, describe, expect, test } from "vitest";
import type { ControlPlane } from "../port.ts";
import { rawApplication } from "./application.ts";

/** What the suite needs of an adapter: an Argo CD that it can write to, and ways to open the adapter on it. */
export interface Harness {
  /** Creates or replaces an Application or ApplicationSet, as raw Kubernetes objects. */
  put(object: Record<string, unknown>): Promise<void>;
  remove(kind: "Application" | "ApplicationSet", namespace: string, name: string): Promise<void>;
  /** Registers a cluster with a secret in it that must never come out. */
  addCluster(name: string, server: string, labels: Record<string, string>, secret: string): Promise<void>;
  open(options?: { refresh?: boolean }): Promise<ControlPlane>;
  /** An adapter whose credentials may not list Applications. */
  openForbidden(): Promise<ControlPlane>;
  /** Cuts the adapter's streams once. */
  cut(): Promise<void>;
  /** Makes streams end so that everything must be listed again. */
  expire(): Promise<void>;
  /** Whether a refresh of this Application was asked for. */
  refreshAsked(namespace: string, name: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Resolves once `holds` is true, asked again whenever the control plane says that something changed. */
export async function until(plane: ControlPlane, holds: () => boolean): Promise<void> {
  if (holds()) return;
  await new Promise<void>((resolve) => {
    const stop = plane.onChange(() => {
      if (!holds()) return;
      stop();
      resolve();
    });
  });
}

const named = (name: string, over: Record<string, unknown> = {}) => rawApplication({ metadata: { name, uid: undefined, ...over } });
const ownedBy = (name: string) => ({ ownerReferences: [{ apiVersion: "argoproj.io/v1alpha1", kind: "ApplicationSet", name, uid: "s" }] });
const set = (name: string) => ({
  apiVersion: "argoproj.io/v1alpha1",
  kind: "ApplicationSet",
  metadata: { name, namespace: "argocd" },
  spec: { generators: [{ list: { elements: [{ cluster: "eu-1" }] } }], template: {} },
});

/** What every adapter of the port ControlPlane must do. */
export function controlPlaneContract(name: string, start: () => Promise<Harness>): void {
  describe(`${name} keeps the contract of a control plane`, () => {
    let harness: Harness;
    let plane: ControlPlane | undefined;
    const open = async (options?: { refresh?: boolean }) => {
      plane = await harness.open(options);
      await plane.ready();
      return plane;
    };
    afterEach(async () => {
      await plane?.close();
      plane = undefined;
      await harness.close();
    });

    test("what is there when it opens is known once it is ready", async () => {
      harness = await start();
      await harness.put(named("a"));
      await harness.put(named("b"));
      const known = await open();
      expect(known.applications().map((view) => view.name)).toEqual(["a", "b"]);
      expect(known.application("argocd", "a")?.status.health.status).toBe("Healthy");
      expect(known.application("argocd", "c")).toBeUndefined();
      expect(known.state()).toMatchObject({ fresh: true });
    });

    test("it tells who is added, changed and removed", async () => {
      harness = await start();
      await harness.put(named("a"));
      const known = await open();
      const heard = new Set<string>();
      known.onChange((keys) => {
        for (const key of keys ?? []) heard.add(key);
      });
      await harness.put(named("b"));
      await until(known, () => known.application("argocd", "b") !== undefined);
      await harness.put({ ...named("a"), status: { health: { status: "Degraded" } } });
      await until(known, () => known.application("argocd", "a")?.status.health.status === "Degraded");
      await harness.remove("Application", "argocd", "b");
      await until(known, () => known.application("argocd", "b") === undefined);
      expect([...heard].sort()).toEqual(["argocd/a", "argocd/b"]);
    });

    test("it finds an ApplicationSet and those it owns", async () => {
      harness = await start();
      await harness.put(set("payments"));
      await harness.put(named("a", ownedBy("payments")));
      await harness.put(named("b", ownedBy("other")));
      await harness.put(named("c"));
      const known = await open();
      expect(known.applicationSet("argocd", "payments")?.spec).toEqual(set("payments").spec);
      expect(known.applications({ namespace: "argocd", name: "payments" }).map((view) => view.name)).toEqual(["a"]);
      await harness.remove("ApplicationSet", "argocd", "payments");
      await until(known, () => known.applicationSet("argocd", "payments") === undefined);
    });

    test("clusters come with name, server and labels, and nothing secret", async () => {
      harness = await start();
      await harness.addCluster("eu-1", "https://eu-1.example.com", { area: "emea" }, "hunter2");
      const known = await open();
      expect(known.clusters()).toEqual([
        expect.objectContaining({ name: "eu-1", server: "https://eu-1.example.com", labels: { area: "emea" }, registered: true }),
      ]);
      expect(JSON.stringify(known.clusters())).not.toContain("hunter2");
    });

    test("a cut stream comes back and misses nothing", async () => {
      harness = await start();
      await harness.put(named("a"));
      const known = await open();
      await harness.cut();
      await harness.put(named("b"));
      await until(known, () => known.application("argocd", "b") !== undefined);
      expect(known.state().fresh).toBe(true);
    });

    test("after a gap it lists again, and what went in the gap is gone", async () => {
      harness = await start();
      await harness.put(named("a"));
      await harness.put(named("b"));
      const known = await open();
      await harness.remove("Application", "argocd", "a");
      await harness.expire();
      await harness.put(named("c"));
      await until(known, () => known.application("argocd", "c") !== undefined && known.application("argocd", "a") === undefined);
      expect(known.applications().map((view) => view.name)).toEqual(["b", "c"]);
    });

    test("who may not list is told why, and nothing may be concluded", async () => {
      harness = await start();
      await harness.put(named("a"));
      plane = await harness.openForbidden();
      await expect(plane.ready()).rejects.toThrow(/applications.*forbidden|forbidden.*applications/i);
      expect(plane.state()).toMatchObject({ fresh: false, why: expect.stringMatching(/forbidden/i) });
    });

    test("a refresh is asked for where that is allowed, and only there", async () => {
      harness = await start();
      await harness.put(named("a"));
      const known = await open({ refresh: true });
      expect(await known.refresh("argocd", "a")).toBe("asked");
      expect(await harness.refreshAsked("argocd", "a")).toBe(true);
      expect(await known.refresh("argocd", "none")).toBe("unavailable");
    });
  });
}
