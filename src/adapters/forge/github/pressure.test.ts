import { Octokit } from "@octokit/rest";
import { describe, expect, it } from "vitest";
import type { ForgeError } from "../port.ts";
import { openGitHubForge } from "./index.ts";
import { openPressure } from "./pressure.ts";

interface Told {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
}

const NOW = 1_800_000_000_000;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** A GitHub that says what it is told to, and time that passes only in sleeps. */
function world() {
  let now = NOW;
  const sleeps: number[] = [];
  const sent: string[] = [];
  const next: Told = {};
  const fetch = async (url: string) => {
    sent.push(new URL(url).pathname);
    return new Response(JSON.stringify(next.body ?? []), {
      status: next.status ?? 200,
      headers: { "content-type": "application/json", ...next.headers },
    });
  };
  const octokit = new Octokit({ log: quiet, request: { fetch } });
  const gauge = openPressure({
    now: () => now,
    sleep: async (ms) => {
      sleeps.push(ms);
      now += ms;
    },
  });
  gauge.watch(octokit);
  const rate = (remaining: number, limit = 5000, resource = "core") => {
    next.headers = {
      "x-ratelimit-remaining": String(remaining),
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-reset": String(NOW / 1000 + 600),
      "x-ratelimit-resource": resource,
    };
  };
  const ask = () => octokit.request("GET /repos/a/b/pulls");
  const graphql = () => octokit.graphql("{ viewer { login } }");
  /** Until when nothing is sent, as who asks is told. */
  const silentUntil = async (): Promise<number> => {
    const refused = (await ask().catch((error: unknown) => error)) as ForgeError;
    expect(refused).toMatchObject({ kind: "RateLimited" });
    return refused.retryAt ?? 0;
  };
  return { octokit, graphql, left: gauge.rate, silentUntil, sleeps, sent, next, rate, ask, pass: (ms: number) => (now += ms) };
}

describe("near the hour's limit", () => {
  it("requests are spread over what is left of it", async () => {
    const { rate, ask, sleeps, left } = world();
    expect(left()).toBeUndefined();
    rate(4000);
    await ask();
    await ask();
    expect(sleeps).toEqual([]);
    rate(300);
    await ask();
    await ask();
    await ask();
    expect(sleeps).toEqual([2000, 1994]);
    expect(left()).toEqual({ remaining: 300, limit: 5000, resetAt: NOW + 600_000 });
  });

  it("ten at once go one behind the other, and never longer apart than 5 seconds", async () => {
    const { rate, ask, sleeps } = world();
    rate(2);
    await ask();
    await Promise.all([ask(), ask(), ask()]);
    expect(sleeps).toEqual([5000, 5000, 5000]);
  });

  it("it ends with the hour", async () => {
    const { rate, ask, sleeps } = world();
    rate(300);
    await ask();
    rate(4990);
    await ask();
    await ask();
    expect(sleeps).toHaveLength(1);
  });

  it("a merge does not wait: its intention runs out", async () => {
    const { rate, ask, octokit, sleeps } = world();
    rate(300);
    await ask();
    await octokit.request("PUT /repos/a/b/pulls/1/merge");
    expect(sleeps).toEqual([]);
  });

  it("GraphQL's own limit is another one, and slows only what asks by GraphQL", async () => {
    const { rate, ask, graphql, left, sleeps } = world();
    rate(100, 5000, "graphql");
    await graphql();
    await ask();
    expect([sleeps, left()]).toEqual([[], undefined]);
    await graphql();
    expect(sleeps).toEqual([5000]);
  });

  it("nothing is sent once nothing is left, until the hour is over", async () => {
    const { rate, ask, octokit, sent, pass } = world();
    rate(0);
    await ask();
    for (const request of [ask, () => octokit.request("PUT /repos/a/b/pulls/1/merge")])
      await expect(request()).rejects.toMatchObject({ kind: "RateLimited", retryAt: NOW + 600_000 });
    expect(sent.length).toBe(1);
    pass(600_001);
    await ask();
    expect(sent.length).toBe(2);
  });
});

const SECONDARY = { message: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again." };

describe("GitHub asks for silence", () => {
  it("nothing is sent until it is over, and who asks is told when that is", async () => {
    const { next, ask, graphql, sent, pass } = world();
    Object.assign(next, { status: 403, headers: { "retry-after": "60" } });
    await expect(ask()).rejects.toMatchObject({ status: 403 });
    next.status = 200;
    await expect(ask()).rejects.toMatchObject({ kind: "RateLimited", retryAt: NOW + 60_000 });
    await expect(graphql()).rejects.toMatchObject({ kind: "RateLimited" });
    expect(sent.length).toBe(1);
    pass(60_001);
    delete next.headers;
    await ask();
    expect(sent.length).toBe(2);
  });

  it("that the hour is used up says until when, without retry-after", async () => {
    const { next, rate, ask, graphql, sent } = world();
    rate(0);
    next.status = 403;
    await expect(ask()).rejects.toMatchObject({ status: 403 });
    Object.assign(next, { status: 200, headers: {} });
    await expect(ask()).rejects.toMatchObject({ kind: "RateLimited", retryAt: NOW + 600_000 });
    await graphql();
    expect(sent).toEqual(["/repos/a/b/pulls", "/graphql"]);
  });

  it("where it does not say how long, for a minute, and twice as long each time it says so again", async () => {
    const { next, ask, sent, silentUntil, pass } = world();
    const waits: number[] = [];
    let now = NOW;
    for (let time = 0; time < 8; time++) {
      Object.assign(next, { status: 403, body: SECONDARY });
      await Promise.allSettled([ask(), ask(), ask()]);
      const until = await silentUntil();
      waits.push((until - now) / 60_000);
      now = pass(until - now);
    }
    expect([sent.length, waits]).toEqual([24, [1, 2, 4, 8, 16, 32, 60, 60]]);
    Object.assign(next, { status: 200, body: [] });
    await ask();
    Object.assign(next, { status: 429, body: {} });
    await expect(ask()).rejects.toMatchObject({ status: 429 });
    expect((await silentUntil()) - now).toBe(60_000);
  });

  it("by GraphQL it says so with status 200; REST goes on where only GraphQL's hour is used up", async () => {
    const { next, rate, ask, graphql, sent } = world();
    rate(0, 5000, "graphql");
    next.body = { data: null, errors: [{ type: "RATE_LIMITED", message: "API rate limit exceeded for installation ID 7." }] };
    await expect(graphql()).rejects.toThrow();
    await expect(graphql()).rejects.toMatchObject({ kind: "RateLimited", retryAt: NOW + 600_000 });
    next.headers = {};
    await ask();
    expect(sent).toEqual(["/graphql", "/repos/a/b/pulls"]);
  });

  it("by GraphQL without a time it is a minute for everything", async () => {
    const { next, ask, graphql, sent } = world();
    next.body = { data: null, errors: [{ message: SECONDARY.message }] };
    await expect(graphql()).rejects.toThrow();
    for (const request of [ask, graphql]) await expect(request()).rejects.toMatchObject({ kind: "RateLimited", retryAt: NOW + 60_000 });
    expect(sent).toHaveLength(1);
  });

  it("an error of one field is none", async () => {
    const { next, graphql, sent } = world();
    next.body = { data: { repository: null }, errors: [{ type: "NOT_FOUND", message: "Could not resolve to a Repository" }] };
    for (let time = 0; time < 2; time++) await expect(graphql()).rejects.toThrow();
    expect(sent).toHaveLength(2);
  });

  it("a refusal for want of permission is no such wish", async () => {
    const { next, ask } = world();
    next.status = 403;
    await expect(ask()).rejects.toMatchObject({ status: 403 });
    next.status = 200;
    await ask();
  });
});

it("an installation's limits are those of all its repositories", async () => {
  const headers = {
    "content-type": "application/json",
    "x-ratelimit-remaining": "10",
    "x-ratelimit-limit": "5000",
    "x-ratelimit-reset": String(Math.ceil(Date.now() / 1000) + 1),
  };
  const octokit = new Octokit({ log: quiet, request: { fetch: async () => new Response("[]", { headers }) } });
  const [one, two] = ["a/one", "a/two"].map((repository) => openGitHubForge({ octokit, repository }));
  await one?.openPulls();
  expect(two?.rate?.()).toMatchObject({ remaining: 10, limit: 5000 });
});
