import { generateKeyPairSync } from "node:crypto";
import { Octokit } from "@octokit/rest";
import { ProbotOctokit } from "probot";
import { describe, expect, test } from "vitest";
import type { Forge, ForgeError } from "../port.ts";
import { openGitHubForge } from "./index.ts";
import { merger } from "./merge.ts";
import { standInLine, writeLanes } from "./merge-client.ts";
import type { OctokitLike } from "./octokit.ts";
import { openWritePacer } from "./write-pacer.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const HEAD = "h".repeat(40);
const MERGE = { number: 1, head: HEAD, base: "main", method: "squash", title: "A batch", message: "" } as const;
const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});

type Answer = { status: number; body: unknown; headers?: Record<string, string> };

/** An installation whose writes are paced as the bot's are, and a GitHub that answers everything. */
function paced(id: number, answer: (url: string) => Answer | undefined = () => undefined) {
  const sent: { name: string; at: number; token: string | null }[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    const { pathname } = new URL(url);
    sent.push({ name: `${init.method} ${pathname}`, at: performance.now(), token: new Headers(init.headers).get("authorization") });
    const { status, body, headers } = answer(pathname) ?? usual(pathname, init);
    return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
  };
  const auth = { appId: 1, privateKey, installationId: id };
  const limited = { onRateLimit: () => false, onSecondaryRateLimit: () => false };
  const octokit = new ProbotOctokit({
    auth,
    baseUrl: "https://api.example.com",
    log: quiet,
    request: { fetch },
    throttle: { enabled: true, id: String(id), retryLimiter: writeLanes(), ...limited },
    retry: { enabled: false },
  }) as unknown as OctokitLike;
  const forge = openGitHubForge({ octokit, repository: "acme/config" });
  return { forge, octokit, sent, names: () => sent.map(({ name }) => name) };
}

function usual(pathname: string, { body }: RequestInit): Answer {
  if (pathname.endsWith("/access_tokens"))
    return { status: 201, body: { token: "ghs_one", expires_at: new Date(Date.now() + 3_600_000).toISOString(), permissions: {} } };
  if (pathname.endsWith("/merge")) return { status: 200, body: { sha: "m".repeat(40), merged: true } };
  if (pathname !== "/graphql")
    return { status: 200, body: { id: 1, node_id: "PR_1", number: 1, merged: false, head: { sha: HEAD }, base: { ref: "main" } } };
  const queued = String(body).includes("enqueuePullRequest");
  return {
    status: 200,
    body: { data: queued ? { enqueuePullRequest: { mergeQueueEntry: { id: "Q", state: "QUEUED", position: 1 } } } : {} },
  };
}

/** Thirteen checks, of which one is sent and twelve stand in the installation's line. */
async function queueChecks({ octokit }: { octokit: OctokitLike }): Promise<void> {
  const checks = Array.from({ length: 13 }, (_, index) => {
    const update = { owner: "acme", repo: `config-${index}`, check_run_id: index + 1, status: "in_progress" } as const;
    return octokit.rest.checks.update(update);
  });
  for (const check of checks) check.catch(() => undefined);
  await checks[0];
}

function expectAhead(sent: { name: string; at: number }[], mine: (name: string) => boolean): void {
  const writes = sent.filter(({ name }) => !name.startsWith("GET") && !name.endsWith("/access_tokens"));
  const place = writes.findIndex(({ name }) => mine(name));
  expect(place).toBeGreaterThanOrEqual(1);
  expect(place).toBeLessThan(6);
  // A second, less what the sending itself takes on a busy machine.
  for (const [index, { at }] of writes.entries()) if (index > 0) expect(at - (writes[index - 1]?.at ?? 0)).toBeGreaterThan(500);
}

describe("behind twelve queued writes of its installation", () => {
  test("a merge is sent at once, a second after the write before it, with the same token", async () => {
    const world = paced(71);
    await world.forge.repo();
    await queueChecks(world);
    await expect(world.forge.mergePull(MERGE)).resolves.toEqual({ kind: "merged", commit: "m".repeat(40) });
    expectAhead(world.sent, (name) => name === "PUT /repos/acme/config/pulls/1/merge");
    expect(world.names().filter((name) => name.endsWith("/access_tokens"))).toHaveLength(1);
  });

  test("so is a request for a place in the merge queue", async () => {
    const world = paced(72);
    await world.forge.repo();
    await queueChecks(world);
    await expect(world.forge.enqueuePull(1, HEAD, "main")).resolves.toMatchObject({ kind: "queued" });
    expectAhead(world.sent, (name) => name === "POST /graphql");
  });
});

test("of a repository one write stands in the installation's line, so another's first goes before its second; what notifies has a place of its own", async () => {
  const line: (() => void)[] = [];
  const sent: string[] = [];
  const inLine = async (_state: object, request: (given: { url: string }) => void, given: { url: string }) => {
    await new Promise<void>((resolve) => line.push(resolve));
    request(given);
  };
  const lanes = writeLanes();
  const state = { id: "1", triggersNotification: (path: string) => path.endsWith("/comments") };
  const write = (name: string, more = {}) => {
    const [, repo, , what = ""] = /^(\w+)( (\w+))?$/.exec(name) ?? [];
    const given = { method: "POST", url: `/repos/acme/${repo}/${what || "check-runs"}`, ...more };
    return lanes.schedule(inLine, state, () => void sent.push(name), given);
  };
  const all = [..."12345"].map(() => write("noisy"));
  all.push(write("noisy comments"), write("other"), write("noisy", { request: { sendBy: 1 } }));
  await new Promise(setImmediate);
  const first = line.length;
  for (; line.length > 0; await new Promise(setImmediate)) line.shift()?.();
  await Promise.all(all);
  expect([first, sent]).toEqual([4, ["noisy", "noisy", "noisy comments", "other", "noisy", "noisy", "noisy", "noisy"]]);
});

test("a question of GraphQL does not wait behind writes, nor a write behind it", async () => {
  const world = paced(75);
  await world.forge.repo();
  await queueChecks(world);
  for (let n = 0; n < 5; n++) await world.octokit.graphql("query Asked { viewer { login } }");
  await expect(world.forge.mergePull(MERGE)).resolves.toMatchObject({ kind: "merged" });
  await world.octokit.graphql(" query Asked { viewer { login } }");
  // One a second: behind them all thirteen would have been sent, and behind as many questions as writes most of them.
  expect(world.names().filter((name) => name.includes("/check-runs/")).length).toBeLessThan(6);
});

test("the look at the base right before a merge is part of the time in which it is sent or not at all", async () => {
  let now = 0;
  const left: number[] = [];
  const get = async () => {
    now += 3000;
    return { data: { base: { ref: "main" } } };
  };
  const merge = async ({ request }: { request: { sendBy: number } }) => {
    left.push(request.sendBy - now);
    return { data: { sha: "m".repeat(40) } };
  };
  const octokit = { rest: { pulls: { get, merge } } } as unknown as OctokitLike;
  const client = { octokit, soon: () => ({ retries: 0 as const, sendBy: now + 4000 }) };
  const merged = await merger({ octokit, owner: "acme", repo: "config" }, async () => client)(MERGE);
  expect([merged.kind, left]).toEqual(["merged", [1000]]);
});

test("a merge counts in the installation's limits, and is not sent while GitHub wants silence", async () => {
  const tooMuch = { status: 403, body: { message: "You have exceeded a secondary rate limit." }, headers: { "retry-after": "90" } };
  const { forge, names } = paced(73, (url) => (url.endsWith("/merge") ? tooMuch : undefined));
  await expect(forge.mergePull(MERGE)).resolves.toMatchObject({ kind: "retry" });
  const before = names().length;
  const refused = await forge.openPulls().catch((error: unknown) => error);
  expect(refused).toMatchObject({ kind: "RateLimited", retryAt: expect.any(Number) });
  expect((refused as ForgeError).retryAt).toBeGreaterThan(Date.now() + 80_000);
  await expect(forge.mergePull(MERGE)).resolves.toMatchObject({ kind: "retry" });
  expect(names()).toHaveLength(before);
});

test("GraphQL's own limit, told with status 200, is one with pacing as well", async () => {
  const reset = String(Math.ceil(Date.now() / 1000) + 600);
  const headers = {
    "x-ratelimit-remaining": "0",
    "x-ratelimit-limit": "5000",
    "x-ratelimit-reset": reset,
    "x-ratelimit-resource": "graphql",
  };
  const errors = [{ type: "RATE_LIMITED", message: "API rate limit exceeded" }];
  const { forge, names } = paced(74, (url) => (url === "/graphql" ? { status: 200, body: { data: null, errors }, headers } : undefined));
  const refused = { kind: "RateLimited", retryAt: Number(reset) * 1000 };
  await expect(mergeQueueOf(forge)).rejects.toMatchObject(refused);
  const before = names().length;
  await expect(mergeQueueOf(forge)).rejects.toMatchObject(refused);
  expect(names()).toHaveLength(before);
  await forge.repo();
});

const mergeQueueOf = async (forge: Forge) => forge.mergeQueue?.("main");

describe("a call that is to be sent soon", () => {
  /** An Octokit whose sends stand in a line that others are in already, and what became of them. */
  async function send(inTime: boolean, fetch: (url: string, init: RequestInit) => Promise<Response>, answeredWithinMs?: number) {
    const octokit = new Octokit({ log: quiet, request: { fetch } });
    standInLine(octokit, { ...openWritePacer(), turn: async () => inTime }, answeredWithinMs);
    return octokit.request("PUT /repos/a/b/pulls/1/merge", { request: { sendBy: 1 } });
  }

  test("is cut off so long after it was sent", async () => {
    const hangs = (_url: string, { signal }: RequestInit) =>
      new Promise<Response>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    await expect(send(true, hangs, 20)).rejects.toThrow(/timeout/);
  });

  test("is not sent where its time is over, which says so", async () => {
    let sent = 0;
    const counts = async () => {
      sent += 1;
      return new Response("{}");
    };
    await expect(send(false, counts)).rejects.toThrow("not sent: other merges of the installation go first");
    expect(sent).toBe(0);
  });
});
