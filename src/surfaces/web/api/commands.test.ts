import { describe, expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import type { CommentAsked } from "../../../adapters/forge/github/comment-as.ts";
import type { Sight } from "../../../adapters/forge/github/token-sight.ts";
import { ForgeError } from "../../../adapters/forge/port.ts";
import { said } from "../../../core/reasons/run.ts";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { commandText } from "../../server/comments/write-command.ts";
import type { WebSource } from "../source.ts";
import { apiApp } from "./routes.ts";
import { undescribed } from "./testing/described.ts";

const AT = Date.parse("2026-11-21T09:04:00.000Z");
const ROLLOUT = "/api/v1/repos/acme/config/rollouts/payments";
const FROM = { socket: { remoteAddress: "127.0.0.1" }, headers: {} as Record<string, string> };
const PAUSED: Partial<Run> = {
  phase: "Paused",
  why: said("us-1 failed"),
  paused: { kind: "Failure", by: "", reason: said("us-1 failed"), at: "2026-11-21T09:03:00.000Z", ask: said("Comment /retry.") },
};

interface Sent {
  headers?: Record<string, string>;
  body?: unknown;
  path?: string;
}

function world(more: Partial<WebSource> = {}, permission: Sight = { permission: "write" }) {
  let run = sampleRun();
  let now = AT;
  const comments: { id: number; body: string; login: string; pull: number }[] = [];
  const fail: { write?: Error; afterwards?: Error } = {};
  const meanwhile: { asked?: () => void } = {};
  const found = ({ login, mark }: CommentAsked) => comments.find((one) => one.login === login && one.body.endsWith(mark));
  const url = (id: number) => `https://github.example/c/${id}`;
  const commentAs: NonNullable<WebSource["commentAs"]> = {
    textOf: commandText,
    async find(asked) {
      meanwhile.asked?.();
      const one = found(asked);
      return one && { ...one, url: url(one.id) };
    },
    async write({ login, mark, pull }, text) {
      if (fail.write !== undefined) throw fail.write;
      const one = { id: 100 + comments.length, body: `${text}\n\n${mark}`, login, pull };
      comments.push(one);
      if (fail.afterwards !== undefined) throw fail.afterwards;
      return { ...one, url: url(one.id) };
    },
  };
  const source: WebSource = {
    runs: () => [{ repository: "acme/config", run }],
    onChange: () => () => undefined,
    sightOf: async (_, repository) => (repository === "acme/config" ? permission : "unseen"),
    loginOf: async (token) => ({ login: token.split("_")[1] ?? "" }),
    commentAs,
    ...more,
  };
  const open = () => apiApp(source, { now: () => now, after: () => () => undefined });
  let app = open();
  const here = (headers: Record<string, string>) => ({ incoming: { ...FROM, headers } });
  const as = (headers: Record<string, string>) => ({ authorization: "Bearer ghp_alice_0123", ...headers });
  const look = async () => (await (await app.request(ROLLOUT, { headers: as({}) }, here({}))).json()) as RunDocument;
  return {
    comments,
    fail,
    meanwhile,
    look,
    restart: () => (app = open()),
    pass: (ms: number) => (now += ms),
    change: (next: Partial<Run>) => (run = sampleRun(next)),
    async give(body: unknown, { headers = {}, path = `${ROLLOUT}/runs/42/commands` }: Sent = {}) {
      const all = as({ "content-type": "application/json", "idempotency-key": "key-0000001", ...headers });
      const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
      const sent = { method: "POST", headers: given, body: typeof body === "string" ? body : JSON.stringify(body) };
      const response = await app.request(path, sent, here(given));
      expect(await undescribed(path, response)).toBe(undefined);
      const answered = (await response.json()) as { code?: string; detail?: string; comment?: string; url?: string };
      return { status: response.status, ...answered };
    },
  };
}

describe("a command given through the API", () => {
  test("is written as its giver's comment on the release PR, with its reason, and answered with where it stands", async () => {
    const { give, look, comments } = world();
    const answered = await give({ verb: "pause", args: [], reason: "errors\n/abort", seen: (await look()).seen });
    expect(answered).toMatchObject({ status: 202, comment: "100", url: "https://github.example/c/100", pull: 10 });
    expect(comments).toMatchObject([
      { login: "alice", pull: 10, body: expect.stringMatching(/^\/pause --rollout payments errors \/abort\n\n<!--/) },
    ]);
  });

  test("is one comment, however often it is sent with one key: at once, later, after a restart, and where the answer was lost", async () => {
    const { give, look, comments, restart, fail, change } = world();
    const command = { verb: "pause", args: [], seen: (await look()).seen };
    fail.afterwards = new ForgeError("Unavailable", 0, "cut");
    expect(await give(command)).toMatchObject({ status: 503, code: "UNAVAILABLE" });
    delete fail.afterwards;
    const both = await Promise.all([give(command), give(command)]);
    expect(both.map(({ status, comment }) => [status, comment])).toEqual([
      [202, "100"],
      [202, "100"],
    ]);
    restart();
    // It has been done by now, so it could not be given again.
    change(PAUSED);
    expect(await give(command)).toMatchObject({ status: 202, comment: "100" });
    expect(comments).toHaveLength(1);
    expect(await give({ ...command, reason: "other" })).toMatchObject({ status: 400, code: "BAD_REQUEST" });
  });

  test("stands on the pull request of the batch that it is about, and of no other", async () => {
    const { give, look, comments, change } = world();
    const bake = { from: "2026-11-21T09:03:00.000Z", until: "2026-11-21T09:30:00.000Z", restarts: 0 };
    change({ batches: sampleRun().batches.map((batch) => (batch.number === 2 ? { ...batch, phase: "Baking" as const, bake } : batch)) });
    const { actions, seen } = await look();
    const promote = { verb: "promote", args: [], seen };
    expect(actions.find(({ verb }) => verb === "promote")?.pull).toBe(12);
    for (const pull of [undefined, 11, 10]) expect(await give({ ...promote, pull })).toMatchObject({ code: "MOVED" });
    expect(await give({ ...promote, pull: 12 })).toMatchObject({ status: 202, pull: 12 });
    expect(comments.map(({ pull }) => pull)).toEqual([12]);
  });

  test("is not written where something happened since that it goes by, and is where only time went by", async () => {
    const { give, look, comments, change, pass } = world();
    const { seen } = await look();
    change(PAUSED);
    expect(await give({ verb: "rollback", args: [], seen })).toMatchObject({
      ...{ status: 409, code: "MOVED", detail: "us-1 failed. Comment /retry" },
    });
    expect(await give({ verb: "rollback", args: [], seen }, { path: `${ROLLOUT}/runs/41/commands` })).toMatchObject({ code: "MOVED" });
    const now = (await look()).seen;
    pass(60_000);
    expect(comments).toEqual([]);
    expect(await give({ verb: "rollback", args: [], seen: now })).toMatchObject({
      status: 403,
      detail: "/rollback needs maintain, and you have write",
    });
    expect(await give({ verb: "abort", args: [], seen: now }, { headers: { "idempotency-key": "key-0000002" } })).toMatchObject({
      status: 202,
    });
  });

  test("is not written where it moved while GitHub was asked", async () => {
    const { give, look, comments, change, meanwhile } = world();
    const { seen } = await look();
    meanwhile.asked = () => change(PAUSED);
    expect(await give({ verb: "abort", args: [], seen })).toMatchObject({ status: 409, code: "MOVED" });
    expect(comments).toEqual([]);
  });

  test.each<[string, object, string]>([
    ["what would be refused", { verb: "resume", args: [] }, "REFUSED"],
    ["what is not offered", { verb: "halt", args: ["everything"] }, "REFUSED"],
    ["another cluster than is offered", { verb: "skip", args: ["eu-1"] }, "REFUSED"],
    ["an unknown command", { verb: "merge", args: [] }, "BAD_REQUEST"],
    ["words of its own", { verb: "pause", args: ["--rollout", "other"] }, "REFUSED"],
    ["more than a command has", { verb: "pause", args: [], flags: {} }, "BAD_REQUEST"],
  ])("%s is not written", async (_, command, code) => {
    const { give, look, comments } = world();
    expect(await give({ ...command, seen: (await look()).seen })).toMatchObject({ code });
    expect(comments).toEqual([]);
  });

  test.each<[string, Sent, number]>([
    ["no token", { headers: { authorization: "" } }, 403],
    ["no key", { headers: { "idempotency-key": "" } }, 400],
    ["a key that is none", { headers: { "idempotency-key": "a b" } }, 400],
    ["a form", { headers: { "content-type": "text/plain" } }, 415],
    ["a body without end", { body: { verb: "pause", args: [], seen: "", reason: "x".repeat(20_000) } }, 413],
    ["no JSON", { body: "{" }, 400],
    ["a run to come", { path: `${ROLLOUT}/runs/43/commands` }, 404],
    ["another's repository", { path: "/api/v1/repos/acme/other/rollouts/payments/runs/42/commands" }, 404],
    ["a rollout that is not there", { path: `${ROLLOUT}-2/runs/42/commands` }, 404],
  ])("with %s nothing is written", async (_, sent, status) => {
    const { give, look, comments } = world();
    const command = { verb: "pause", args: [], seen: (await look()).seen };
    expect((await give(sent.body ?? command, sent)).status).toBe(status);
    expect(comments).toEqual([]);
  });

  test.each([
    ["Unauthorized", 401, "UNAUTHENTICATED"],
    ["Forbidden", 403, "FORBIDDEN"],
    ["NotFound", 403, "FORBIDDEN"],
    ["RateLimited", 429, "TOO_MANY_REQUESTS"],
    ["Unavailable", 503, "UNAVAILABLE"],
  ] as const)("where GitHub says %s that is said, without GitHub's words", async (kind, status, code) => {
    const { give, look, fail } = world();
    fail.write = new ForgeError(kind, 403, "secret words");
    const answered = await give({ verb: "pause", args: [], seen: (await look()).seen });
    expect([answered.status, answered.code, JSON.stringify(answered).includes("secret")]).toEqual([status, code, false]);
  });

  test("who gives too many is told to slow down", async () => {
    const { give, look } = world();
    const { seen } = await look();
    const codes: (string | undefined)[] = [];
    for (let index = 0; index < 21; index++)
      codes.push((await give({ verb: "pause", args: [], seen }, { headers: { "idempotency-key": `key-000000${index}` } })).code);
    expect([codes.slice(0, 20).filter(Boolean), codes[20]]).toEqual([[], "TOO_MANY_REQUESTS"]);
  });
});

describe("the visitor of a world on this machine", () => {
  const visitor = { login: async () => "you", token: () => "ghp_you_0123" };
  const page = {
    authorization: "",
    host: "127.0.0.1:9",
    origin: "http://127.0.0.1:9",
    "sec-fetch-site": "same-origin",
    "stagecoach-page": "1",
  };

  test("acts by the page itself", async () => {
    const { give, look, comments } = world({ visitor });
    expect(await give({ verb: "pause", args: [], seen: (await look()).seen }, { headers: page })).toMatchObject({ status: 202 });
    expect(comments.map(({ login }) => login)).toEqual(["you"]);
  });

  test.each<[string, Record<string, string>]>([
    ["another page", { origin: "https://evil.example" }],
    ["another page on this machine", { origin: "http://127.0.0.1:8" }],
    ["another page, as the browser says", { "sec-fetch-site": "cross-site" }],
    ["a page of the same site", { "sec-fetch-site": "same-site" }],
    ["a page without an origin", { origin: "null" }],
    ["a form", { "stagecoach-page": "" }],
    ["a program", { origin: "" }],
    ["a name that somebody lets point here", { host: "evil.example:9" }],
    ["another machine", { "x-forwarded-for": "203.0.113.9", via: "proxy" }],
  ])("does nothing for %s", async (_, headers) => {
    const { give, look, comments } = world({ visitor });
    const answered = await give({ verb: "pause", args: [], seen: (await look()).seen }, { headers: { ...page, ...headers } });
    expect([401, 403]).toContain(answered.status);
    expect(comments).toEqual([]);
  });
});
