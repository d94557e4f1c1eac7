import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import type { Sight } from "../../../adapters/forge/github/token-sight.ts";
import type { UserTokens } from "../../../adapters/forge/github/user-tokens.ts";
import { openLogin } from "../login/login.ts";
import { placeOf } from "../login/place.ts";
import { apiApp } from "./routes.ts";
import { undescribed } from "./testing/described.ts";

const clock = { now: () => 0, after: () => () => undefined };
const HOST = "localhost:3001";
const SECRET = "s".repeat(32);

async function world(sight: (token: string) => Sight = () => ({ permission: "write" })) {
  const tokens = {} as UserTokens;
  const login = openLogin({ tokens, keys: [{ id: "a", secret: randomBytes(32) }], lastsMs: 60_000, now: () => 0 });
  const proxy = { header: "x-user", secretHeader: "x-proxy", secret: SECRET, sees: (repository: string) => repository === "acme/other" };
  const source = {
    ...{ login, proxy, onChange: () => () => undefined },
    runs: () => [{ repository: "acme/config", run: sampleRun() }],
    sightOf: async (token: string) => sight(token),
    loginOf: async () => ({ login: "wim" }),
  };
  const app = apiApp(source, clock);
  const place = placeOf(HOST, undefined);
  if (place === undefined) throw new Error("a loopback address is a place");
  const session = (await login.sessions.begin({ token: "ghu_0123456789" }, place)).split(";")[0] ?? "";
  const get = async (path: string, headers: Record<string, string> = {}, headersDistinct: NodeJS.Dict<string[]> = {}) => {
    const incoming = { headers: { host: HOST, ...headers }, headersDistinct, socket: { remoteAddress: "127.0.0.1" } };
    const answer = await app.request(`/api/v1${path}`, { headers }, { incoming });
    expect(await undescribed(`/api/v1${path}`, answer)).toBe(undefined);
    return answer;
  };
  return { session, get, me: async (headers?: Record<string, string>) => (await (await get("/me", headers)).json()) as object };
}

test("with a login nobody sees anything without a name, on this machine too, and is told that they can sign in", async () => {
  const { get, me } = await world();
  expect([(await get("/fleet")).status, await me()]).toEqual([401, { signIn: true }]);
  expect(await me({ host: "elsewhere.example" })).toEqual({ signIn: false });
});

test("a session is its owner, who may act; a proxy's person has a name and may not; a token goes before either", async () => {
  const { get, me, session } = await world();
  const proxied = { "x-user": "Jane Doe", "x-proxy": SECRET };
  const rollouts = async (headers: Record<string, string>) =>
    ((await (await get("/fleet", headers)).json()) as { rollouts: object[] }).rollouts.length;
  expect([await me({ cookie: session }), await rollouts({ cookie: session })]).toEqual([{ login: "wim", signIn: true }, 1]);
  expect([await me(proxied), await rollouts(proxied)]).toEqual([{ name: "Jane Doe", signIn: true }, 0]);
  expect(await me({ ...proxied, cookie: session })).toEqual({ login: "wim", signIn: true });
  expect((await get("/fleet", { cookie: session, authorization: "Bearer none" })).status).toBe(401);
  expect((await get("/fleet", { ...proxied, "x-proxy": "x" })).status).toBe(401);
  const twice = { ...proxied, "x-user": "mallory, Jane Doe" };
  expect((await get("/fleet", twice, { "x-user": ["mallory", "Jane Doe"] })).status).toBe(401);
  expect((await get("/fleet", twice, { "x-user": ["mallory, Jane Doe"] })).status).toBe(200);
});

test("a session that GitHub takes no more has ended, and is said so", async () => {
  const { get, me, session } = await world(() => "refused");
  expect((await get("/fleet", { cookie: session })).status).toBe(401);
  expect(await me({ cookie: session })).toEqual({ signIn: true, ended: true });
});

test("many sessions that ended behind one proxy keep nobody out", async () => {
  const { get, session } = await world((token) => (token.startsWith("ghp_guess") ? "refused" : { permission: "read" }));
  for (let n = 0; n < 21; n++) await get("/fleet", { authorization: `Bearer ghp_guess_${n}00000` });
  expect((await get("/fleet", { authorization: "Bearer ghp_another_0" })).status).toBe(429);
  expect((await get("/fleet", { cookie: session })).status).toBe(200);
});
