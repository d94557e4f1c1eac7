import { afterEach, describe, expect, test } from "vitest";
import { sentenceOf } from "../../core/report/reasons/say.ts";
import type { ControlPlane } from "./port.ts";
import { rawApplication } from "./testing/application.ts";
import { applicationSet, type Harness, named, ownedBy, until, type Wishes } from "./testing/contract.ts";
import { apiHarness, kubernetesHarness } from "./testing/harness.ts";

/** An object in an object, so many times. */
function nested(depth: number): unknown {
  let deep: unknown = "bottom";
  for (let i = 0; i < depth; i++) deep = { a: deep };
  return deep;
}

const DEEP_SPEC = { project: "default", destination: { server: "https://eu-1.example.com", namespace: "payments" } };
const names = (plane: ControlPlane) => plane.applications().map((view) => view.name);

/** What every adapter of the port ControlPlane must do. */
describe.each([
  { adapter: "the Kubernetes adapter", start: kubernetesHarness as () => Promise<Harness> },
  { adapter: "the adapter of Argo CD's API", start: apiHarness as () => Promise<Harness> },
])("$adapter keeps the contract of a control plane", ({ start }) => {
  let harness: Harness;
  const planes: ControlPlane[] = [];
  const opened = (plane: ControlPlane) => {
    planes.push(plane);
    return plane;
  };
  const open = async (wishes?: Wishes) => {
    const plane = opened(harness.open(wishes));
    await plane.ready();
    return plane;
  };
  /** Opened, and heard something by its stream. */
  const streaming = async (wishes?: Wishes) => {
    const plane = await open(wishes);
    await harness.put(named("heard"));
    await until(plane, () => plane.application("argocd", "heard") !== undefined);
    return plane;
  };
  afterEach(async () => {
    for (const plane of planes.splice(0)) await plane.close();
    expect(harness.logged()).not.toContain(harness.token);
    await harness.close();
  });

  test("what is there when it opens is known once it is ready", async () => {
    harness = await start();
    await harness.put(named("a"));
    await harness.put(named("b"));
    const plane = await open();
    expect(names(plane)).toEqual(["a", "b"]);
    expect(plane.application("argocd", "a")?.status.health.status).toBe("Healthy");
    expect(plane.application("argocd", "c")).toBeUndefined();
    expect(plane.state()).toMatchObject({ fresh: true });
  });

  test("what of an Application's annotations decides something is read, however it comes", async () => {
    harness = await start();
    const paths = { "argocd.argoproj.io/manifest-generate-paths": ".;/base" };
    const marked = (name: string) => ({ ...named(name), metadata: { ...(named(name)["metadata"] as object), annotations: paths } });
    await harness.put(marked("a"));
    const plane = await open();
    expect(plane.application("argocd", "a")?.generatePaths).toBe(".;/base");
    await harness.put(marked("b"));
    await until(plane, () => plane.application("argocd", "b")?.generatePaths === ".;/base");
    expect(await plane.reread("argocd", "a")).toEqual({ kind: "read" });
    expect(plane.application("argocd", "a")?.generatePaths).toBe(".;/base");
  });

  test("it tells who is added, changed and removed", async () => {
    harness = await start();
    await harness.put(named("a"));
    const plane = await open();
    const heard = new Set<string>();
    plane.onChange((keys) => {
      for (const key of keys ?? []) heard.add(key);
    });
    await harness.put(named("b"));
    await until(plane, () => plane.application("argocd", "b") !== undefined);
    await harness.put({ ...named("a"), status: { health: { status: "Degraded" } } });
    await until(plane, () => plane.application("argocd", "a")?.status.health.status === "Degraded");
    await harness.remove("Application", "argocd", "b");
    await until(plane, () => plane.application("argocd", "b") === undefined);
    expect([...heard].sort()).toEqual(["argocd/a", "argocd/b"]);
  });

  test("what a stream dropped is found by a read by name, and nothing older takes its place", async () => {
    harness = await start();
    await harness.put(named("a"));
    const plane = await streaming();
    harness.lose(({ metadata }) => metadata.name === "a");
    await harness.put({ ...named("a"), status: { health: { status: "Degraded" } } });
    await harness.put(named("b"));
    await until(plane, () => plane.application("argocd", "b") !== undefined);
    expect(plane.application("argocd", "a")).toMatchObject({ status: { health: { status: "Healthy" } } });
    expect(plane.application("argocd", "a")?.askedAt).toBeUndefined();
    expect(await plane.reread("argocd", "a")).toEqual({ kind: "read" });
    const known = plane.application("argocd", "a");
    expect(known).toMatchObject({ status: { health: { status: "Degraded" } }, askedAt: known?.readAt });
    // What comes later does not take away that it was asked for; what happens to an Application that is gone is not told.
    harness.lose(null);
    await harness.put({ ...named("a"), status: { health: { status: "Progressing" } } });
    await until(plane, () => plane.application("argocd", "a")?.status.health.status === "Progressing");
    expect(plane.application("argocd", "a")?.askedAt).toBe(known?.askedAt);
    harness.lose(() => true);
    await harness.remove("Application", "argocd", "a");
    expect(await plane.reread("argocd", "a")).toEqual({ kind: "gone" });
    expect(plane.application("argocd", "a")).toBeUndefined();
    expect(await plane.reread("argocd", "never-there")).toEqual({ kind: "gone" });
  });

  test("a read by name works while the stream says nothing, and says why where nothing answers", async () => {
    harness = await start();
    await harness.put(named("a"));
    const plane = await streaming();
    harness.silence(true);
    await harness.put({ ...named("a"), status: { health: { status: "Degraded" } } });
    expect(await plane.reread("argocd", "a")).toEqual({ kind: "read" });
    expect(plane.application("argocd", "a")?.status.health.status).toBe("Degraded");
    harness.down(true);
    expect(await plane.reread("argocd", "a")).toMatchObject({ kind: "failed", why: expect.toHaveCode("HOST_UNANSWERING") });
    harness.down(false);
  });

  test("an Application that is made again under its name is the new one", async () => {
    harness = await start();
    await harness.put(named("a"));
    const plane = await open();
    const first = plane.application("argocd", "a")?.uid;
    await harness.remove("Application", "argocd", "a");
    await harness.put(named("a"));
    await until(plane, () => plane.application("argocd", "a")?.uid !== first && plane.application("argocd", "a") !== undefined);
  });

  test("it finds an ApplicationSet and those it owns, until it is deleted", async () => {
    harness = await start();
    await harness.put(applicationSet("payments"));
    await harness.put(named("a", ownedBy("payments")));
    await harness.put(named("b", ownedBy("other")));
    await harness.put(named("c"));
    const plane = await open();
    expect(plane.applicationSet("argocd", "payments")?.spec).toEqual(applicationSet("payments")["spec"]);
    expect(plane.applications({ namespace: "argocd", name: "payments" }).map((view) => view.name)).toEqual(["a"]);
    await harness.remove("ApplicationSet", "argocd", "payments");
    await until(plane, () => plane.applicationSet("argocd", "payments") === undefined);
  });

  test("clusters come with name, server, labels and annotations, and nothing secret", async () => {
    harness = await start();
    await harness.addCluster("eu-1", "https://eu-1.example.com", { area: "emea" }, "hunter2", { addons_revision: "v3" });
    const plane = await open();
    expect(plane.clusters()).toEqual([
      expect.objectContaining({ name: "eu-1", server: "https://eu-1.example.com", labels: { area: "emea" }, registered: true }),
    ]);
    expect(plane.clusters()[0]?.annotations).toEqual({ addons_revision: "v3" });
    await harness.addCluster("us-1", "https://us-1.example.com", {}, "hunter2");
    await until(plane, () => plane.clusters().length === 2);
    expect(JSON.stringify(plane.clusters())).not.toContain("hunter2");
  });

  test("a cut stream comes back and misses nothing", async () => {
    harness = await start();
    const plane = await streaming();
    harness.cut();
    await harness.put(named("b"));
    await until(plane, () => plane.application("argocd", "b") !== undefined && plane.state().fresh);
  });

  test("after a gap it lists again, and what went in the gap is gone", async () => {
    harness = await start();
    await harness.put(named("a"));
    await harness.put(named("b"));
    const plane = await streaming();
    await harness.remove("Application", "argocd", "a");
    harness.expire();
    await harness.put(named("c"));
    await until(plane, () => plane.application("argocd", "c") !== undefined && plane.application("argocd", "a") === undefined);
    expect(names(plane).sort()).toEqual(["b", "c", "heard"]);
  });

  test("a stream that stays open and says nothing is noticed, and what it missed is caught up", async () => {
    harness = await start();
    const plane = await streaming({ silentMs: 150 });
    harness.silence(true);
    await harness.put(named("missed"));
    harness.silence(false);
    // Of other collections, too, which are as silent.
    await until(plane, () => plane.application("argocd", "missed") !== undefined && plane.state().fresh);
    expect(names(plane)).toContain("missed");
  });

  test("while the connection is lost it says so, why and since when, and after it is back it is up to date", async () => {
    harness = await start();
    await harness.put(named("a"));
    const plane = await open();
    const before = plane.state().since;
    harness.down(true);
    await until(plane, () => !plane.state().fresh);
    const lost = plane.state();
    expect(lost.why).toHaveCode("COLLECTION_LOST", { what: "applications" });
    expect(Date.parse(lost.since)).toBeGreaterThanOrEqual(Date.parse(before));
    await harness.put(named("b"));
    harness.down(false);
    await until(plane, () => plane.state().fresh && plane.application("argocd", "b") !== undefined);
    expect(Date.parse(plane.state().since)).toBeGreaterThanOrEqual(Date.parse(lost.since));
  });

  test("who may not list is told what to grant, and nothing may be concluded", async () => {
    harness = await start();
    await harness.put(named("a"));
    const plane = opened(harness.openForbidden());
    await expect(plane.ready()).rejects.toThrow(/applications.*forbidden.*grant/i);
    expect(plane.state()).toMatchObject({ fresh: false, why: expect.toHaveCode("COLLECTION_LOST") });
    expect(plane.applications()).toEqual([]);
  });

  test("credentials that are no longer good are said to be so", async () => {
    harness = await start();
    const plane = await open();
    harness.revoke();
    await until(plane, () => /not accepted/.test(sentenceOf(plane.state().why)));
    expect(plane.state().fresh).toBe(false);
  });

  test("a server that an unknown CA has signed for is not talked to, and the reason is plain", async () => {
    harness = await start();
    const plane = opened(harness.open({ wrongCa: true }));
    await expect(plane.ready()).rejects.toThrow(/\bCA\b.*\([A-Z_]+\)/);
    expect(plane.state().fresh).toBe(false);
  });

  test("a refresh is asked for where that is allowed, and only of what is there", async () => {
    harness = await start();
    await harness.put(named("a"));
    const plane = await open({ refresh: true });
    expect(await plane.refresh?.("argocd", "a")).toBe("asked");
    expect(harness.refreshAsked("argocd", "a")).toBe(true);
    expect(await plane.refresh?.("argocd", "none")).toEqual({
      failed: expect.objectContaining({ code: expect.stringMatching(/^(APPLICATION_UNKNOWN|PROGRAM_SAYS)$/) }),
    });
    harness.down(true);
    expect(await plane.refresh?.("argocd", "a")).toEqual({ failed: expect.toHaveCode("HOST_UNANSWERING") });
    harness.down(false);
  });

  test("Applications of one name in two namespaces are two", async () => {
    harness = await start();
    await harness.put(named("a", { namespace: "team-a" }));
    await harness.put({ ...named("a", { namespace: "team-b" }), status: {} });
    const plane = await open();
    expect(plane.application("team-a", "a")?.status.health.status).toBe("Healthy");
    expect(plane.application("team-b", "a")?.status.health.status).toBeUndefined();
  });

  test.each([[["team-a"]], [["team-a", "team-b"]]])("only the wished namespaces and labels are looked at: %s", async (namespaces) => {
    harness = await start();
    for (const namespace of ["team-a", "team-b", "team-c"]) {
      await harness.put(named(`in-${namespace}`, { namespace, labels: { tier: "gold" } }));
      await harness.put(named(`other-${namespace}`, { namespace, labels: { tier: "tin" } }));
    }
    const plane = await open({ namespaces, selector: "tier=gold" });
    expect(names(plane)).toEqual(namespaces.map((name) => `in-${name}`));
  });

  test("an object of two megabytes with thousands of conditions is read like any other", async () => {
    harness = await start();
    const plane = await open();
    const noise = Array.from({ length: 5000 }, (_, i) => ({ type: "OrphanedResourceWarning", message: `${i} ${"x".repeat(200)}` }));
    const resources = Array.from({ length: 10_000 }, (_, i) => ({ kind: "ConfigMap", version: "v1", name: `n-${i}`, status: "Synced" }));
    const conditions = [...noise, { type: "SyncError", message: "this one" }];
    const huge = rawApplication({ metadata: { name: "huge", uid: undefined }, status: { conditions, resources } });
    expect(JSON.stringify(huge).length).toBeGreaterThan(1_500_000);
    await harness.put(huge);
    await until(plane, () => plane.application("argocd", "huge") !== undefined);
    expect(plane.application("argocd", "huge")?.status.conditions[0]).toMatchObject({ type: "SyncError", message: "this one" });
    expect(plane.application("argocd", "huge")?.status.conditions.length).toBeLessThanOrEqual(100);
  });

  test("objects whose fields are absent or absurd are known as far as they go, and hide no other", async () => {
    harness = await start();
    const absurd = { spec: { source: 7, sources: "x", destination: [] }, status: ["?"], operation: "now" };
    await harness.put({ ...named("absurd"), ...absurd });
    await harness.put({ ...named("bare"), spec: undefined, status: undefined });
    await harness.put(named("good"));
    const plane = await open();
    expect(names(plane).sort()).toEqual(["absurd", "bare", "good"]);
    expect(plane.application("argocd", "absurd")).toMatchObject({ spec: { sources: [] }, status: { health: {}, conditions: [] } });
    await harness.put({ ...named("good"), ...absurd });
    await until(plane, () => plane.application("argocd", "good")?.status.health.status === undefined);
    expect(plane.state().fresh).toBe(true);
  });

  test("one that is nested too deeply is known by its name, never well, told to the log, and blinds nobody to the others", async () => {
    harness = await start();
    await harness.put(named("good"));
    const plane = await streaming();
    const deep = nested(250);
    await harness.put({
      ...named("deep", ownedBy("payments")),
      spec: { ...DEEP_SPEC, source: { repoURL: "r", helm: { valuesObject: deep } } },
    });
    await until(plane, () => plane.application("argocd", "deep") !== undefined);
    // Whoever opens it later lists what the other was told.
    const second = await open();
    for (const known of [plane, second]) {
      expect(known.state().fresh).toBe(true);
      expect(names(known).sort()).toEqual(["deep", "good", "heard"]);
      expect(known.application("argocd", "deep")).toMatchObject({
        unreadable: { code: "NESTED_TOO_DEEP", most: 200 },
        spec: DEEP_SPEC,
        status: { health: {} },
      });
      expect(known.applications({ namespace: "argocd", name: "payments" })).toHaveLength(1);
    }
    expect(harness.logged()).toMatch(/cannot be read.*"object":"argocd\/deep".*nested more than 200 deep/);
    await second.reread("argocd", "deep");
    expect(second.application("argocd", "deep")).toHaveProperty("unreadable");
    await harness.put(named("deep"));
    await until(plane, () => plane.application("argocd", "deep")?.unreadable === undefined);
    expect(plane.application("argocd", "deep")?.status.health.status).toBe("Healthy");
  });

  test("an ApplicationSet that is nested too deeply is one that cannot be read", async () => {
    harness = await start();
    const plane = await open();
    const set = applicationSet("payments");
    await harness.put({
      ...set,
      spec: { ...(set["spec"] as object), template: { spec: { source: { helm: { valuesObject: nested(250) } } } } },
    });
    await until(plane, () => plane.applicationSet("argocd", "payments") !== undefined);
    expect(plane.state().fresh).toBe(true);
    expect(plane.applicationSet("argocd", "payments")?.unreadable).toEqual({ code: "NESTED_TOO_DEEP", most: 200 });
  });

  test("after it is closed it tells nothing more", async () => {
    harness = await start();
    const plane = await open();
    let heard = 0;
    plane.onChange(() => {
      heard += 1;
    });
    await plane.close();
    const other = await open();
    await harness.put(named("a"));
    await until(other, () => other.application("argocd", "a") !== undefined);
    expect([heard, names(plane)]).toEqual([0, []]);
  });

  test("of two control planes with the same names, one that is unreachable says nothing of the other", async () => {
    harness = await start();
    const second = await start();
    try {
      await harness.put(named("a"));
      await second.put({ ...named("a"), status: { health: { status: "Degraded" } } });
      const [one, two] = [await open(), opened(second.open())];
      await two.ready();
      second.down(true);
      await until(two, () => !two.state().fresh);
      expect(one.state().fresh).toBe(true);
      expect(one.application("argocd", "a")?.status.health.status).toBe("Healthy");
      expect(two.application("argocd", "a")?.status.health.status).toBe("Degraded");
    } finally {
      for (const plane of planes) await plane.close();
      await second.close();
    }
  });
});
