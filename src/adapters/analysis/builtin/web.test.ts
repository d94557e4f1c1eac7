import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { TemplateMetric } from "../../../core/analysis/template-schema.ts";
import { createAuthority } from "../../../sim/kubernetes/certificates.ts";
import { type Answering, json, startAnswering } from "../testing.ts";
import { measurePrometheus, measureWeb } from "./provider.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function serve(answer: Answering["answer"]): Promise<Answering> {
  const server = await startAnswering(answer);
  open.push(() => server.close());
  return server;
}

type Web = NonNullable<TemplateMetric["provider"]["web"]>;
const ask = (web: Web) => measureWeb({ allow: ["127.0.0.1:*"] }, web);

describe("the web provider", () => {
  test("a certificate of a CA that nobody knows is an error, unless insecure says to take it", async () => {
    const { cert, key } = createAuthority().issue(["127.0.0.1"]);
    const server = createServer({ cert, key }, (_, response) => response.end('{"ok":true}'));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    open.push(() => new Promise((resolve) => void server.close(() => resolve())));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await ask({ url })).toMatchObject({
      error: { code: "OUTBOUND_UNREACHED", said: expect.stringMatching(/VERIFY|CERT|SIGNATURE|ISSUER/) },
    });
    expect(await ask({ url, insecure: true, jsonPath: "{.ok}" })).toEqual({ value: true });
  });

  test("sends its method, headers and body; a JSON body as JSON", async () => {
    const server = await serve(json({ status: "ok" }));
    const url = `${server.url}/check`;
    const headers = [{ key: "X-Team", value: "shop" }];
    expect(await ask({ url, method: "PUT", headers, body: "plain", jsonPath: "{$.status}" })).toEqual({ value: "ok" });
    await ask({ url, method: "POST", jsonBody: { host: "eu-1", deep: [1] } });
    expect(server.requests).toMatchObject([
      { method: "PUT", url: "/check", body: "plain", headers: { "x-team": "shop" } },
      { method: "POST", body: '{"host":"eu-1","deep":[1]}', headers: { "content-type": "application/json" } },
    ]);
  });

  test.each<[string, Partial<Web>, object]>([
    ["two bodies", { method: "POST", body: "a", jsonBody: {} }, { code: "MEASURE_TWO_BODIES" }],
    ["a GET with a body", { body: "a" }, { code: "MEASURE_BODY_OF_GET" }],
    ["a timeout that is none", { timeoutSeconds: "soon" }, { code: "MEASURE_TIMEOUT", given: "soon" }],
  ])("%s is an error, and nobody is asked", async (_name, web, expected) => {
    const server = await serve(json({}));
    expect(await ask({ url: server.url, ...web })).toEqual({ error: expected });
    expect(server.requests).toEqual([]);
  });

  test("without an answer in time it is an error", async () => {
    const server = await serve(() => undefined);
    expect(await ask({ url: server.url, timeoutSeconds: "0.05" })).toMatchObject({
      error: { code: "OUTBOUND_SLOW", ms: 50 },
    });
  });

  test("a name and password, or a token that is fetched first with the client's secret, stand in its Authorization", async () => {
    const server = await serve((request, response) =>
      json(request.url === "/token" ? { access_token: "t0ken" } : { ok: 1 })(request, response),
    );
    await ask({ url: server.url, authentication: { basicAuth: { username: "u", password: "p" } } });
    await ask({
      url: server.url,
      authentication: { oauth2: { tokenUrl: `${server.url}/token`, clientId: "c", clientSecret: "s", scopes: ["a", "b"] } },
    });
    expect(server.requests.map(({ url, body, headers }) => [url, body, headers.authorization])).toEqual([
      ["/", "", `Basic ${Buffer.from("u:p").toString("base64")}`],
      ["/token", "grant_type=client_credentials&scope=a+b", `Basic ${Buffer.from("c:s").toString("base64")}`],
      ["/", "", "Bearer t0ken"],
    ]);
    const none = await ask({
      url: server.url,
      authentication: { oauth2: { tokenUrl: "https://elsewhere.example.com/token", clientId: "c" } },
    });
    expect(none).toMatchObject({ error: { code: "OUTBOUND_NOT_LISTED", host: "elsewhere.example.com" } });
  });
});

test("prometheus: the values of a range are one list, as Argo Rollouts hands them on", async () => {
  const values = (...all: string[]) => ({ metric: {}, values: all.map((value, i) => [i, value]) });
  const server = await serve(json({ status: "success", data: { resultType: "matrix", result: [values("1", "2"), values("3")] } }));
  const measured = await measurePrometheus({ allow: [server.host] }, { address: server.url, query: "up[5m]" });
  expect(measured).toEqual({ value: [1, 2, 3] });
});
