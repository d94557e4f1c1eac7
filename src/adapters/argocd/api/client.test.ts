import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { manualClock } from "../../../../test/support/manual-clock.ts";
import { askFor } from "../../outbound/asker.ts";
import { HostDown, openBreakers } from "../../outbound/breaker.ts";
import { statusOf } from "../wire/http.ts";
import { argoClient } from "./client.ts";

const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** An Argo CD that answers each path as said, else with `{}`. */
async function argocd(answers: (path: string, response: ServerResponse) => boolean | undefined, token = "t") {
  const server = createServer(({ url = "" }, response) => {
    if (answers(url.replace("/api/v1", ""), response) !== true) response.end("{}");
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = argoClient({ url, token }, openBreakers(manualClock(0)));
  closing.push(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  const ask = (path: string, totalMs?: number) => client.get(`/api/v1${path}`, {}, totalMs === undefined ? {} : { totalMs });
  return { ask, server };
}

const refuse = (response: ServerResponse, status: number) => {
  response.writeHead(status).end(JSON.stringify({ message: "rpc error" }));
  return true;
};
const five = ["a", "b", "c", "d", "e"];

test("a repository whose five Applications do not render, are too large or too slow keeps nobody else off Argo CD", async () => {
  const { ask } = await argocd((path, response) => {
    if (path.endsWith("/slow/manifests")) return true;
    if (path.endsWith("/large/managed-resources")) {
      response.end(Buffer.alloc((16 << 20) + 1, " "));
      return true;
    }
    return /\/(manifests|managed-resources|resource)$/.test(path) ? refuse(response, 503) : undefined;
  });
  const outcomes = new Set<unknown>();
  const failing = async (path: string, totalMs?: number) => {
    const error: unknown = await ask(path, totalMs).catch((thrown: unknown) => thrown);
    outcomes.add((error as { reason?: { code: string } }).reason?.code ?? error);
  };
  for (const what of ["manifests", "managed-resources", "resource"])
    for (const name of five) await failing(`/applications/${name}/${what}`);
  for (let n = 0; n < 6; n++) await failing("/applications/slow/manifests", 20);
  for (let n = 0; n < 6; n++) await failing("/applications/large/managed-resources");
  expect([...outcomes]).toEqual(["PROGRAM_SAYS", "HOST_SILENT", "ANSWER_TOO_LARGE"]);
  await expect(ask("/applications/other")).resolves.toEqual({});
});

test("a repository whose Applications cannot be read keeps nobody else off Argo CD; several repositories do", async () => {
  const { ask } = await argocd((path, response) => (path.startsWith("/applications/ill") ? refuse(response, 503) : undefined));
  await askFor("acme/well", () => ask("/clusters"));
  for (const n of five) await askFor("acme/ill", () => ask(`/applications/ill${n}`)).catch(statusOf);
  await expect(askFor("acme/well", () => ask("/applications/well"))).resolves.toEqual({});
  for (const n of five) await askFor(`acme/${n}`, () => ask(`/applications/ill${n}`)).catch(statusOf);
  await expect(askFor("acme/well", () => ask("/applications/well"))).rejects.toThrow(HostDown);
});

test("one Application that fails alone is its own trouble; several, or a host that takes no connection, are Argo CD's", async () => {
  const { ask } = await argocd((path, response) => (path.startsWith("/applications/ill") ? refuse(response, 503) : undefined));
  await ask("/applications/well");
  for (let n = 0; n < 9; n++) expect(await ask("/applications/ill").catch(statusOf)).toBe(503);
  await ask("/clusters");
  for (const n of five) await ask(`/applications/ill${n}`).catch(statusOf);
  await expect(ask("/clusters")).rejects.toThrow(HostDown);

  const gone = await argocd(() => undefined);
  gone.server.close();
  for (const n of five) await gone.ask(`/applications/${n}/manifests`).catch(statusOf);
  await expect(gone.ask("/clusters")).rejects.toThrow(HostDown);
});

test("what a host says of a refusal is one line, without the token that it was sent", async () => {
  const token = "header.payload.signature";
  const { ask } = await argocd((path, response) => {
    const says = { message: `no to Bearer ${token}\n::error::${token}` };
    response.writeHead(path === "/moved" ? 302 : 403, { Location: `https://elsewhere.example/?t=${token}` }).end(JSON.stringify(says));
    return true;
  }, token);
  const said = async (path: string) => (await ask(path).catch((thrown: unknown) => thrown)) as { reason?: object };
  expect((await said("/refused")).reason).toEqual({ code: "PROGRAM_SAYS", message: "no to Bearer [token] ::error::[token]" });
  expect((await said("/moved")).reason).toMatchObject({ code: "HOST_REDIRECTS", to: "https://elsewhere.example/?t=[token]" });
});
