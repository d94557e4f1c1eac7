import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Octokit } from "@octokit/rest";
import { expect, test } from "vitest";
import { answerOf, forgeError, whyUnreached } from "./errors.ts";

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

async function failure(baseUrl: string): Promise<unknown> {
  return await new Octokit({ baseUrl, log: SILENT }).request("GET /app").then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** GitHub as a server that answers 500 to all, while `ask` runs; its port is nobody's afterwards. */
async function withServer<T>(ask: (url: string) => Promise<T>): Promise<{ url: string; got: T }> {
  const server = createServer((_request, response) => void response.writeHead(500).end("{}"));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const got = await ask(url);
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  return { url, got };
}

test("an answer of 500 is one, and where nobody listens nobody answered", async () => {
  const { url, got } = await withServer(failure);
  expect([answerOf(got)?.status, whyUnreached(got)]).toEqual([500, undefined]);
  const nobody = await failure(url);
  expect([answerOf(nobody), whyUnreached(nobody)]).toEqual([undefined, "connection refused"]);
  expect(forgeError(nobody)).toMatchObject({ kind: "Unavailable", status: 0 });
});

test("what is no request's error is not told as one", () => {
  expect(whyUnreached(Object.assign(new Error("listen"), { code: "EADDRINUSE" }))).toBeUndefined();
  expect(whyUnreached(Object.assign(new Error("no cause"), { status: 500 }))).toBeUndefined();
  expect(whyUnreached("text")).toBeUndefined();
});
