import { describe, expect, it } from "vitest";
import { deepFreeze, kubeTime, Store } from "./store.ts";
import type { KubeObject } from "./types.ts";

const clock = { now: () => 1_790_000_000_900, after: () => () => undefined };

function application(name: string, extra: Partial<KubeObject["metadata"]> = {}): KubeObject {
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name, namespace: "argocd", ...extra },
    spec: { project: "default" },
  };
}

describe("the store of the embedded Kubernetes", () => {
  it("cuts its times to whole seconds", () => {
    expect(kubeTime(1_790_000_000_900)).toBe("2026-09-21T14:13:20Z");
    expect(new Store({ clock }).create(application("a")).metadata.creationTimestamp).toBe("2026-09-21T14:13:20Z");
  });

  it("gives each write a greater resourceVersion, and counts generations of the spec only", () => {
    const store = new Store({ clock });
    const a = store.create(application("a"));
    const b = store.update({ ...a, status: { health: { status: "Healthy" } } });
    const c = store.update({ ...b, spec: { project: "other" } });
    expect([a, b, c].map((o) => o.metadata.generation)).toEqual([1, 1, 2]);
    expect(Number(c.metadata.resourceVersion)).toBeGreaterThan(Number(b.metadata.resourceVersion));
    expect(c.metadata.uid).toBe(a.metadata.uid);
  });

  it("refuses a write that was made from an older version", () => {
    const store = new Store({ clock });
    const a = store.create(application("a"));
    store.update({ ...a, spec: { project: "x" } });
    expect(() => store.update({ ...a, spec: { project: "y" } })).toThrow(/has been modified/);
  });

  it("writes nothing where nothing changes", () => {
    const store = new Store({ clock });
    const a = store.create(application("a"));
    const before = store.revision();
    expect(store.change("applications", "argocd", "a", (o) => ({ ...o, spec: { project: "default" } }))).toBe(a);
    expect(store.revision()).toBe(before);
  });

  it("keeps an object with finalizers until the last one is removed", () => {
    const store = new Store({ clock });
    store.create(application("a", { finalizers: ["x/y"] }));
    expect(store.delete("applications", "argocd", "a").metadata.deletionTimestamp).toBe("2026-09-21T14:13:20Z");
    expect(store.get("applications", "argocd", "a")).toBeDefined();
    store.change("applications", "argocd", "a", (o) => ({ ...o, metadata: { ...o.metadata, finalizers: [] } }));
    expect(store.get("applications", "argocd", "a")).toBeUndefined();
    expect(store.since("applications", 0).map((event) => event.type)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
  });

  it("hands out frozen objects", () => {
    const object = new Store({ clock }).create(application("a"));
    expect(Object.isFrozen(object.spec)).toBe(true);
    expect(deepFreeze(object)).toBe(object);
  });

  it("tells every listener of events in order, also where a listener writes", () => {
    const store = new Store({ clock });
    const seen: string[] = [];
    store.subscribe("applications", ({ type, object }) => {
      if (type === "ADDED") store.change("applications", "argocd", object.metadata.name, (o) => ({ ...o, spec: {} }));
    });
    store.subscribe("applications", ({ type }) => seen.push(type));
    store.create(application("a"));
    expect(seen).toEqual(["ADDED", "MODIFIED"]);
  });

  it("forgets old events, and says so", () => {
    const store = new Store({ clock, keep: 4 });
    for (let i = 0; i < 20; i++) store.create(application(`a${i}`));
    expect(() => store.since("applications", 3)).toThrow(/too old resource version/);
    expect(store.since("applications", store.revision() - 2)).toHaveLength(2);
  });
});
