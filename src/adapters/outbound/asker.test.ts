import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listen } from "../../sim/listen.ts";
import { exchangeJson } from "../argocd/wire/http.ts";
import { askFor, NotOurs } from "./asker.ts";
import { hostFetch } from "./host-fetch.ts";
import { outbound } from "./outbound.ts";

const came: string[] = [];
const server = createServer((request, response) => {
  came.push(`${request.method} ${request.url}`);
  response.writeHead(200, { "content-type": "application/json" }).end("{}");
});
let url = "";

beforeAll(async () => {
  ({ url } = await listen(server));
});
afterAll(() => void server.close());

test("nothing leaves for a repository that another may look after, but for what only reads Argo CD, or makes a token", async () => {
  const send = hostFetch({ asking: () => () => undefined }, { through: (_to, work) => work() }, fetch);
  const bounds = { idleMs: 5000, totalMs: 5000, mostBytes: 1000 };
  const lost = () => {
    throw new NotOurs("o/r");
  };
  await askFor(
    "o/r",
    async () => {
      await expect(send(`${url}/repos/o/r`)).rejects.toBeInstanceOf(NotOurs);
      await expect(exchangeJson({ url: new URL(`${url}/sync`), method: "POST", body: "{}", ...bounds })).rejects.toBeInstanceOf(NotOurs);
      const hook = { url: `${url}/hook`, method: "POST", headers: {}, body: "{}", timeoutMs: 5000 } as const;
      await expect(outbound({ allow: "any" }, hook)).rejects.toBeInstanceOf(NotOurs);
      await exchangeJson({ url: new URL(`${url}/applications`), ...bounds });
      await send(`${url}/app/installations/1/access_tokens`, { method: "POST" });
    },
    lost,
  );
  expect(came).toEqual(["GET /applications", "POST /app/installations/1/access_tokens"]);
});
