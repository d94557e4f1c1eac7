import { afterEach, describe, expect, it } from "vitest";
import type { FaultScript } from "../faults.ts";
import { type TestWorld, testWorld } from "../testing/world.ts";
import type { Application } from "../types.ts";
import { backoffMs } from "./operation.ts";

const FILES = { "app/deployment.yaml": "image: app:v1\n" };

let world: TestWorld;
afterEach(() => world.close());

const isLive = (app: Application) =>
  app.status?.sync?.status === "Synced" && app.status.health?.status === "Healthy" && app.operation === undefined;
const health = () => world.app("a").status?.health?.status;
const phase = () => world.app("a").status?.operationState?.phase;

async function live(faults: FaultScript = {}, spec: Record<string, unknown> = {}): Promise<void> {
  world = await testWorld(FILES, { faults, clusters: [{ name: "eu-1" }, { name: "us-1" }] });
  world.create("a", spec);
  await world.until("the first sync", () => isLive(world.app("a")));
}

async function release(image: string): Promise<string> {
  const head = await world.repo.commit({ "app/deployment.yaml": `image: ${image}\n` });
  world.argo.notifyPush({ repoURLs: [world.repo.url], ref: "refs/heads/main" });
  return head;
}

/** The values of a field over all that was written, equal neighbours as one. */
function course(of: (app: Application) => unknown): unknown[] {
  const all = world.states("a").map(of);
  return all.filter((value, index) => index === 0 || value !== all[index - 1]);
}

describe("faults of the embedded Argo CD", () => {
  it("(10) a new version degrades, and recovers after its time", async () => {
    await live({ faults: [{ cluster: "eu-1", fault: { kind: "degraded", revision: "app:v2", recoversAfter: 60_000 } }] });
    await release("app:v2");
    await world.until("Degraded", () => health() === "Degraded");
    const since = world.clock.now();
    await world.until("recovery", () => isLive(world.app("a")));
    expect(world.clock.now() - since).toBeGreaterThan(55_000);
    expect(course((app) => app.status?.health?.status).slice(-4)).toEqual(["Healthy", "Progressing", "Degraded", "Healthy"]);
  });

  it("narrows a fault to the version it names", async () => {
    await live({ faults: [{ cluster: "eu-1", fault: { kind: "degraded", revision: "app:v3" } }] });
    await release("app:v2");
    await world.until("v2", () => world.app("a").status?.history?.length === 2 && isLive(world.app("a")));
    await release("app:v3");
    await world.until("v3", () => health() === "Degraded");
    await world.pass(600_000);
    expect(health()).toBe("Degraded");
    await release("app:v4");
    await world.until("v4", () => isLive(world.app("a")));
  });

  it("(10) stays Progressing until the fault is taken back", async () => {
    await live();
    world.argo.setFault("eu-1", { kind: "stuck" });
    await release("app:v2");
    await world.until("Progressing", () => health() === "Progressing");
    await world.pass(900_000);
    expect(health()).toBe("Progressing");
    world.argo.setFault("eu-1", null);
    await world.until("Healthy", () => isLive(world.app("a")));
  });

  it("flaps as often as it was told", async () => {
    await live();
    world.argo.setFault("eu-1", { kind: "flap", times: 2, period: 4000 });
    await release("app:v2");
    await world.pass(120_000);
    expect(course((app) => app.status?.health?.status).slice(-6)).toEqual([
      "Progressing",
      "Healthy",
      "Degraded",
      "Healthy",
      "Degraded",
      "Healthy",
    ]);
  });

  it("(11) waits Suspended until it is resumed", async () => {
    await live();
    world.argo.setFault("eu-1", { kind: "suspended" });
    await release("app:v2");
    await world.until("Suspended", () => health() === "Suspended");
    await world.pass(60_000);
    world.argo.resume("eu-1");
    await world.until("Healthy", () => isLive(world.app("a")));
  });

  it("(12) an unreachable cluster stays Synced, Healthy and Successful, and no sync gets to it", async () => {
    await live();
    world.argo.setFault("eu-1", { kind: "unreachable" });
    const before = world.app("a").status?.reconciledAt;
    await world.until("a comparison", () => world.app("a").status?.reconciledAt !== before);
    expect(world.app("a").status).toMatchObject({ sync: { status: "Synced" }, health: { status: "Healthy" } });
    expect(world.argo.clusters()[0]?.info.connectionState.status).toBe("Successful");
    const head = await release("app:v2");
    await world.until("the sync fails", () => (world.app("a").status?.operationState?.retryCount ?? 0) > 0);
    expect(world.app("a").status).toMatchObject({ sync: { status: "OutOfSync", revision: head }, health: { status: "Healthy" } });
    world.argo.setFault("eu-1", null);
    await world.until("v2 is live", () => world.app("a").status?.operationState?.phase === "Succeeded" && isLive(world.app("a")));
  });

  it("(12) one that Argo CD has noticed to be unreachable is Unknown to sync, and as Healthy as it was", async () => {
    await live();
    world.argo.setFault("eu-1", { kind: "unreachable", noticed: true });
    await world.until("Unknown", () => world.app("a").status?.sync?.status === "Unknown");
    expect(health()).toBe("Healthy");
    expect(world.app("a").status?.conditions?.[0]?.type).toBe("ComparisonError");
    expect(world.argo.clusters().map(({ name, info }) => [name, info.connectionState.status])).toEqual([
      ["eu-1", "Failed"],
      ["us-1", "Unknown"],
    ]);
    const head = await release("app:v2");
    await world.pass(60_000);
    expect([world.app("a").status?.sync?.revision, world.app("a").status?.sync?.status]).toEqual([head, "Unknown"]);
    world.argo.setFault("eu-1", null);
    await world.until("v2 is live", () => world.app("a").status?.operationState?.syncResult?.revision === head && isLive(world.app("a")));
  });

  it("(8) retries with back-off, then gives the revision up until there is another", async () => {
    await live({ faults: [{ cluster: "eu-1", fault: { kind: "sync-failed", revision: "app:v2" } }] });
    const head = await release("app:v2");
    await world.until("the wait before a retry", () => (world.app("a").status?.operationState?.retryCount ?? 0) > 0);
    const { operation, status } = world.app("a");
    expect(status?.operationState).toMatchObject({ phase: "Running", retryCount: 1, finishedAt: expect.any(String) });
    expect(operation).toBeDefined();
    await world.until("failure", () => phase() === "Failed");
    expect(world.app("a").status?.operationState?.message).toMatch(/\(retried 5 times\)\.$/);
    await world.until("the condition", () => world.app("a").status?.conditions !== undefined);
    expect(world.app("a").status?.conditions?.[0]).toMatchObject({
      type: "SyncError",
      message: expect.stringContaining(`Failed last sync attempt to [${head}]`),
    });
    const { operationState } = world.app("a").status ?? {};
    await world.pass(900_000);
    expect(world.app("a").status?.operationState).toEqual(operationState);
    await release("app:v3");
    await world.until("v3 is live", () => isLive(world.app("a")));
    expect(world.app("a").status?.conditions).toBeUndefined();
  });

  it("backs off 5 s, doubling, to 3 min by default", () => {
    expect([0, 1, 2, 5, 9].map((count) => backoffMs(undefined, count))).toEqual([5000, 10_000, 20_000, 160_000, 180_000]);
    expect(backoffMs({ backoff: { duration: "1m", factor: 3, maxDuration: "2m" } }, 1)).toBe(120_000);
  });

  it.each(["autosync-off", "window-closed"] as const)("(9) %s: OutOfSync without a word, until it is over", async (kind) => {
    await live();
    world.argo.setFault("eu-1", { kind });
    await release("app:v2");
    await world.until("OutOfSync", () => world.app("a").status?.sync?.status === "OutOfSync");
    await world.pass(900_000);
    expect([world.app("a").status?.sync?.status, world.app("a").operation, world.app("a").status?.conditions]).toEqual([
      "OutOfSync",
      undefined,
      undefined,
    ]);
    world.argo.setFault("eu-1", null);
    await world.until("the sync", () => isLive(world.app("a")));
  });

  it("(9) without auto-sync only an operation that somebody asks for syncs", async () => {
    world = await testWorld(FILES, { clusters: [{ name: "eu-1" }] });
    world.create("a", { syncPolicy: {} });
    await world.pass(600_000);
    expect(world.app("a").status).toMatchObject({ sync: { status: "OutOfSync" }, health: { status: "Missing" } });
    world.edit("a", (app) => ({ ...app, operation: { sync: {}, initiatedBy: { username: "admin" } } }));
    await world.until("the sync", () => isLive(world.app("a")));
    expect(world.app("a").status?.history?.[0]?.initiatedBy).toEqual({ username: "admin" });
  });

  it("(18) heals a drift after a back-off that grows", async () => {
    await live({}, { syncPolicy: { automated: { selfHeal: true } } });
    const first = world.clock.now();
    world.argo.drift("a");
    await world.until("OutOfSync", () => world.app("a").status?.sync?.status === "OutOfSync");
    await world.until("healed", () => isLive(world.app("a")));
    expect(world.clock.now() - first).toBeGreaterThan(1900);
    expect(world.app("a").status?.operationState?.operation.sync?.autoHealAttemptsCount).toBe(1);
  });

  it("(18) leaves a drift alone where self-heal is off", async () => {
    await live();
    world.argo.drift("a");
    await world.pass(600_000);
    expect(world.app("a").status?.sync?.status).toBe("OutOfSync");
  });

  it("follows a script: faults come and go at their times", async () => {
    await live({ faults: [{ cluster: "eu-1", at: 60_000, until: 120_000, fault: { kind: "degraded", scope: "now" } }] });
    await world.until("Degraded", () => health() === "Degraded");
    await world.until("Healthy", () => isLive(world.app("a")));
  });

  it("a slow cluster takes its time", async () => {
    await live({ faults: [{ cluster: "eu-1", fault: { kind: "slow", factor: 50 } }] });
    const from = world.clock.now();
    await release("app:v2");
    await world.until(
      "v2",
      () => world.app("a").status?.history?.length === 2 && isLive(world.app("a")) && world.argo.liveHealth("a") === "Healthy",
    );
    await world.until("settled", () => world.clock.now() - from > 15_000);
    expect(course((app) => app.status?.health?.status).at(-1)).toBe("Healthy");
  });

  it("(12) keeps an Application that is deleted while its cluster is away", async () => {
    world = await testWorld(FILES, { clusters: [{ name: "eu-1" }] });
    world.create("a", {}, { finalizers: ["resources-finalizer.argocd.argoproj.io"] });
    await world.until("live", () => isLive(world.app("a")));
    world.argo.setFault("eu-1", { kind: "unreachable" });
    world.kubernetes.store.delete("applications", "argocd", "a");
    await world.until("the error", () => world.app("a").status?.conditions?.some(({ type }) => type === "DeletionError") === true);
    world.argo.setFault("eu-1", null);
    await world.until("it is gone", () => world.kubernetes.store.get("applications", "argocd", "a") === undefined);
  });
});
