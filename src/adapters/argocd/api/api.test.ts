import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hasCode } from "../../../core/base/reason.ts";
import { fastClock } from "../../../sim/clock.ts";
import type { ControlPlane } from "../port.ts";
import { applicationSet, named, until } from "../testing/contract.ts";
import { apiHarness } from "../testing/harness.ts";
import { ROLLOUT_VIEW, rawProject, rawReplicaSet, rawRollout } from "../testing/rollout.ts";
import { type ApiOptions, openApiPlane } from "./index.ts";

type Harness = Awaited<ReturnType<typeof apiHarness>>;
const log = { info: () => undefined, warn: () => undefined };
const TUNING = { staleMs: 0, maxBackoffMs: 20, clustersMs: 50, random: () => 0 };
const READER = ["applications", "applicationsets", "clusters"].map((what) => `p, r, ${what}, get, *, allow`);

let harness: Harness;
let plane: ControlPlane | undefined;
let server: Server | undefined;
beforeEach(async () => {
  harness = await apiHarness();
});
afterEach(async () => {
  await plane?.close();
  plane = undefined;
  server?.close();
  server?.closeAllConnections();
  server = undefined;
  await harness.close();
});

function options(): ApiOptions {
  const { url, ca, token, clock } = harness;
  return { name: "hub", url, ca, token, clock, log, tuning: TUNING };
}

function opened(over: Partial<ApiOptions> = {}): ControlPlane {
  plane = openApiPlane({ ...options(), ...over });
  return plane;
}

async function ready(over: Partial<ApiOptions> = {}): Promise<ControlPlane> {
  const known = opened(over);
  await known.ready();
  return known;
}

/** Another server on loopback, without TLS; returns its address. */
async function serving(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("who is let in", () => {
  test("a token in a file is read again, so that it may be rotated", async () => {
    const folder = await mkdtemp(join(tmpdir(), "stagecoach-test-"));
    const tokenFile = join(folder, "token");
    await writeFile(tokenFile, `${harness.token}\n`);
    const known = await ready({ tokenFile });
    harness.revoke();
    await until(known, () => !known.state().fresh);
    await writeFile(tokenFile, harness.api.addAccount("bot", READER));
    await until(known, () => known.state().fresh);
    await rm(folder, { recursive: true });
  });

  test("a token that is missing, empty or odd is named without being quoted", async () => {
    for (const [over, words] of [
      [{ tokenFile: "/nowhere/token" }, /token in \/nowhere\/token cannot be read \(ENOENT\)/],
      [{ token: " " }, /the token is empty/],
      [{ token: "hunter2\nx: y" }, /something that is not a token/],
    ] as const) {
      const known = opened(over);
      const refusal = known.ready();
      await expect(refusal).rejects.toThrow(words);
      await expect(refusal).rejects.not.toThrow(/hunter2/);
      await known.close();
    }
  });

  test.each([
    ["argocd.example.com", /not a URL/],
    ["http://argocd.example.com", /unencrypted/],
    ["https://me:hunter2@argocd.example.com", /holds a password/],
    ["ftp://argocd.example.com", /begin with https/],
  ])("%s is no address to send a token to", (url, words) => {
    expect(() => opened({ url })).toThrow(words);
  });

  test("a redirect is not followed with the token", async () => {
    let asked = "";
    const url = await serving((request, response) => {
      asked += request.headers.authorization;
      response.writeHead(307, { location: "https://elsewhere.example.com/" }).end();
    });
    await expect(opened({ url }).ready()).rejects.toThrow(/redirects to https:\/\/elsewhere/);
    expect(asked).toContain(harness.token);
  });

  test("the page of a login is no list", async () => {
    const url = await serving((_, response) => response.end("<!doctype html><title>Login</title>"));
    const known = opened({ url });
    await until(known, () => hasCode(known.state().why, "NO_ARGOCD_LIST"));
    expect(known.state().fresh).toBe(false);
  });

  test("who may get no Application sees an empty list, which is said to say nothing", async () => {
    await harness.put(named("a"));
    const token = harness.api.addAccount("r", ["p, r, applicationsets, get, *, allow"]);
    await expect(opened({ token }).ready()).rejects.toThrow(/applications: forbidden.*p, ACCOUNT, applications, get/);
  });

  test("an Argo CD without Applications is a fresh one", async () => {
    const known = await ready();
    expect([known.applications(), known.state().fresh]).toEqual([[], true]);
  });

  test("only the wished projects are looked at", async () => {
    await harness.put(named("a"));
    await harness.put({ ...named("b"), spec: { project: "other", destination: {} } });
    expect((await ready({ projects: ["other"] })).applications().map(({ name }) => name)).toEqual(["b"]);
  });

  test("who may get no cluster has those that the Applications name", async () => {
    await harness.put(named("a"));
    const token = harness.api.addAccount("r", READER.slice(0, 2));
    expect((await ready({ token })).clusters()).toEqual([
      { name: "eu-1.example.com", server: "https://eu-1.example.com", labels: {}, registered: true, derived: "server" },
    ]);
  });
});

describe("what it asks for", () => {
  test("the state of the clusters' connections", async () => {
    await harness.addCluster("eu-1", "https://eu-1.example.com", {}, "x");
    const known = await ready();
    expect(known.clusters()[0]?.connection?.status).toBe("Unknown");
    await harness.put(named("a"));
    await until(known, () => known.clusters()[0]?.connection?.status === "Successful");
  });

  test("ApplicationSets from time to time, where Argo CD has no stream of them", async () => {
    const url = await serving((request, response) => {
      if (request.url?.startsWith("/api/v1/stream/applicationsets")) response.writeHead(404).end("{}");
      else harness.api.handle(request, response);
    });
    const known = await ready({ url, clock: fastClock(2000) });
    await harness.put(applicationSet("payments"));
    await until(known, () => known.applicationSet("argocd", "payments") !== undefined);
    expect(known.state().fresh).toBe(true);
  });

  test("a stream before the list, so that nothing falls in between", async () => {
    await harness.put(named("a"));
    let lists = 0;
    const url = await serving((request, response) => {
      harness.api.handle(request, response);
      // Right after the list was made, and before anybody could have read it.
      const isList = request.url?.startsWith("/api/v1/applications?") || request.url === "/api/v1/applications";
      if (isList && lists++ === 0) void harness.put({ ...named("a"), status: { health: { status: "Degraded" } } });
    });
    const known = await ready({ url });
    await until(known, () => known.application("argocd", "a")?.status.health.status === "Degraded");
    expect(harness.api.requests().get("GET /api/v1/applications")).toBe(1);
  });

  test("what a refresh shows is known at once", async () => {
    await harness.put(named("a"));
    const known = await ready();
    harness.silence(true);
    await harness.put({ ...named("a"), status: { health: { status: "Degraded" } } });
    expect(await known.refresh?.("argocd", "a")).toBe("asked");
    expect(known.application("argocd", "a")?.status.health.status).toBe("Degraded");
  });
});

test("a refresh that fails says why, and the line to grant where it is forbidden", async () => {
  await harness.put(named("a"));
  let refuses = false;
  const url = await serving((request, response) => {
    if (refuses && request.url?.includes("refresh=normal")) response.writeHead(502).end("bad gateway");
    else harness.api.handle(request, response);
  });
  const known = await ready({ url });
  refuses = true;
  expect(await known.refresh?.("argocd", "a")).toEqual({ failed: expect.toHaveCode("HOST_STATUS", { status: 502 }) });
  const folder = await mkdtemp(join(tmpdir(), "stagecoach-test-"));
  const tokenFile = join(folder, "token");
  await writeFile(tokenFile, harness.token);
  const rotated = openApiPlane({ ...options(), tokenFile });
  await rotated.ready();
  await writeFile(tokenFile, harness.api.addAccount("bot", READER.slice(1)));
  expect(await rotated.refresh?.("argocd", "a")).toEqual({
    failed: expect.toHaveCode("GRANT_WANTED", { grant: "p, ACCOUNT, applications, get, default/*, allow" }),
  });
  await rotated.close();
  await rm(folder, { recursive: true });
});

describe("Rollouts", () => {
  const ref = { namespace: "payments", name: "api" };
  const target = { namespace: "argocd", name: "a" };
  const stored = () => harness.sim.store.get("rollouts", "payments", "api");
  beforeEach(async () => {
    await harness.put(named("a"));
    await harness.put(rawReplicaSet());
    await harness.put(rawRollout("a"));
  });

  test("are shown as kubectl's plugin shows them", async () => {
    const known = await ready();
    expect(await known.rollouts?.("argocd", "a")).toEqual([ROLLOUT_VIEW]);
    expect(await known.rollouts?.("argocd", "none")).toBe("unavailable");
  });

  test("are all shown or none: of too many it is said how many there are", async () => {
    const known = await ready();
    for (let i = 1; i < 60; i++) await harness.put(rawRollout("a", "payments", `api-${i}`));
    expect(await known.rollouts?.("argocd", "a")).toHaveLength(60);
    for (let i = 60; i < 101; i++) await harness.put(rawRollout("a", "payments", `api-${i}`));
    expect(await known.rollouts?.("argocd", "a")).toEqual({ tooMany: 101 });
  });

  test("are not written to unless that is configured", async () => {
    expect((await ready()).runAction).toBeUndefined();
  });

  test("are resumed, and only while they are paused", async () => {
    const token = harness.api.addAccount("r", [...READER, "p, r, applications, action/argoproj.io/Rollout/*, default/*, allow"]);
    const known = await ready({ token, allowRolloutActions: true });
    expect(await known.runAction?.(target, ref, "retry")).toMatchObject({
      kind: "notOffered",
      why: expect.toHaveCode("ACTION_NOT_OFFERED", { rollout: "payments/api" }),
    });
    expect(await known.runAction?.(target, ref, "resume")).toEqual({ kind: "done" });
    expect(stored()?.["status"]).not.toHaveProperty("pauseConditions");
    expect(await known.runAction?.(target, ref, "resume")).toMatchObject({ kind: "notOffered" });
    expect(await known.runAction?.(target, ref, "promote-full")).toEqual({ kind: "done" });
    expect(await known.runAction?.(target, ref, "abort")).toEqual({ kind: "done" });
    expect(stored()?.["status"]).toMatchObject({ promoteFull: true, abort: true });
    expect(await known.runAction?.(target, ref, "retry")).toEqual({ kind: "done" });
    expect(stored()?.["status"]).not.toHaveProperty("abort");
  });

  test("an action that the account may not run is forbidden, with the line to grant it", async () => {
    const token = harness.api.addAccount("r", READER);
    const known = await ready({ token, allowRolloutActions: true });
    expect(await known.runAction?.(target, ref, "resume")).toMatchObject({
      kind: "forbidden",
      why: expect.toHaveCode("GRANT_WANTED"),
    });
    expect(stored()?.["status"]).toHaveProperty("pauseConditions");
    expect(await known.runAction?.(target, { ...ref, name: "none" }, "resume")).toMatchObject({ kind: "failed" });
  });
});

describe("sync windows", () => {
  const windows = [{ kind: "allow", schedule: "0 0 1 * *", duration: "1h", applications: ["a"], timeZone: "Asia/Tokyo" }];
  beforeEach(async () => {
    await harness.put(named("a"));
    await harness.put(rawProject(windows));
  });

  test("tell when they open next, in the time zone that the project says", async () => {
    const seen = await (await ready()).syncWindows?.("argocd", "a");
    expect(seen).toEqual({
      open: false,
      opensAt: "2026-11-30T15:00:00.000Z",
      windows: [{ kind: "allow", schedule: "0 0 1 * *", duration: "1h", timeZone: "Asia/Tokyo", manualSync: false }],
    });
  });

  test("without the right to get the project tell that they are closed, and no time", async () => {
    const token = harness.api.addAccount("r", READER);
    const blind = await (await ready({ token })).syncWindows?.("argocd", "a");
    expect(blind).toMatchObject({ open: false });
    expect(blind?.opensAt).toBeUndefined();
  });

  test("of an Application that is not there cannot be seen", async () => {
    expect(await (await ready()).syncWindows?.("argocd", "none")).toBeUndefined();
  });
});
