import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { askedBy, askFor } from "../../../adapters/outbound/asker.ts";
import { openOctokits } from "./octokits.ts";

const server = createServer((request, response) => {
  const isToken = request.url?.endsWith("/access_tokens") === true;
  const token = { token: "t", expires_at: "2099-01-01T00:00:00Z", permissions: {}, repository_selection: "all" };
  const installation = { id: 5, account: { login: "acme", type: "Organization" }, permissions: { contents: "write" } };
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(isToken ? token : installation));
});
afterEach(() => void server.close());

test("whatever is asked for a repository is sent as that one's, though all wait for one token", async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const askers: (string | undefined)[] = [];
  const through = (send: typeof fetch): typeof fetch => {
    return async (input, init) => {
      if (String(input).includes("/repos/")) askers.push(askedBy());
      return await send(input, init);
    };
  };
  const { octokit } = openOctokits({ appId: 1, privateKey: key, webhookSecret: "x", baseUrl }, { pacing: true, through });
  const client = await octokit(5);
  const ask = (repo: string) => askFor(`acme/${repo}`, () => client.request("GET /repos/{owner}/{repo}", { owner: "acme", repo }));
  await Promise.all(["a", "b", "c"].map(ask));
  expect(askers.sort()).toEqual(["acme/a", "acme/b", "acme/c"]);
});
