import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { closeServer, listenOn } from "../../src/surfaces/server/deliveries/http.ts";
import { boundConnections, openRefusals } from "../../src/surfaces/server/deliveries/strangers.ts";
import { createMetrics } from "../../src/surfaces/server/telemetry/metrics.ts";
import { type Journey, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

interface Asked {
  from: string;
  method?: string;
  body?: string;
  headers?: Record<string, string>;
}

/** As an ingress passes it on, which says whose request it is. */
function ask(url: string, { from, method = "GET", body = "", headers = {} }: Asked): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = body === "" ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const sent = request(url, { method, headers: { "x-forwarded-for": from, ...length, ...headers } }, (answer) => {
      answer.resume();
      answer.once("close", () => resolve(answer.statusCode ?? 0));
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

async function flood(times: number, one: () => Promise<number>): Promise<Map<number, number>> {
  const seen = new Map<number, number>();
  for (let at = 0; at < times; at++) {
    const status = await one();
    seen.set(status, (seen.get(status) ?? 0) + 1);
  }
  return seen;
}

test("the door for GitHub is flooded with deliveries that are not signed, or falsely", async () => {
  const warned: object[] = [];
  const log = { debug: () => undefined, info: () => undefined, warn: (fields: object) => void warned.push(fields), error: () => undefined };
  journey = await startJourney({ bot: () => ({ log }) });
  const url = `${journey.bot.url}/api/github/webhooks`;
  const { webhookSecret } = journey.world;
  const body = JSON.stringify({ zen: "x", hook_id: 1 });
  const deliver = (from: string, secret?: string) => {
    const signature =
      secret === undefined ? {} : { "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` };
    const headers = { "content-type": "application/json", "x-github-event": "ping", "x-github-delivery": randomUUID(), ...signature };
    return ask(url, { from, method: "POST", body, headers });
  };
  // An ingress that says nobody's address has brought a true one: what strangers bring through it is read, for it may be GitHub's.
  expect(await deliver("", webhookSecret)).toBe(200);
  for (const secret of [undefined, "guessed"]) {
    const from = `203.0.113.${secret === undefined ? 1 : 2}`;
    expect(await flood(100, () => deliver(from, secret))).toEqual(
      new Map([
        [400, 30],
        [429, 70],
      ]),
    );
    expect(await deliver(from, webhookSecret)).toBe(429);
    expect(await deliver("192.0.2.7", webhookSecret)).toBe(200);
  }
  expect(await flood(100, () => deliver("", "guessed"))).toEqual(new Map([[400, 100]]));
  expect(await deliver("", webhookSecret)).toBe(200);
  expect(warned.length).toBeLessThanOrEqual(60);
});

test("the door inside is flooded: the page, its files, the login, the API, its lines", async () => {
  journey = await startJourney({ bot: () => ({ inside: { host: "127.0.0.1", port: 0 }, anonymous: "Everywhere" as const }) });
  const { insideUrl } = journey.bot;
  const paths = ["/", "/page.js", "/page.css", "/login", "/api/v1/me", "/api/v1/fleet", "/api/v1/openapi.json", "/api/v1/versions"];
  let at = 0;
  const seen = await flood(1_300, () => ask(`${insideUrl}${paths[at++ % paths.length]}`, { from: "203.0.113.1" }));
  expect(seen.get(429)).toBe(100);
  expect(await ask(`${insideUrl}/api/v1/events`, { from: "203.0.113.1" })).toBe(429);
  expect(await ask(`${insideUrl}/logout`, { from: "203.0.113.1", method: "POST" })).toBe(429);
  // Nobody else is kept out; and whether the process is well is told to everybody.
  expect(await ask(`${insideUrl}/`, { from: "203.0.113.2" })).toBe(200);
  expect(await flood(1_300, () => ask(`${insideUrl}/healthz`, { from: "203.0.113.1" }))).toEqual(new Map([[200, 1_300]]));
});

test("the metrics are asked for without end: they are worked out for a fifth of the time", async () => {
  let now = 0;
  const metrics = createMetrics({ version: "1", names: "Rollouts", most: 10, now: () => now });
  let reads = 0;
  metrics.watch({
    ...{ now: () => 0, standing: () => [], repositories: () => ({ served: 0, suspended: 0 }), planes: [] },
    queue: () => ({ due: 0, running: 0, longestMs: 0 }),
    runs() {
      reads += 1;
      now += 100;
      return [];
    },
  });
  const answer = () =>
    new Promise<void>((resolve, reject) => {
      metrics.answer({ writeHead: () => ({ end: () => resolve() }) } as never).catch(reject);
    });
  for (let at = 0; at < 2_000; at++) {
    now += 10;
    await answer();
  }
  // Two seconds of work at once, then a fifth of the time.
  expect(reads * 100).toBeLessThanOrEqual(2_100 + now / 5);
  expect(reads).toBeGreaterThan(40);
});

test("connections are held open until no other can be made: the oldest goes", async () => {
  const server = createServer((_, response) => response.end("ok"));
  boundConnections(server, 20);
  const url = await listenOn(server, 0, "127.0.0.1");
  const held = Array.from({ length: 20 }, () => connect(Number(new URL(url).port), "127.0.0.1"));
  await Promise.all(held.map((socket) => once(socket, "connect")));
  const ended = held.map((socket) => once(socket, "close"));
  for (let at = 0; at < 20; at++) expect((await fetch(url, { headers: { connection: "close" } })).status).toBe(200);
  await Promise.race(ended);
  for (const socket of held) socket.destroy();
  await closeServer(server);
});

test("whoever sent a true delivery is read for an hour; a minute later everybody is again", () => {
  let now = 0;
  const { isOver, took, refused } = openRefusals(() => now);
  const from = (address: string) => ({ headers: {}, socket: { remoteAddress: address } }) as never;
  for (let at = 0; at < 30; at++) expect([isOver(from("a")), refused(from("a"))]).toEqual([false, 0]);
  expect([isOver(from("a")), isOver(from("b"))]).toEqual([true, false]);
  now = 60_000;
  expect(isOver(from("a"))).toBe(false);
  took(from("b"));
  for (let at = 0; at < 40; at++) refused(from("b"));
  expect(isOver(from("b"))).toBe(false);
  now += 3_600_000;
  for (let at = 0; at < 30; at++) refused(from("b"));
  expect(isOver(from("b"))).toBe(true);
  for (let at = 0; at < 30; at++) refused(from("b"));
  expect(refused(from("b"))).toBeUndefined();
  now += 60_000;
  expect(refused(from("b"))).toBe(1);
});
