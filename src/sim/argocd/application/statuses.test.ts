import { afterEach, describe, expect, it } from "vitest";
import { chartVersions } from "../git/repositories.ts";
import { type TestWorld, testWorld } from "../testing/world.ts";
import type { Application } from "../types.ts";
import { SHORT_LAG } from "./lag.ts";

const FILES = { "app/deployment.yaml": "image: app:v1\n", "other/deployment.yaml": "image: other:v1\n" };
const noSets = { render: () => ({ ok: true, applications: [], generators: [], problems: [] }), clusters: [{ name: "eu-1" }] };

let world: TestWorld;
afterEach(() => world.close());

const isLive = (app: Application) =>
  app.status?.sync?.status === "Synced" && app.status.health?.status === "Healthy" && app.operation === undefined;
const brief = ({ status }: Application) => `${status?.sync?.status} ${status?.health?.status}`;

/** Neighbouring equal entries as one. */
function distinct(list: string[]): string[] {
  return list.filter((entry, index) => entry !== list[index - 1]);
}

async function synced(options: Partial<Parameters<typeof testWorld>[1]> = {}, spec: Record<string, unknown> = {}): Promise<TestWorld> {
  world = await testWorld(FILES, { ...noSets, ...options });
  world.create("a", spec);
  await world.until("the first sync", () => isLive(world.app("a")));
  return world;
}

describe("statuses of the embedded Argo CD", () => {
  it("(1) writes operation and comparison in separate patches: Succeeded may stand beside the old result", async () => {
    await synced();
    const head = await world.repo.commit({ "app/deployment.yaml": "image: app:v2\n" });
    const before = world.states("a").length;
    world.argo.notifyPush({ repoURLs: [world.repo.url], ref: "refs/heads/main" });
    await world.until("v2 is live", () => world.app("a").status?.operationState?.syncResult?.revision === head && isLive(world.app("a")));
    const seen = world.states("a").slice(before);
    expect(
      seen.some(
        ({ status }) =>
          status?.operationState?.phase === "Succeeded" &&
          status.operationState.syncResult?.revision === head &&
          status.sync?.status === "OutOfSync",
      ),
    ).toBe(true);
    expect(seen.some(({ operation, status }) => operation !== undefined && status?.sync?.status === "Synced")).toBe(true);
    // As recorded: a sync that is asked for empties what was said of the one before.
    const asked = seen.find(({ operation }) => operation !== undefined);
    expect([asked?.operation?.sync?.revision, asked?.status?.operationState]).toEqual([head, undefined]);
    expect(world.app("a").status?.history?.map(({ id, revision }) => [id, revision])).toEqual([
      [0, expect.any(String)],
      [1, head],
    ]);
  });

  it("(2, 3) reconciledAt is the start of a comparison in whole seconds, and stays when only health changes", async () => {
    await synced({ lag: { ...SHORT_LAG, compare: 5000 } });
    const seen = world.states("a").filter(({ status }) => status?.reconciledAt !== undefined);
    for (const { status } of seen) expect(status?.reconciledAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const before = world.app("a").status?.reconciledAt;
    const writes = world.states("a").length;
    world.argo.setFault("eu-1", { kind: "degraded", scope: "now" });
    await world.until("Degraded", () => world.app("a").status?.health?.status === "Degraded");
    expect(world.app("a").status?.reconciledAt).toBe(before);
    expect(world.states("a").length).toBeGreaterThan(writes);
    const started = world.clock.now();
    await world.until("a comparison", () => world.app("a").status?.reconciledAt !== before);
    expect(Date.parse(world.app("a").status?.reconciledAt ?? "")).toBeLessThan(world.clock.now() - 4000);
    expect(world.clock.now()).toBeGreaterThan(started);
  });

  it("(4) comparedTo lags behind after a spec change: Synced and Healthy are the old ones", async () => {
    await synced();
    world.edit("a", (app) => ({ ...app, spec: { ...app.spec, source: { ...app.spec.source, repoURL: world.repo.url, path: "other" } } }));
    const stale = world.app("a");
    expect(isLive(stale)).toBe(true);
    expect(stale.status?.sync?.comparedTo?.source?.path).toBe("app");
    await world.until("a comparison", () => world.app("a").status?.sync?.comparedTo?.source?.path === "other");
    expect(world.app("a").status?.sync?.status).toBe("OutOfSync");
    await world.until("the sync", () => isLive(world.app("a")));
  });

  it("(5, 7) a commit that changes nothing here moves sync.revision to the head without an operation", async () => {
    await synced();
    const operation = world.app("a").status?.operationState;
    const head = await world.repo.commit({ "other/deployment.yaml": "image: other:v2\n" });
    await world.until("the head is seen", () => world.app("a").status?.sync?.revision === head);
    expect(isLive(world.app("a"))).toBe(true);
    expect(world.app("a").status?.operationState).toEqual(operation);
    expect(world.app("a").status?.history).toHaveLength(1);
  });

  it("(6) flashes Healthy at the new revision before Progressing", async () => {
    await synced({ lag: { ...SHORT_LAG, flash: 2000 } });
    const head = await world.repo.commit({ "app/deployment.yaml": "image: app:v2\n" });
    world.argo.notifyPush({ repoURLs: [world.repo.url], ref: "refs/heads/main" });
    const before = world.states("a").length;
    await world.until("Progressing", () => world.app("a").status?.health?.status === "Progressing");
    await world.until("Healthy", () => isLive(world.app("a")));
    const after = world
      .states("a")
      .slice(before)
      .filter(({ status }) => status?.sync?.revision === head);
    expect(distinct(after.map(brief))).toEqual(["OutOfSync Healthy", "Synced Healthy", "Synced Progressing", "Synced Healthy"]);
  });

  it("(13) keeps the first errors of a repository quiet, but not from a forced refresh", async () => {
    await synced();
    world.argo.setRepoDown(true);
    const before = world.states("a").length;
    await world.pass(200_000);
    expect(world.states("a")).toHaveLength(before);
    world.edit("a", (app) => ({ ...app, metadata: { ...app.metadata, annotations: { "argocd.argoproj.io/refresh": "normal" } } }));
    await world.until("the error", () => world.app("a").status?.sync?.status === "Unknown");
    expect(world.app("a").status?.conditions?.[0]).toMatchObject({
      type: "ComparisonError",
      message: expect.stringContaining("i/o timeout"),
    });
    expect(world.app("a").status?.health?.status).toBe("Healthy");
    world.argo.setRepoDown(false);
    await world.until("recovery", () => isLive(world.app("a")));
    expect(world.app("a").status?.conditions).toBeUndefined();
  });

  it("(16) polls where no webhook comes, and looks at once where the annotation asks, which then goes", async () => {
    await synced();
    const first = await world.repo.commit({ "app/deployment.yaml": "image: app:v2\n" });
    await world.pass(60_000);
    expect(world.app("a").status?.sync?.revision).not.toBe(first);
    await world.until("polling", () => world.app("a").status?.sync?.revision === first && isLive(world.app("a")));
    const second = await world.repo.commit({ "app/deployment.yaml": "image: app:v3\n" });
    world.edit("a", (app) => ({ ...app, metadata: { ...app.metadata, annotations: { "argocd.argoproj.io/refresh": "normal" } } }));
    await world.pass(1000);
    expect(world.app("a").status?.sync?.revision).toBe(second);
    expect(world.app("a").metadata.annotations).toEqual({});
  });

  it("(19) gives the revisions of several sources in their order", async () => {
    world = await testWorld({ ...FILES, "values/eu-1.yaml": "image: v1\n" }, noSets);
    const sources = [
      { repoURL: "https://charts.example.com", chart: "app", targetRevision: "1.2.3", helm: { valueFiles: ["$values/values/eu-1.yaml"] } },
      { repoURL: world.repo.url, targetRevision: "main", ref: "values" },
    ];
    world.create("a", { source: undefined, sources });
    await world.until("live", () => isLive(world.app("a")));
    const head = await world.repo.git("rev-parse", "main");
    expect(world.app("a").status?.sync?.revisions).toEqual(["1.2.3", head]);
    const next = await world.repo.commit({ "values/eu-1.yaml": "image: v2\n" });
    await world.until("v2 synced", () => world.app("a").status?.operationState?.syncResult?.revisions?.[1] === next);
  });

  it("(19) a chart source shows the version that its range means, and a new one that is published is synced", async () => {
    const published = ["1.2.0", "1.3.0", "2.0.0"];
    world = await testWorld(FILES, { ...noSets, clusters: [{ name: "eu-1" }], registry: chartVersions({ web: published }) });
    world.create("a", { source: { repoURL: "https://charts.example.com", chart: "web", targetRevision: "1.x" } });
    await world.until("it is synced", () => world.app("a").status?.operationState?.phase === "Succeeded");
    expect(world.app("a").status?.sync?.revision).toBe("1.3.0");
    published.push("1.4.0");
    await world.until("the new one is synced", () => world.app("a").status?.operationState?.syncResult?.revision === "1.4.0");
    world.edit("a", (app) => ({
      ...app,
      spec: { ...app.spec, source: { ...app.spec.source, repoURL: "https://charts.example.com", targetRevision: "9.x" } },
    }));
    await world.until("no such version", () => world.app("a").status?.conditions?.[0]?.message.includes("no such version") === true);
  });

  it("(20) has no health in status.resources", async () => {
    await synced();
    expect(world.app("a").status?.resources?.map(({ kind, status, health }) => [kind, status, health])).toEqual([
      ["Service", "Synced", undefined],
      ["Deployment", "Synced", undefined],
    ]);
    expect(world.app("a").status?.["resourceHealthSource"]).toBe("appTree");
  });

  it("(20) has it there where the controller persists it, with what is wrong", async () => {
    await synced({ persistsHealth: true });
    world.argo.setFault("eu-1", { kind: "degraded", scope: "now" });
    const shown = () => world.app("a").status?.resources?.map(({ kind, health }) => [kind, health]);
    await world.until("Degraded", () => world.app("a").status?.health?.status === "Degraded");
    expect(shown()).toEqual([
      ["Service", undefined],
      ["Deployment", { status: "Degraded", message: 'Deployment "a" exceeded its progress deadline' }],
    ]);
    expect(world.app("a").status?.["resourceHealthSource"]).toBeUndefined();
  });

  it("says that a revision does not exist, and what a wrong destination is", async () => {
    await synced();
    world.edit("a", (app) => ({ ...app, spec: { ...app.spec, source: { repoURL: world.repo.url, path: "app", targetRevision: "v9" } } }));
    await world.until("the error", () => world.app("a").status?.conditions !== undefined);
    expect(world.app("a").status?.conditions?.[0]?.message).toContain('failed to resolve revision "v9"');
    const { reconciledAt } = world.app("a").status ?? {};
    world.edit("a", (app) => ({ ...app, spec: { ...app.spec, destination: { name: "nowhere" } } }));
    await world.until("invalid", () => world.app("a").status?.conditions?.[0]?.type === "InvalidSpecError");
    expect(world.app("a").status).toMatchObject({
      reconciledAt,
      health: { status: "Unknown" },
      sync: { status: "Unknown", comparedTo: { destination: { name: "eu-1" } } },
    });
  });

  it("plays the same world again from the same seed", async () => {
    const play = async (seed: number) => {
      world = await testWorld(FILES, { ...noSets, seed });
      world.create("a", { source: { repoURL: "https://example.com/app", targetRevision: "v1", path: "app" } });
      await world.pass(10_000);
      const seen = world.states("a").map(({ status, metadata }) => JSON.stringify([metadata.resourceVersion, status]));
      await world.close();
      return seen;
    };
    const [first, again, other] = [await play(7), await play(7), await play(8)];
    expect(again).toEqual(first);
    expect(first.length).toBeGreaterThan(5);
    expect(other.length).toBe(first.length);
    world = await testWorld(FILES, noSets);
  });
});
