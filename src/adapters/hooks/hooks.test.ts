import { createHmac } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import type { HookAnswer } from "../../core/run/state/hooks-types.ts";
import { type Answering, json, startAnswering } from "../analysis/testing.ts";
import { hookCaller } from "./caller.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function serve(answer: Answering["answer"]): Promise<Answering> {
  const server = await startAnswering(answer);
  open.push(() => server.close());
  return server;
}

const BODY = '{"specversion":"1.0","id":"payments/42/1/before/1/1"}';

/** Asks once, and gives the answer. */
async function ask(
  url: string,
  allow: string[],
  options: { secret?: string | undefined; timeoutMs?: number; traceparent?: string } = {},
): Promise<HookAnswer> {
  const { secret = "s3cret", timeoutMs = 5000, traceparent } = options;
  const caller = hookCaller({ policy: { allow }, secret: "secret" in options ? options.secret : secret, traceparent: () => traceparent });
  open.push(() => caller.close());
  const answered = new Promise<HookAnswer>((resolve) => {
    caller.onChange((key) => {
      const answer = caller.answer(key);
      if (answer !== undefined) resolve(answer);
    });
  });
  const request = { key: "a#1", id: "payments/42/1/before/1/1", url, timeoutMs, body: BODY, count: 1 };
  caller.call(request);
  caller.call(request);
  return answered;
}

describe("a hook's request", () => {
  test("is made once for a key, signed as GitHub signs its webhooks, with the event's id as idempotency key", async () => {
    const server = await serve((_, response) => response.writeHead(204).end());
    expect(await ask(`${server.url}/hook`, [server.host])).toEqual({ kind: "go", message: "" });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({
      method: "POST",
      body: BODY,
      headers: {
        "content-type": "application/cloudevents+json; charset=utf-8",
        "idempotency-key": "payments/42/1/before/1/1",
        "x-stagecoach-request": "1",
        "x-stagecoach-signature-256": `sha256=${createHmac("sha256", "s3cret").update(BODY).digest("hex")}`,
      },
    });
  });

  test("says which trace it belongs to, where there is one", async () => {
    const server = await serve((_, response) => response.writeHead(204).end());
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    await ask(`${server.url}/hook`, [server.host], { traceparent });
    await ask(`${server.url}/hook`, [server.host]);
    expect(server.requests.map(({ headers }) => headers["traceparent"])).toEqual([traceparent, undefined]);
  });

  test("is not made to a host that the server does not allow, nor unsigned", async () => {
    const server = await serve((_, response) => response.writeHead(204).end());
    const refused = await ask(server.url, ["*.example.com"]);
    expect(refused).toMatchObject({ kind: "error", again: false, message: { code: "OUTBOUND_NOT_LISTED", host: server.host } });
    const unsigned = await ask(server.url, [server.host], { secret: undefined });
    expect(unsigned).toMatchObject({ kind: "error", again: false, message: { code: "HOOK_SECRET_MISSING" } });
    expect(server.requests).toEqual([]);
  });

  test("is not made to a host that is another repository's", async () => {
    const server = await serve((_, response) => response.writeHead(204).end());
    const policy = { allow: [{ host: server.host, repositories: ["globex/*"] }] };
    const caller = hookCaller({ policy, secret: "s3cret" });
    open.push(() => caller.close());
    const called = async (key: string) => {
      const answered = new Promise<void>((resolve) => void caller.onChange((changed) => void (changed === key && resolve())));
      caller.call({ key, id: "i", url: server.url, timeoutMs: 5000, body: BODY, count: 1 });
      await answered;
      return caller.answer(key)?.kind;
    };
    expect([await called("acme/fleet:1"), await called("globex/config:1")]).toEqual(["error", "go"]);
    expect(server.requests).toHaveLength(1);
  });

  test("is given up where no answer comes in time", async () => {
    const server = await serve(() => undefined);
    expect(await ask(server.url, [server.host], { timeoutMs: 50 })).toMatchObject({ kind: "error", again: true });
  });

  test("and a listener that fails is told of, and ends nothing", async () => {
    const server = await serve((_, response) => response.writeHead(204).end());
    const told = new Promise<string>((resolve) => {
      const onError = (error: unknown, key: string) => resolve(`${key}: ${String(error)}`);
      const caller = hookCaller({ policy: { allow: [server.host] }, secret: "s3cret", onError });
      open.push(() => caller.close());
      caller.onChange(() => {
        throw new Error("the listener is broken");
      });
      caller.call({ key: "a#1", id: "a", url: server.url, timeoutMs: 5000, body: BODY, count: 1 });
    });
    expect(await told).toBe("a#1: Error: the listener is broken");
  });
});

describe("a hook's answer", () => {
  const html: Answering["answer"] = (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>");
  test.each<[string, Answering["answer"], Partial<HookAnswer>]>([
    ["continue", json({ action: "continue", message: "CHG-7" }), { kind: "go", message: "CHG-7" }],
    ["hold", json({ action: "hold", retryAfter: "5m", message: "two\nlines" }), { kind: "hold", forMs: 300_000, message: "two lines" }],
    ["hold without a time", json({ action: "hold" }), { kind: "hold", forMs: 60_000 }],
    ["hold for a moment", json({ action: "hold", retryAfter: 1 }), { kind: "hold", forMs: 30_000 }],
    ["hold for ever", json({ action: "hold", retryAfter: "999h" }), { kind: "hold", forMs: 3_600_000 }],
    ["hold for no duration", json({ action: "hold", retryAfter: "soon" }), { kind: "error", again: false }],
    ["fail", json({ action: "fail", message: "no" }), { kind: "fail", message: "no" }],
    ["an unknown action", json({ action: "explode" }), { kind: "error", again: false }],
    ["JSON without an action", json({ ok: true }), { kind: "error", again: false }],
    ["a JSON list", json([]), { kind: "error", again: false }],
    ["something 20,000 levels deep", json("[".repeat(20_000) + "]".repeat(20_000)), { kind: "error", again: false }],
    ["and beside its action", json(`{"action":"fail","x":${"[".repeat(20_000) + "]".repeat(20_000)}}`), { kind: "fail" }],
    ["a retryAfter of 60,000 digits", json({ action: "hold", retryAfter: `${"9".repeat(60_000)}h` }), { kind: "error", again: false }],
    ["HTML", html, { kind: "error", again: true, message: { code: "HOOK_ANSWER_NO_JSON", type: "text/html" } }],
    ["503", (_, response) => response.writeHead(503).end(), { kind: "error", again: true }],
    ["429", (_, response) => response.writeHead(429).end(), { kind: "error", again: true }],
    ["401", (_, response) => response.writeHead(401).end(), { kind: "error", again: false }],
    [
      "a redirect elsewhere",
      (_, response) => response.writeHead(307, { location: "http://169.254.169.254/" }).end(),
      { kind: "error", again: false },
    ],
    ["10 MB", json("x".repeat(10_000_000)), { kind: "error", again: false }],
  ])("%s", async (_name, answer, expected) => {
    const server = await serve(answer);
    expect(await ask(server.url, [server.host])).toMatchObject(expected);
  });

  test("a message is cut to 300 characters", async () => {
    const server = await serve(json({ action: "fail", message: "x".repeat(5000) }));
    const answer = await ask(server.url, [server.host]);
    expect(answer.message).toHaveLength(300);
  });
});
