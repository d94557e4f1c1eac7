import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { silentLog } from "../../../engine/round/context.ts";
import { deliver } from "./http.ts";

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
