import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { openUserTokens, type TokenAnswer, type UserTokens, webUrl } from "../../../adapters/forge/github/user-tokens.ts";
import { pageApp } from "../server.ts";
import { openLogin } from "./login.ts";
import { placeOf } from "./place.ts";
import { type CookieKey, openSealed } from "./sealed.ts";

const HOST = "deploy.example.com";
const PUBLIC = `https://${HOST}/stagecoach`;
const newKey = (id: string): CookieKey => ({ id, secret: randomBytes(32) });
const LATER: TokenAnswer = { token: "ghu_second_000000", endsAt: 90_000_000, refresh: "ghr_second_000000" };

/** A bot with a login; `answers`: of GitHub, by what is asked. */
function world(answers: Partial<UserTokens> = {}, keys: readonly [CookieKey, ...CookieKey[]] = [newKey("a")]) {
  let time = 1_000_000;
  const asked: string[] = [];
  const github = openUserTokens({ clientId: "Iv1.x", clientSecret: "secret" });
  const first: TokenAnswer = { token: "ghu_first_0000000", endsAt: time + 28_800_000, refresh: "ghr_first_0000000" };
  const tokens: UserTokens = {
    authorizeUrl: github.authorizeUrl,
    exchange: async ({ code }) => {
      asked.push(`exchange ${code}`);
      return first;
    },
    renew: async (refresh) => {
      asked.push(`renew ${refresh}`);
      return LATER;
    },
    revoke: async (token) => {
      asked.push(`revoke ${token}`);
      return true;
    },
    ...answers,
  };
  const make = () => {
    const login = openLogin({ tokens, keys, lastsMs: 86_400_000, publicUrl: PUBLIC, now: () => time });
    return { login, app: pageApp("/stagecoach", login) };
  };
  let { login, app } = make();
  const ask = (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const all = { host: HOST, ...headers };
    const incoming = { headers: all, socket: { remoteAddress: "10.0.0.1" } } as unknown as IncomingMessage;
    return app.request(path, { method, headers: all }, { incoming });
  };
  const there = async (to = "/", headers: Record<string, string> = {}) => {
    const answer = await ask(`/login?to=${encodeURIComponent(to)}`, headers);
    const url = new URL(answer.headers.get("location") ?? "");
    return { url, state: url.searchParams.get("state") ?? "", cookie: cookiesIn(answer) };
  };
  return {
    ...{ ask, there, asked },
    pass: (ms: number) => (time += ms),
    /** Another replica. */
    another: () => ({ login, app } = make()),
    signedAt: (cookie: string, host = HOST) => {
      const place = login.placeOf(host);
      return place && login.sessions.of({ host, cookie }, place);
    },
    signIn: async () => {
      const { state, cookie } = await there();
      return cookiesIn(await ask(`/login/callback?code=c&state=${state}`, { cookie }));
    },
  };
}

/** As a browser sends them back; those that are removed are not. */
function cookiesIn(answer: Response): string {
  const set = answer.headers.getSetCookie().map((one) => one.split(";")[0] ?? "");
  return set.filter((one) => !one.endsWith("=")).join("; ");
}

describe("signing in", () => {
  test("leads to GitHub with a state and a challenge, and back to where one was", async () => {
    const { ask, there, asked } = world();
    const { url, state, cookie } = await there("/r/acme/config/payments?cluster=eu-1");
    expect(url.origin + url.pathname).toBe("https://github.com/login/oauth/authorize");
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      ...{ client_id: "Iv1.x", redirect_uri: `${PUBLIC}/login/callback`, code_challenge_method: "S256" },
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
    });
    const answer = await ask(`/login/callback?code=c&state=${state}`, { cookie });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/stagecoach/r/acme/config/payments?cluster=eu-1"]);
    expect(asked).toEqual(["exchange c"]);
    const [removed, set] = answer.headers.getSetCookie();
    expect(removed).toMatch(/^__Host-stagecoach-login=;.*Expires=Thu, 01 Jan 1970/);
    expect(set).toMatch(/^__Host-stagecoach-session=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Expires=[^;]+; Secure$/);
    expect(set).not.toContain("ghu_");
  });

  test.each([
    ["//evil.example/", "/"],
    ["https://evil.example/", "/"],
    ["/\\evil.example", "/"],
    ["/r/acme/config/x\r\nSet-Cookie: a=b", "/"],
    ["/login?to=/", "/"],
    ["javascript:alert(1)", "/"],
    ["/r/../../evil", "/"],
    ["/?q=pay&state=Failed", "/?q=pay&state=Failed"],
  ])("%j leads to %s", async (to, where) => {
    const { ask, there } = world();
    const { state, cookie } = await there(to);
    const answer = await ask(`/login/callback?code=c&state=${state}`, { cookie });
    expect(answer.headers.get("location")).toBe(`/stagecoach${where}`);
  });

  test("by a port-forward leads back to it, and to no other address", async () => {
    const { ask, there } = world();
    for (const host of ["localhost:4711", "127.0.0.1:4711", "[::1]:4711"]) {
      const { url, cookie } = await there("/", { host });
      expect(url.searchParams.get("redirect_uri")).toBe(`http://${host}/stagecoach/login/callback`);
      expect(cookie).toMatch(/^stagecoach-login=/);
    }
    for (const host of ["10.0.0.9:3001", "localhost.evil.example", "127.0.0.1@evil.example", "inside.svc"])
      expect((await there("/", { host })).url.searchParams.get("redirect_uri")).toBe(`${PUBLIC}/login/callback`);
    expect(placeOf("evil.example", undefined)).toBe(undefined);
    expect((await ask("/login", { host: "LOCALHOST:1" })).headers.get("location")).toContain(encodeURIComponent("http://localhost:1/"));
  });

  test("is refused where the answer is for another login, comes late, or without a code", async () => {
    const { ask, there, asked, pass } = world();
    const mine = await there();
    const other = await there();
    for (const [path, cookie] of [
      [`/login/callback?code=c&state=${mine.state}`, ""],
      [`/login/callback?code=c&state=${mine.state}`, other.cookie],
      ["/login/callback?code=c", mine.cookie],
      [`/login/callback?code=${"c".repeat(300)}&state=${mine.state}`, mine.cookie],
      [`/login/callback?code=c&state=${mine.state}`, mine.cookie.replace(/.{4}$/, "AAAA")],
    ] as const) {
      const answer = await ask(path, { cookie });
      expect([answer.status, cookiesIn(answer)]).toEqual([400, ""]);
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(await answer.text()).toContain("not the sign-in that this browser began");
    }
    expect((await ask(`/login/callback?error=access_denied&state=${mine.state}`, { cookie: mine.cookie })).status).toBe(403);
    // Begun at one address, and brought to another.
    const host = "localhost:3001";
    const renamed = mine.cookie.replace("__Host-", "");
    expect((await ask(`/login/callback?code=c&state=${mine.state}`, { cookie: renamed, host })).status).toBe(400);
    pass(10 * 60_000 + 1);
    expect((await ask(`/login/callback?code=c&state=${mine.state}`, { cookie: mine.cookie })).status).toBe(400);
    expect(asked).toEqual([]);
  });

  test.each([
    ["unknown", 503, "GitHub did not answer"],
    [{ refused: "bad_verification_code" }, 400, "does not know this sign-in"],
    [{ refused: "incorrect_client_credentials" }, 502, "refused the App&#39;s own credentials"],
  ] as const)("says what went wrong at GitHub: %j", async (answer, status, words) => {
    const { ask, there } = world({ exchange: async () => answer });
    const { state, cookie } = await there("/r/acme/config/payments");
    const page = await ask(`/login/callback?code=c&state=${state}`, { cookie });
    expect(page.status).toBe(status);
    const text = await page.text();
    expect(text).toContain(words);
    expect(text).toContain('href="/stagecoach/login?to=%2Fr%2Facme%2Fconfig%2Fpayments"');
  });

  test("too many ways back from one address ask GitHub no more", async () => {
    const { ask, there, asked } = world();
    const { state, cookie } = await there();
    for (let n = 0; n < 40; n++) await ask(`/login/callback?code=c&state=${state}`, { cookie });
    expect(asked).toHaveLength(30);
  });

  test("too many ways back of one behind the proxy keep nobody else behind it out, nor do names of addresses let one ask without end", async () => {
    const { ask, there, asked } = world();
    const { state, cookie } = await there();
    const back = (from: string) => ask(`/login/callback?code=c&state=${state}`, { cookie, "x-forwarded-for": from });
    for (let n = 0; n < 31; n++) await back(`198.51.100.${n}, 203.0.113.9`);
    expect([(await back("203.0.113.9")).status, (await back("203.0.113.10")).status]).toEqual([429, 302]);
    for (let n = 0; n < 700; n++) await back(`198.51.100.1, ${n}`);
    expect(asked).toHaveLength(600);
  });
});

describe("a session", () => {
  test("holds in any replica with the key, of now or of before, until its end", async () => {
    const [mine, former] = [newKey("a"), newKey("b")];
    const bot = world({}, [former]);
    const cookie = await bot.signIn();
    expect(await bot.signedAt(cookie)).toMatchObject({ session: { token: "ghu_first_0000000" } });
    bot.another();
    expect(await bot.signedAt(cookie)).toMatchObject({ session: { token: "ghu_first_0000000" } });
    const sealed = (keys: [CookieKey, ...CookieKey[]]) => openSealed(keys, () => 1_000_000);
    const text = cookie.replace("__Host-stagecoach-session=", "");
    expect(await sealed([mine, former]).open("session", text)).toBeDefined();
    for (const [keys, purpose] of [
      [[mine], "session"],
      [[{ ...mine, id: "b" }], "session"],
      [[former], "login"],
    ] as const)
      expect(await sealed([...keys] as [CookieKey]).open(purpose, text)).toBe(undefined);
    bot.pass(86_400_000);
    expect(await bot.signedAt(cookie)).toBe(undefined);
  });

  test("is none where its cookie is altered, oversized, or for another address", async () => {
    const bot = world();
    const cookie = await bot.signIn();
    const at = cookie.length - 30;
    const flipped = `${cookie.slice(0, at)}${cookie[at] === "A" ? "B" : "A"}${cookie.slice(at + 1)}`;
    const huge = `__Host-stagecoach-session=${"e".repeat(15_000)}`;
    for (const bad of [flipped, huge, "__Host-stagecoach-session=", "__Host-stagecoach-session=a.b.c.d.e", cookie.replace("__Host-", "")])
      expect(await bot.signedAt(bad)).toBe(undefined);
    expect(await bot.signedAt(cookie, "localhost:3001")).toBe(undefined);
  });

  test("has its token made anew once, for two tabs that come at once, and for one that comes with the cookie of before", async () => {
    const bot = world();
    const cookie = await bot.signIn();
    bot.pass(28_800_000 - 60_000);
    const [one, two] = await Promise.all([bot.signedAt(cookie), bot.signedAt(cookie)]);
    for (const signed of [one, two, await bot.signedAt(cookie)])
      expect(signed).toMatchObject({
        session: { token: "ghu_second_000000" },
        cookie: expect.stringContaining("__Host-stagecoach-session=") as string,
      });
    expect(bot.asked.filter((line) => line.startsWith("renew"))).toEqual(["renew ghr_first_0000000"]);
    // It does not last longer for that.
    bot.pass(86_400_000 - 28_800_000 + 60_000);
    expect(await bot.signedAt((one as { cookie: string }).cookie.split(";")[0] ?? "")).toBe(undefined);
  });

  test("that another replica made anew is asked for again, and is over only if no newer cookie comes", async () => {
    const bot = world({ renew: async () => ({ refused: "bad_refresh_token" }) });
    const cookie = await bot.signIn();
    bot.pass(28_800_000);
    expect([await bot.signedAt(cookie), await bot.signedAt(cookie)]).toEqual(["later", "later"]);
    bot.pass(15_000);
    expect(await bot.signedAt(cookie)).toBe(undefined);
  });

  test("waits where GitHub does not say", async () => {
    let answer: TokenAnswer = "unknown";
    const bot = world({ renew: async () => answer });
    const cookie = await bot.signIn();
    bot.pass(28_800_000);
    expect(await bot.signedAt(cookie)).toBe("later");
    answer = LATER;
    expect(await bot.signedAt(cookie)).toMatchObject({ session: { token: "ghu_second_000000" } });
  });

  test("is ended by its page alone, at GitHub too", async () => {
    const bot = world();
    const cookie = await bot.signIn();
    const own = { cookie, origin: `https://${HOST}`, "stagecoach-page": "1", "sec-fetch-site": "same-origin" };
    for (const bad of [
      { ...own, origin: "https://evil.example" },
      { ...own, "sec-fetch-site": "cross-site" },
      { ...own, "stagecoach-page": "" },
      { ...own, origin: "null" },
      { cookie },
    ])
      expect((await bot.ask("/logout", bad as Record<string, string>, "POST")).status).toBe(403);
    expect(bot.asked).toEqual(["exchange c"]);
    const answer = await bot.ask("/logout", own, "POST");
    expect([await answer.json(), cookiesIn(answer), bot.asked.at(-1)]).toEqual([{ revoked: true }, "", "revoke ghu_first_0000000"]);
    expect((await bot.ask("/logout", own)).status).toBe(404);
  });
});

describe("GitHub", () => {
  test.each([
    ["https://api.github.com", "https://github.com"],
    ["https://api.acme.ghe.com", "https://acme.ghe.com"],
    ["https://github.example.com/api/v3", "https://github.example.com"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
  ])("has its pages, of the API at %s, at %s", (api, web) => expect(webUrl(api)).toBe(web));

  const told = (body: unknown, status = 200) =>
    openUserTokens(
      { clientId: "i", clientSecret: "s" },
      () => 1000,
      async () => Response.json(body, { status }),
    ).renew("r");

  test.each([
    [
      { access_token: "ghu_0123456789", expires_in: 10, refresh_token: "ghr_0123456789" },
      { token: "ghu_0123456789", endsAt: 11_000, refresh: "ghr_0123456789" },
    ],
    [{ access_token: "ghu_0123456789" }, { token: "ghu_0123456789" }],
    [{ error: "bad_refresh_token" }, { refused: "bad_refresh_token" }],
    [{ error: "<b>no</b>" }, { refused: "unknown_error" }],
    [{ access_token: "a b" }, "unknown"],
    [[], "unknown"],
  ])("tells of a token: %j", async (body, answer) => expect(await told(body)).toEqual(answer));

  test("tells nothing with a redirect, a fault, or no end", async () => {
    expect([await told({}, 302), await told({}, 500)]).toEqual(["unknown", "unknown"]);
    const endless = new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1024 * 1024)) });
    expect(await openUserTokens({ clientId: "i", clientSecret: "s" }, Date.now, async () => new Response(endless)).renew("r")).toBe(
      "unknown",
    );
  });
});
