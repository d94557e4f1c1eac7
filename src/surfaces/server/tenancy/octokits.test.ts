import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { openGitHubForge } from "../../../adapters/forge/github/index.ts";
import { askedBy, askFor, NotOurs } from "../../../adapters/outbound/asker.ts";
import { openBreakers } from "../../../adapters/outbound/breaker.ts";
import { checkedClock } from "../../../adapters/outbound/checked-clock.ts";
import { hostFetch } from "../../../adapters/outbound/host-fetch.ts";
import { silentLog } from "../../../engine/round/context.ts";
import { wallClock } from "../wall-clock.ts";
import { openOctokits } from "./octokits.ts";

const answer = (request: IncomingMessage, response: ServerResponse) => {
  const isToken = request.url?.endsWith("/access_tokens") === true;
  const token = { token: "t", expires_at: "2099-01-01T00:00:00Z", permissions: {}, repository_selection: "all" };
  const installation = { id: 5, account: { login: "acme", type: "Organization" }, permissions: { contents: "write" } };
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(isToken ? token : installation));
};
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function opened(options: Partial<Parameters<typeof openOctokits>[1]>) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return await openOctokits({ appId: 1, privateKey: key, webhookSecret: "x", baseUrl }, { pacing: true, ...options }).octokit(5);
}

test("whatever is asked for a repository is sent as that one's, though all wait for one token", async () => {
  const askers: (string | undefined)[] = [];
  const through = (send: typeof fetch): typeof fetch => {
    return async (input, init) => {
      if (String(input).includes("/repos/")) askers.push(askedBy());
      return await send(input, init);
    };
  };
  const client = await opened({ through });
  const ask = (repo: string) => askFor(`acme/${repo}`, () => client.request("GET /repos/{owner}/{repo}", { owner: "acme", repo }));
  await Promise.all(["a", "b", "c"].map(ask));
  expect(askers.sort()).toEqual(["acme/a", "acme/b", "acme/c"]);
});

test("whoever lost the repository while they waited for the installation's turn send nothing", async () => {
  let isOurs = true;
  const sent: string[] = [];
  const turns: number[] = [];
  const clock = checkedClock(wallClock(), { log: silentLog });
  const octokit = await opened({
    through: (send) =>
      hostFetch(clock, openBreakers(clock, silentLog), async (input, init) => {
        if (init?.method === "PATCH") sent.push(String(input));
        return await send(input, init);
      }),
    async turnToWrite(installation) {
      turns.push(installation);
      isOurs = false;
      return 1;
    },
  });
  const forge = openGitHubForge({ octokit, repository: "acme/a" });
  const mayWrite = () => {
    if (!isOurs) throw new NotOurs("acme/a");
  };
  const write = () => askFor("acme/a", () => forge.closePull(1), mayWrite);
  await expect(write()).rejects.toThrow(/another replica may look after acme\/a/);
  expect([turns, sent]).toEqual([[5], []]);
});
