import { afterEach, describe, expect, it } from "vitest";
import { type TestWorld, testWorld } from "./testing/world.ts";
import type { Application } from "./types.ts";

const FILES = { "app/deployment.yaml": "image: app:v1\n" };
const REFRESH = "argocd.argoproj.io/refresh";

let world: TestWorld;
afterEach(() => world.close());

const isLive = (app: Application) =>
  app.status?.sync?.status === "Synced" && app.status.health?.status === "Healthy" && app.operation === undefined;

async function two(): Promise<void> {
  world = await testWorld(FILES, { clusters: [{ name: "eu-1" }, { name: "us-1" }] });
  world.create("a");
  world.create("b", { destination: { name: "us-1", namespace: "app" } });
  await world.until("both are live", () => isLive(world.app("a")) && isLive(world.app("b")));
}

async function release(image: string): Promise<string> {
  const head = await world.repo.commit({ "app/deployment.yaml": `image: ${image}\n` });
  world.argo.notifyPush({ repoURLs: [world.repo.url], ref: "refs/heads/main" });
  return head;
}

const ask = (name: string) =>
  world.edit(name, (app) => ({ ...app, metadata: { ...app.metadata, annotations: { ...app.metadata.annotations, [REFRESH]: "normal" } } }));

describe("shards of the embedded Argo CD's controller", () => {
  it("(21) a busy shard sees a commit minutes after the others", async () => {
    await two();
    world.argo.setFault("us-1", { kind: "late", by: 200_000 });
    const head = await release("app:v2");
    await world.until("the other has it", () => world.app("a").status?.sync?.revision === head && isLive(world.app("a")));
    expect(world.app("b").status?.sync?.revision).not.toBe(head);
    const from = world.clock.now();
    await world.until("the late one has it", () => world.app("b").status?.sync?.revision === head);
    expect(world.clock.now() - from).toBeGreaterThan(100_000);
  });

  it("(21) a shard that is down leaves the status as it is, while the workload lives on; started again it catches up", async () => {
    await two();
    world.argo.setFault("us-1", [{ kind: "controller-down" }, { kind: "degraded", scope: "now" }]);
    const before = world.app("b").status;
    const head = await release("app:v2");
    await world.pass(900_000);
    expect([world.app("b").status, world.argo.liveHealth("b")]).toEqual([before, "Degraded"]);
    expect(world.app("a").status?.sync?.revision).toBe(head);
    world.argo.setFault("us-1", null);
    await world.until("it caught up", () => world.app("b").status?.sync?.revision === head && isLive(world.app("b")));
  });

  it("(21) an operation that a restart cuts off is gone on with, and had applied nothing", async () => {
    await two();
    await release("app:v2");
    await world.until("it runs", () => world.app("a").status?.operationState?.phase === "Running");
    const { startedAt } = world.app("a").status?.operationState ?? {};
    const was = world.argo.truth("a")?.content;
    world.argo.setControllersDown(true);
    await world.pass(600_000);
    expect([world.app("a").status?.operationState?.phase, world.argo.truth("a")?.content]).toEqual(["Running", was]);
    world.argo.setControllersDown(false);
    await world.until("it is live", () => world.argo.truth("a")?.content !== was && isLive(world.app("a")));
    expect(world.app("a").status?.operationState?.startedAt).toBe(startedAt);
  });

  it("(16) argo-cd#28306: a refresh asked for while a comparison runs is lost with its end", async () => {
    await two();
    world.argo.setFault("eu-1", [{ kind: "refresh-lost" }, { kind: "slow", factor: 3000 }]);
    ask("a");
    await world.pass(1000);
    const head = await world.repo.commit({ "app/deployment.yaml": "image: app:v2\n" });
    world.edit("a", (app) => ({ ...app, metadata: { ...app.metadata, annotations: { [REFRESH]: "hard" } } }));
    await world.until("the annotation is gone", () => world.app("a").metadata.annotations?.[REFRESH] === undefined);
    await world.pass(60_000);
    expect(world.app("a").status?.sync?.revision).not.toBe(head);
    await world.until("the poll finds it", () => world.app("a").status?.sync?.revision === head);
  });

  it("(13) a repository that cannot be reached leaves the status old and green for its time of grace, then says so", async () => {
    await two();
    world.argo.setRepoDown(true);
    await world.repo.commit({ "app/deployment.yaml": "image: app:v2\n" });
    const since = Date.parse(world.app("a").status?.reconciledAt ?? "");
    await world.until("the condition", () => world.app("a").status?.conditions?.[0]?.type === "ComparisonError");
    expect(world.clock.now() - since).toBeGreaterThan(180_000);
    const errors = world.states("a").filter(({ status }) => status?.conditions !== undefined);
    expect(errors[0]?.status?.sync?.status).toBe("Unknown");
  });

  it("skip-reconcile on an Application or on its cluster's Secret leaves it alone", async () => {
    await two();
    const annotations = { "argocd.argoproj.io/skip-reconcile": "true" };
    world.edit("a", (app) => ({ ...app, metadata: { ...app.metadata, annotations } }));
    const head = await release("app:v2");
    await world.until("the other has it", () => world.app("b").status?.sync?.revision === head);
    await world.pass(600_000);
    expect(world.app("a").status?.sync?.revision).not.toBe(head);
    world.edit("a", (app) => ({ ...app, metadata: { ...app.metadata, annotations: {} } }));
    await world.until("it is looked at again", () => world.app("a").status?.sync?.revision === head);
  });
});
