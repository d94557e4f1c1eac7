import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { afterEach, expect, test } from "vitest";
import { openSealed } from "../../src/surfaces/web/login/sealed.ts";
import { type Journey, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const HOST = "deploy.example.com";
const PUBLIC = `https://${HOST}/stagecoach`;
const SECRET = "s".repeat(40);

interface Answer {
  status: number;
  text: string;
  location: string;
  /** As a browser sends them back. */
  cookie: string;
}

/** `fetch` would set a host of its own. */
function send(url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { host: HOST, ...headers }, method }, (answer) => {
      let text = "";
      const set = (answer.headers["set-cookie"] ?? []).map((one) => one.split(";")[0] ?? "").filter((one) => !one.endsWith("="));
      const { location = "" } = answer.headers;
      answer.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      answer.once("end", () => resolve({ status: answer.statusCode ?? 0, text, location, cookie: set.join("; ") }));
    });
    sent.once("error", reject);
    sent.end();
  });
}

test("a stranger forges a session, replays a code, brings another's, is led elsewhere, signs others out, or says that a proxy knows them", async () => {
  const key = { id: "a", secret: randomBytes(32) };
  journey = await startJourney({
    files: short(),
    bot: ({ github }) => ({
      inside: { host: "127.0.0.1", port: 0, hosts: [HOST] },
      publicUrl: PUBLIC,
      login: { clientId: github.app.clientId, clientSecret: github.app.clientSecret, keys: [key], lastsMs: 3_600_000 },
      proxy: { header: "x-forwarded-user", secretHeader: "x-stagecoach-proxy", secret: SECRET, sees: (name) => name === "acme/other" },
    }),
  });
  const { world, bot } = journey;
  const { github, repository } = world;
  await journey.release();
  await journey.until("its first batch has merged", ({ batches }) => batches.some(({ merged }) => merged !== undefined));
  github.settings(repository, { private: true });
  github.setCallbackUrls(`${PUBLIC}/login/callback`);
  const at = (path: string) => `${bot.insideUrl}${path}`;
  const fleet = async (headers: Record<string, string>) => {
    const { status, text } = await send(at("/api/v1/fleet"), headers);
    return status === 200 ? (JSON.parse(text) as { rollouts: object[] }).rollouts.length : status;
  };
  /** Sets out and agrees on GitHub; gives the way back, and the cookie that the browser has by then. */
  const thereAs = async (login: string, to = "/") => {
    github.signIn(login, { consents: true });
    const { location, cookie } = await send(at(`/login?to=${encodeURIComponent(to)}`));
    const agreed = await fetch(location, { redirect: "manual" });
    return { back: (agreed.headers.get("location") ?? "").replace(PUBLIC, bot.insideUrl), cookie };
  };

  // Who signs in sees what GitHub shows them, and is led to the page's own addresses alone.
  const alice = await thereAs("alice", "//evil.example/");
  const signed = await send(alice.back, { cookie: alice.cookie });
  expect([signed.status, signed.location, await fleet({ cookie: signed.cookie })]).toEqual([302, "/stagecoach/", 1]);
  const mallory = await thereAs("mallory", `/r/${repository}/my-app`);
  const other = await send(mallory.back, { cookie: mallory.cookie });
  expect([other.location, await fleet({ cookie: other.cookie })]).toEqual([`/stagecoach/r/${repository}/my-app`, 0]);
  expect((await send(at(`/api/v1/repos/${repository}/rollouts/my-app`), { cookie: other.cookie })).status).toBe(404);

  // Nobody is let in by a way back that was used, that another browser set out on, or that none did.
  const victim = await thereAs("alice");
  for (const [back, cookie, status] of [
    [alice.back, alice.cookie, 400],
    [mallory.back, victim.cookie, 400],
    [mallory.back, "", 400],
    [`${at("/login/callback")}?code=x&state=x`, victim.cookie, 400],
  ] as const)
    expect(await send(back, { cookie })).toMatchObject({ status, cookie: "" });

  // Nor by a cookie that is forged, of another key or purpose, of another place, or larger than any.
  const forged = await openSealed([{ ...key, secret: randomBytes(32) }], Date.now).seal(
    "session",
    { token: github.token("alice"), endsAt: Date.now() + 60_000 },
    Date.now() + 60_000,
  );
  const session = signed.cookie.split("=")[1] ?? "";
  for (const cookie of [
    `__Host-stagecoach-session=${forged}`,
    `__Host-stagecoach-session=${victim.cookie.split("=")[1]}`,
    `__Host-stagecoach-session=${session.slice(0, -4)}AAAA`,
    `__Host-stagecoach-session=${"a".repeat(12_000)}`,
    `stagecoach-session=${session}`,
  ])
    expect(await fleet({ cookie })).toBe(401);
  expect(await fleet({ cookie: signed.cookie, host: "evil.example.net" })).toBe(421);
  expect(await fleet({ host: "localhost:3001" })).toBe(401);

  // Another site's page cannot end a session; nobody reads what the cookie holds.
  const cross = { cookie: signed.cookie, origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  expect((await send(at("/logout"), cross, "POST")).status).toBe(403);
  expect((await send(at("/logout"), { ...cross, "stagecoach-page": "1" }, "POST")).status).toBe(403);
  expect(Buffer.from(session.split(".")[3] ?? "", "base64url").toString()).not.toContain("ghu_");
  expect(await fleet({ cookie: signed.cookie })).toBe(1);

  // Only the operator's proxy says who somebody is, and they see what the operator says.
  const wim = { "x-forwarded-user": "wim" };
  for (const [secret, sees] of [
    ["", 401],
    [SECRET.slice(1), 401],
    [`${SECRET}x`, 401],
    [SECRET, 0],
  ] as const)
    expect(await fleet({ ...wim, ...(secret !== "" && { "x-stagecoach-proxy": secret }) })).toBe(sees);
  expect(await fleet({ "x-stagecoach-proxy": SECRET })).toBe(401);

  // Who takes back what they allowed the App, or signs out, has no session any more; also the copy of it ends.
  const own = { cookie: other.cookie, origin: `https://${HOST}`, "stagecoach-page": "1" };
  expect(JSON.parse((await send(at("/logout"), own, "POST")).text)).toEqual({ revoked: true });
  github.revokeGrant("alice");
  for (const { cookie } of [signed, other]) {
    const { status } = await send(at("/api/v1/repos/acme/never-asked/rollouts/my-app"), { cookie });
    expect([status, await fleet({ cookie })]).toEqual([401, 401]);
  }
});
