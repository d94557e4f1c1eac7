import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { freePort } from "../../../../test/support/free-port.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { deliver } from "./door.ts";
import { startBotServer } from "./server.ts";

it.each([
  { what: "rejects", middleware: () => Promise.reject(new Error("no room")) },
  {
    what: "throws",
    middleware: () => {
      throw new Error("no room");
    },
  },
])("a delivery whose handling $what is answered with 500 and told in the log, and the process goes on", async ({ middleware }) => {
  const told: unknown[] = [];
  const log = { ...silentLog, error: (fields: object) => void told.push(fields) };
  const server = createServer((request, response) => deliver(request, response, log, middleware));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { method: "POST", body: "{}" });
    expect([answer.status, told]).toEqual([500, [{ error: "Error: no room" }]]);
  } finally {
    server.close();
  }
});

it("a start whose inside port is taken leaves no door open", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const [port, inside] = [await freePort(), { port: (taken.address() as AddressInfo).port, host: "127.0.0.1" }];
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const app = { appId: 1, webhookSecret: "a secret of the test", baseUrl: "http://127.0.0.1:1" };
  const start = startBotServer({
    app: { ...app, privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString() },
    ...{ log: silentLog, onEvent: () => true, state: () => "ready" as const, port, inside },
  });
  await expect(start).rejects.toThrow(/EADDRINUSE/);
  const again = createServer().listen(port, "127.0.0.1");
  await once(again, "listening");
  for (const server of [again, taken]) server.close();
});
