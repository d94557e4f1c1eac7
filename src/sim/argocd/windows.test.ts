import { afterEach, describe, expect, it } from "vitest";
import type { SyncWindow } from "./api/windows.ts";
import { type TestWorld, testWorld } from "./testing/world.ts";
import type { Application } from "./types.ts";

const FILES = { "app/deployment.yaml": "image: app:v1\n" };
/** Every day from 03:00 for an hour. */
const NIGHT: SyncWindow = { kind: "allow", schedule: "0 3 * * *", duration: "1h", clusters: ["eu-1"] };

let world: TestWorld;
afterEach(() => world.close());

const isLive = (app: Application) =>
  app.status?.sync?.status === "Synced" && app.status.health?.status === "Healthy" && app.operation === undefined;
const state = () => world.app("a").status?.operationState;

async function live(): Promise<void> {
  world = await testWorld(FILES, { clusters: [{ name: "eu-1" }] });
  world.create("a");
  await world.until("the first sync", () => isLive(world.app("a")));
}

async function release(image: string): Promise<string> {
  const head = await world.repo.commit({ "app/deployment.yaml": `image: ${image}\n` });
  world.argo.notifyPush({ repoURLs: [world.repo.url], ref: "refs/heads/main" });
  return head;
}

/** A deny window from `inMs` from now on, by a schedule of whole minutes. */
function denyIn(inMs: number, more: Partial<SyncWindow> = {}): SyncWindow {
  const at = new Date(world.clock.now() + inMs);
  return { kind: "deny", schedule: `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`, duration: "5m", applications: ["a"], ...more };
}

const untilMinute = () => world.pass(60_000 - (world.clock.now() % 60_000) + 1000);

describe("sync windows of AppProjects in the embedded Argo CD", () => {
  it("(9) outside of the only window that allows nothing is synced, and the status says nothing of it; inside it is", async () => {
    await live();
    world.argo.setSyncWindows("default", [NIGHT]);
    await release("app:v2");
    await world.until("OutOfSync", () => world.app("a").status?.sync?.status === "OutOfSync");
    await world.pass(600_000);
    expect([world.app("a").operation, world.app("a").status?.conditions]).toEqual([undefined, undefined]);
    const hour = 3_600_000;
    const wait = (3 * hour - (world.clock.now() % (24 * hour)) + 24 * hour) % (24 * hour);
    await world.pass(wait + 300_000);
    expect(isLive(world.app("a"))).toBe(true);
  });

  it("windows of other Applications do not matter", async () => {
    await live();
    world.argo.setSyncWindows("default", [{ ...NIGHT, applications: ["b*"], clusters: [] }]);
    const head = await release("app:v2");
    await world.until("it is live", () => state()?.syncResult?.revision === head && isLive(world.app("a")));
  });

  it("argo-cd#29307: a sync that runs when a window closes is held in Running, and ends once it is open", async () => {
    await live();
    await untilMinute();
    world.argo.setFault("eu-1", { kind: "slow", factor: 900 });
    await release("app:v2");
    await world.until("it runs", () => state()?.phase === "Running");
    world.argo.setSyncWindows("default", [denyIn(0)]);
    await world.until("it is held", () => state()?.message === "Sync operation blocked by sync window");
    expect([state()?.phase, state()?.finishedAt]).toEqual(["Running", undefined]);
    world.argo.setFault("eu-1", null);
    await world.pass(120_000);
    await world.until("it is open again and done", () => state()?.phase === "Succeeded" && isLive(world.app("a")));
  });

  it("a window with syncOverrun lets a sync that runs end", async () => {
    await live();
    await untilMinute();
    world.argo.setFault("eu-1", { kind: "slow", factor: 900 });
    await release("app:v2");
    await world.until("it runs", () => state()?.phase === "Running");
    world.argo.setSyncWindows("default", [denyIn(0, { syncOverrun: true })]);
    await world.until("it ends", () => state()?.phase !== "Running");
    expect(state()?.phase).toBe("Succeeded");
  });

  it("a person may sync where the window lets them", async () => {
    await live();
    world.argo.setSyncWindows("default", [{ ...NIGHT, manualSync: true }]);
    const head = await release("app:v2");
    await world.until("OutOfSync", () => world.app("a").status?.sync?.status === "OutOfSync");
    world.edit("a", (app) => ({ ...app, operation: { sync: {}, initiatedBy: { username: "alice" } } }));
    await world.until("it is live", () => state()?.syncResult?.revision === head && isLive(world.app("a")));
  });
});
