import { createHmac, generateKeyPairSync } from "node:crypto";
import { connect, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { silentLog } from "../../../engine/round/context.ts";
import { openBodies } from "./door.ts";
import { type BotServer, startBotServer, WEBHOOK_PATH } from "./server.ts";

type Request = Parameters<ReturnType<typeof openBodies>["read"]>[0];

/** A request whose bytes come when the test says so. */
function sender(bodies: ReturnType<typeof openBodies>) {
  const stream = new PassThrough();
  const read = bodies.read(stream as unknown as Request);
  return { stream, read, sends: (count: number) => new Promise<void>((resolve) => stream.write("x".repeat(count), () => resolve())) };
}

describe("bodies that arrive", () => {
  test("one that fits is read whole, and takes room until nobody needs it", async () => {
    const bodies = openBodies(10);
    const one = sender(bodies);
    one.stream.end("ümlaut");
    const body = await one.read;
    expect(body).toMatchObject({ text: "ümlaut" });
    const other = sender(bodies);
    await other.sends(4);
    expect(await other.read).toBe("crowded");
    if (typeof body !== "string") body.done();
    const next = sender(bodies);
    next.stream.end("xxxxxxxx");
    expect(await next.read).toMatchObject({ text: "xxxxxxxx" });
  });

  test("where there is no room, the one that has been coming for longest goes, not the newcomer", async () => {
    const bodies = openBodies(10);
    const [first, second, third] = [sender(bodies), sender(bodies), sender(bodies)];
    await first.sends(5);
    await second.sends(5);
    third.stream.end("abc");
    expect([await first.read, await third.read]).toEqual(["crowded", expect.objectContaining({ text: "abc" })]);
    second.stream.end();
    expect(await second.read).toMatchObject({ text: "xxxxx" });
  });

  test("whoever goes away takes what they sent with them", async () => {
    const bodies = openBodies(10);
    const one = sender(bodies);
    await one.sends(9);
    one.stream.destroy();
    expect(await one.read).toBe("gone");
    const other = sender(bodies);
    other.stream.end("xxxxxxxx");
    expect(await other.read).toMatchObject({ text: "xxxxxxxx" });
  });
});

describe("the door for deliveries", () => {
  const SECRET = "the secret of this test";
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  let server: BotServer;
  let heard: string[];
  const sockets: Socket[] = [];

  beforeEach(async () => {
    heard = [];
    const app = { appId: 1, privateKey, webhookSecret: SECRET };
    server = await startBotServer({ app, log: silentLog, onEvent: ({ name }) => void heard.push(name), state: () => "ready" });
  });

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.close();
  });

  /** A delivery that announces more than it sends. Resolves once what it sends is on its way. */
  async function announce(length: number, start: string): Promise<Socket> {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    sockets.push(socket.on("error", () => undefined));
    const headers = ["Host: x", "Content-Type: application/json", "X-GitHub-Event: push", "X-GitHub-Delivery: evil"];
    const head = [`POST ${WEBHOOK_PATH} HTTP/1.1`, ...headers, "X-Hub-Signature-256: sha256=00", `Content-Length: ${length}`];
    await new Promise<void>((resolve) => socket.write(`${head.join("\r\n")}\r\n\r\n${start}`, () => resolve()));
    return socket;
  }

  function deliver(text: string): Promise<Response> {
    const body = JSON.stringify({ action: "created", text });
    const signature = `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
    const headers = { "x-github-event": "issue_comment", "x-github-delivery": `good-${text.length}`, "x-hub-signature-256": signature };
    return fetch(`${server.url}${WEBHOOK_PATH}`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
  }

  test("what strangers merely announce keeps no delivery out, small or large", async () => {
    for (let count = 0; count < 5; count++) await announce(25 * 1024 * 1024, "{");
    expect((await deliver("small")).status).toBe(200);
    expect((await deliver("x".repeat(20 * 1024 * 1024))).status).toBe(200);
    expect(heard).toEqual(["issue_comment", "issue_comment"]);
  });

  test("what strangers really send and do not end keeps none out either: theirs are dropped", async () => {
    const most = 1024 * 1024;
    const ended: Promise<void>[] = [];
    for (let count = 0; count < 33; count++) {
      const socket = await announce(most, "x".repeat(most - 1));
      ended.push(new Promise((resolve) => void socket.once("close", () => resolve()).resume()));
    }
    expect((await deliver("small")).status).toBe(200);
    await Promise.race(ended);
    expect(heard).toEqual(["issue_comment"]);
  });

  test("one that is not signed is refused without being read", async () => {
    const headers = { "content-type": "application/json", "x-github-event": "push", "x-github-delivery": "unsigned" };
    const answer = await fetch(`${server.url}${WEBHOOK_PATH}`, { method: "POST", headers, body: "{}" });
    expect([answer.status, heard]).toEqual([400, []]);
  });
});
