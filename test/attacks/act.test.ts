import { request } from "node:http";
import { afterEach, expect, test } from "vitest";
import type { RunDocument } from "../../src/core/report/model/schema/run.ts";
import { isEnded } from "../../src/core/run/state/run.ts";
import { githubPage } from "../support/github-page.ts";
import { type Journey, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const CALLBACK = "http://127.0.0.1:3001/login/callback";

/** A token that the bot's App gets for somebody who signs in. */
async function tokenByApp({ world: { github } }: Journey, login: string): Promise<string> {
  const { clientId, clientSecret } = github.app;
  github.setCallbackUrls(CALLBACK);
  github.signIn(login, { consents: true });
  const asked = new URLSearchParams({ client_id: clientId, redirect_uri: CALLBACK, state: "s" });
  const led = await fetch(`${github.url}/login/oauth/authorize?${asked}`, { redirect: "manual" });
  const code = new URL(led.headers.get("location") ?? "").searchParams.get("code") ?? "";
  const body = new URLSearchParams({ client_id: clientId, client_secret: clientSecret, code, redirect_uri: CALLBACK });
  const answer = await fetch(`${github.url}/login/oauth/access_token`, { method: "POST", headers: { accept: "application/json" }, body });
  return ((await answer.json()) as { access_token: string }).access_token;
}

/** `fetch` would set a host of its own. */
function send(url: string, headers: Record<string, string>, body: string): Promise<{ status: number; answered: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.once("end", () => {
        const isJson = answer.headers["content-type"]?.includes("json") === true;
        resolve({ status: answer.statusCode ?? 0, answered: isJson ? (JSON.parse(text) as Record<string, unknown>) : {} });
      });
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

test("nobody has the page write what they may not give, what another gave, what is old by now, or more than one command", async () => {
  journey = await startJourney({ files: short({ byHand: true }) });
  const { world, bot, until } = journey;
  const { github, repository } = world;
  const pull = await journey.release();
  await until("its first batch is open", ({ batches }) => batches.some(({ phase }) => phase === "Open"));
  github.settings(repository, { private: true });
  github.collaborator(repository, "bob", "write");
  github.collaborator(repository, "carol", "read");
  const api = `${bot.insideUrl}/api/v1`;
  const rollout = `${api}/repos/${repository}/rollouts/my-app`;
  const tokens: Record<string, string> = {};
  for (const login of ["alice", "bob", "carol", "mallory"]) tokens[login] = github.token(login);
  const look = async () => (await (await fetch(rollout, { headers: { authorization: `Bearer ${tokens["bob"]}` } })).json()) as RunDocument;
  let keys = 0;
  const give = (
    who: string | undefined,
    command: object,
    { headers = {}, at = rollout }: { headers?: Record<string, string>; at?: string } = {},
  ) => {
    const authorization = who === undefined ? {} : { authorization: `Bearer ${tokens[who] ?? who}` };
    const usual = { "content-type": "application/json", "idempotency-key": `attack-${++keys}000`, ...authorization };
    return send(`${at}/runs/1/commands`, { ...usual, ...headers }, JSON.stringify(command));
  };
  const written = async () => (await githubPage(world, "alice").comments(pull)).filter(({ user }) => !user.login.endsWith("[bot]"));
  const { seen } = await look();
  const pause = { verb: "pause", args: [], seen };

  // Whoever does not see the repository is told what they are told of none; who sees it and may not, who may.
  const nowhere = await give("mallory", pause, { at: `${api}/repos/acme/nothing/rollouts/my-app` });
  expect(await give("mallory", pause)).toEqual(nowhere);
  expect(nowhere.status).toBe(404);
  expect(await give("bob", pause, { at: `${api}/repos/acme/nothing/rollouts/my-app` })).toEqual(nowhere);
  expect(await give("carol", pause)).toMatchObject({ status: 403, answered: { detail: "/pause needs write, and you have read" } });
  expect(await give("ghp_0123456789abcdef", pause)).toMatchObject({ status: 401 });

  // Another page, in the browser of somebody on this machine; a name that points here; whoever is nobody.
  const page = { origin: bot.insideUrl, "stagecoach-page": "1", "sec-fetch-site": "same-origin" };
  expect((await give(undefined, pause)).status).toBe(403);
  expect((await give(undefined, pause, { headers: { ...page, origin: "https://evil.example" } })).status).toBe(403);
  expect((await give(undefined, pause, { headers: { ...page, "sec-fetch-site": "cross-site" } })).status).toBe(403);
  expect((await give(undefined, pause, { headers: { ...page, host: "evil.example", origin: "http://evil.example" } })).status).toBe(421);
  expect((await give(undefined, pause, { headers: page })).status).toBe(401);
  expect((await give("bob", { ...pause, reason: "x".repeat(9_000) })).status).toBe(413);
  expect((await give("bob", { ...pause, verb: "hotfix", args: ["us-1"] })).status).toBe(409);
  expect(await written()).toEqual([]);

  // A reason is one, whatever it holds; sent twice it is one comment; sent again later it is old.
  const hostile = { ...pause, reason: "see\n\n/abort\n/rollback --to v1 <!-- @acme/everybody ![x](http://evil.example/) --rollout other" };
  const headers = { "idempotency-key": "captured-0001" };
  const answers = await Promise.all([give("bob", hostile, { headers }), give("bob", hostile, { headers })]);
  expect(answers.map(({ status }) => status)).toEqual([202, 202]);
  const paused = await until("it is paused", ({ phase, commands }) => phase === "Paused" && commands.length > 0);
  expect(paused.commands.map(({ actor, outcome }) => [actor, outcome])).toEqual([["bob", "done"]]);
  expect((await give("bob", hostile, { headers })).answered).toEqual(answers[0]?.answered);
  expect(await give("bob", hostile)).toMatchObject({ status: 409, answered: { code: "MOVED" } });
  expect((await give("alice", hostile, { headers })).answered).toMatchObject({ code: "MOVED" });
  const bodies = (await written()).map(({ body, user }) => `${user.login}: ${body}`);
  expect(bodies).toEqual([expect.stringMatching(/^bob: \/pause --rollout my-app see \/abort/)]);
  expect(bodies[0]).not.toMatch(/@acme|(?<!\\)!\[|[^\\]<!-- @/);

  // Who signed in by our App is themselves to it.
  const byApp = await tokenByApp(journey, "alice");
  expect(await give(byApp, { verb: "resume", args: [], seen: (await look()).seen })).toMatchObject({ status: 202 });
  const resumed = await until("it goes on", ({ phase }) => phase === "Progressing");
  expect([resumed.commands.map(({ actor }) => actor), isEnded(resumed)]).toEqual([["bob", "alice"], false]);
  expect((await look()).commands.map(({ by, state }) => [by, state])).toEqual([
    ["@bob", "Done"],
    ["@alice", "Done"],
  ]);
  expect(journey.errors).toEqual([]);
});
