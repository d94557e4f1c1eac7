import { describe, expect, test } from "vitest";
import { rawApplication } from "../../../adapters/argocd/testing/application.ts";
import { decodeApplication } from "./application.ts";
import { decodeApplicationSet } from "./application-set.ts";
import { decodeClusterItem, decodeClusterSecret } from "./cluster.ts";

describe("an Application", () => {
  test("a field of the wrong type is absent", () => {
    const view = decodeApplication(
      { metadata: { name: "x", labels: [1], uid: 7 }, spec: { sources: "no", source: 3, destination: [], syncPolicy: 1 }, status: "gone" },
      0,
    );
    expect(view).toMatchObject({ name: "x", uid: "", labels: {}, spec: { sources: [], automated: false, destination: {} } });
    expect(view?.status).toEqual({ sync: { revisions: [] }, health: {}, conditions: [] });
  });

  test("without a name it is none", () => {
    for (const raw of [undefined, null, 1, "x", [], {}, { metadata: { name: "" } }]) expect(decodeApplication(raw, 0)).toBeUndefined();
  });

  test("messages are cut, and a bad condition survives thousands of others", () => {
    const noise = Array.from({ length: 5000 }, () => ({ type: "OrphanedResourceWarning", message: "x".repeat(9000) }));
    const view = decodeApplication(
      rawApplication({ status: { conditions: [...noise, { type: "SyncError", message: "y".repeat(9000) }] } }),
      0,
    );
    expect(view?.status.conditions).toHaveLength(100);
    expect(view?.status.conditions[0]).toMatchObject({ type: "SyncError", message: expect.stringMatching(/^y{2047}…$/) });
  });

  test("keys of prototypes mean nothing", () => {
    const hostile = JSON.parse(
      '{"metadata":{"name":"x","labels":{"__proto__":"y","a":"b"}},"spec":{"__proto__":{"project":"p"}}}',
    ) as unknown;
    const view = decodeApplication(hostile, 0);
    expect(view?.labels).toEqual({ a: "b" });
    expect(view?.spec.project).toBe("");
  });

  test("a deletion whose time cannot be read is still one", () => {
    const view = decodeApplication(rawApplication({ metadata: { deletionTimestamp: "soon" } }), Date.parse("2026-01-01T00:00:00Z"));
    expect(view?.deletionTimestamp).toBe("2026-01-01T00:00:00.000Z");
  });

  test("sources win over source, and the hydrator's sync source over both", () => {
    const source = { repoURL: "https://a/b", path: "one" };
    const sources = [{ repoURL: "https://a/b", path: "two", helm: { valueFiles: ["v.yaml"] } }];
    const sourceHydrator = { drySource: { repoURL: "https://a/dry" }, syncSource: { targetBranch: "env/eu", path: "three" } };
    const views = [
      { source, sources },
      { source, sources, sourceHydrator },
    ].map((spec) => decodeApplication({ metadata: { name: "x" }, spec }, 0));
    expect(views[0]?.spec).toMatchObject({ multiSource: true, sources: [{ path: "two", rest: { helm: { valueFiles: ["v.yaml"] } } }] });
    expect(views[1]?.spec.sources).toEqual([{ repoURL: "https://a/dry", path: "three", targetRevision: "env/eu" }]);
  });

  test("what an unchanged comparedTo repeats is kept once", () => {
    const view = decodeApplication(rawApplication(), 0);
    expect(view?.status.sync.comparedTo?.sources).toBe(view?.spec.sources);
  });
});

describe("a cluster", () => {
  const base64 = (text: string) => Buffer.from(text).toString("base64");

  test("of a Secret has what generators are given, and no credential, not even one that an annotation repeats", () => {
    const config = base64('{"bearerToken":"hunter2"}');
    const annotations = {
      addons_repo_revision: "v3",
      odd: 7,
      "kubectl.kubernetes.io/last-applied-configuration": `{"data":{"config":"${config}"}}`,
    };
    const view = decodeClusterSecret({
      metadata: { name: "cluster-1", labels: { area: "emea", "argocd.argoproj.io/secret-type": "cluster" }, annotations },
      data: { name: base64("eu-1"), server: base64("https://eu-1.example.com/"), project: base64("shop"), config },
    });
    expect(view).toEqual({
      ...{ name: "eu-1", server: "https://eu-1.example.com", labels: { area: "emea" }, registered: true },
      ...{ annotations: { addons_repo_revision: "v3" }, project: "shop" },
    });
  });

  test.each([
    ["without data is named as the Secret", { metadata: { name: "eu-1" } }, "eu-1"],
    ["without a name is named by its server", { metadata: { name: "s" }, data: { server: base64("https://x") } }, "https://x"],
    ["with neither is none", { metadata: { name: "s" }, data: { config: base64("{}") } }, undefined],
    ["with stringData is read, too", { metadata: { name: "s" }, stringData: { name: "eu-2" } }, "eu-2"],
    ["of nonsense is none", 7, undefined],
  ])("%s", (_name, raw, name) => {
    expect(decodeClusterSecret(raw)?.name).toBe(name);
  });

  test("of Argo CD's API has its connection", () => {
    const info = { connectionState: { status: "Failed", message: "no route", attemptedAt: "2026-01-01T00:00:00Z" } };
    expect(decodeClusterItem({ name: "eu-1", server: "https://x", info })?.connection).toMatchObject({
      status: "Failed",
      message: "no route",
    });
    expect(decodeClusterItem({ server: "https://x", info: { connectionState: { status: "Odd" } } })).toMatchObject({
      name: "https://x",
      connection: { status: "Unknown" },
    });
  });
});

test("an ApplicationSet keeps its spec as it is", () => {
  const spec = { generators: [{ list: { elements: [{ a: 1 }] } }] };
  const status = { conditions: [{ type: "ErrorOccurred", status: "True", message: "x", reason: 4 }, 3] };
  expect(decodeApplicationSet({ metadata: { name: "s", namespace: "argocd" }, spec, status })).toMatchObject({
    spec,
    conditions: [{ type: "ErrorOccurred", status: "True", message: "x" }],
  });
});

describe("what is kept of a fleet's Applications", () => {
  const images = Array.from({ length: 40 }, (_, i) => `registry.example.com/acme/payments-worker-${i}:v1.4.2`);
  const read = (name: string, over: Record<string, unknown> = {}) => {
    const destination = { server: `https://${name}.example.com`, namespace: "payments" };
    const status = { summary: { images }, sync: { comparedTo: { destination } }, ...over };
    // As from the wire: no two share anything before they are decoded.
    return decodeApplication(JSON.parse(JSON.stringify(rawApplication({ metadata: { name }, spec: { destination }, status }))), 0);
  };

  test("an Application more adds only what is its own, so that fifty thousand fit", () => {
    const seen = new Set<unknown>();
    const objectsIn = (value: unknown): number => {
      if (typeof value !== "object" || value === null || seen.has(value)) return 0;
      seen.add(value);
      return Object.values(value).reduce<number>((sum, one) => sum + objectsIn(one), 1);
    };
    objectsIn(read("eu-1"));
    // The view, its labels, spec, destination, status, sync, comparedTo, health, operation, conditions.
    expect(objectsIn(read("eu-2"))).toBe(10);
  });

  test("sources that differ, and those with more than words, are each their own", () => {
    const [one, two] = ["a", "b"].map((path) =>
      decodeApplication({ metadata: { name: "x" }, spec: { source: { repoURL: "r", path } } }, 0),
    );
    expect(one?.spec.sources).toEqual([{ repoURL: "r", path: "a" }]);
    expect(two?.spec.sources).toEqual([{ repoURL: "r", path: "b" }]);
    const helm = { parameters: [{ name: "a", value: "1" }] };
    const withRest = () => decodeApplication({ metadata: { name: "x" }, spec: { source: { repoURL: "r", helm } } }, 0)?.spec.sources;
    expect(withRest()).toEqual([{ repoURL: "r", rest: { helm } }]);
    expect(withRest()).not.toBe(withRest());
  });

  test("values without end that nobody repeats are read as they are, and push out no more than memory of them", () => {
    for (let i = 0; i < 6000; i++) {
      const given = [`registry.example.com/x:${i}`, "x".repeat(i % 5000 || 1)];
      expect(read("eu-1", { summary: { images: given } })?.status.images).toEqual(given.filter((one) => one.length <= 4096));
    }
    expect(read("eu-1")?.status.images).toEqual(images);
  });
});
