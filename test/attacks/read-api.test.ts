import { request } from "node:http";
import { afterEach, expect, test } from "vitest";
import { githubPage } from "../support/github-page.ts";
import { type Journey, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;
afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

interface Answer {
  status: number;
  text: string;
}

/** `fetch` would set a host of its own. */
function get(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers }, (answer) => {
      let text = "";
      const done = () => resolve({ status: answer.statusCode ?? 0, text });
      answer.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        // Events go on for ever: what they begin with is enough.
        if (answer.headers["content-type"]?.startsWith("text/event-stream") && answer.statusCode === 200) {
          done();
          if (headers["x-keep"] === undefined) sent.destroy();
        }
      });
      answer.once("end", done);
    });
    sent.once("error", reject);
    sent.end();
  });
}

test("a stranger reads another's rollouts by a token of theirs, by no token, through a proxy, or under a name that points here", async () => {
  journey = await startJourney({
    files: short(),
    bot: () => ({
      inside: { host: "127.0.0.1", port: 0, hosts: ["deploy.example.com"] },
      publicUrl: "https://deploy.example.com/stagecoach/",
    }),
  });
  const { world, bot } = journey;
  const { github, repository } = world;
  const pull = await journey.release();
  await journey.until("its first batch has merged", ({ batches }) => batches.some(({ merged }) => merged !== undefined));
  github.settings(repository, { private: true });
  const api = `${bot.insideUrl}/api/v1`;
  const rollout = `${api}/repos/${repository}/rollouts/my-app`;
  const as = (login: string) => ({ authorization: `Bearer ${github.token(login)}` });
  const away = { "x-forwarded-for": "203.0.113.9", host: "deploy.example.com" };
  const mallory = { ...as("mallory"), ...away };
  const alice = { ...as("alice"), ...away };

  // Nobody, from elsewhere; and from here, under a name that somebody else lets point here.
  for (const [path, status] of [
    ["/", 403],
    ["/page.js", 403],
    ["/api/v1/fleet", 401],
    ["/api/v1/events", 401],
  ] as const)
    expect((await get(`${bot.insideUrl}${path}`, away)).status).toBe(status);
  expect((await get(`${api}/fleet`, { host: "evil.example.net" })).status).toBe(421);
  expect((await get(`${api}/fleet`, { ...away, authorization: "Bearer ghp_0123456789abcdef" })).status).toBe(401);

  // Somebody on GitHub who may not see the repository: it is not there.
  const fleet = async (headers: Record<string, string>) =>
    (JSON.parse((await get(`${api}/fleet`, headers)).text) as { rollouts: object[] }).rollouts;
  expect(await fleet(mallory)).toEqual([]);
  const nowhere = await get(`${api}/repos/acme/nothing/rollouts/my-app`, mallory);
  for (const path of ["", "/runs", "/runs/1", "/runs/1/events"]) expect(await get(`${rollout}${path}`, mallory)).toEqual(nowhere);
  expect(nowhere.status).toBe(404);
  expect((await get(`${api}/events?rollout=${repository}/my-app`, mallory)).status).toBe(404);

  // Who may, from anywhere; and whoever sits at this machine.
  for (const headers of [alice, {}]) {
    expect(await fleet(headers)).toMatchObject([{ repository, rollout: "my-app", number: 1 }]);
    expect(JSON.parse((await get(rollout, headers)).text)).toMatchObject({ kind: "Run", number: 1 });
    expect(JSON.parse((await get(`${rollout}/runs`, headers)).text)).toMatchObject({ items: [{ number: 1 }] });
    expect(JSON.parse((await get(`${rollout}/runs/1`, headers)).text)).toMatchObject({ kind: "Run", number: 1 });
    const lines = (await get(`${rollout}/runs/1/events?format=jsonl`, headers)).text.trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ says: expect.stringContaining("my-app") });
  }

  // One token opens no more lines than a person needs.
  const lines = await Promise.all(Array.from({ length: 30 }, () => get(`${api}/events`, { ...alice, "x-keep": "1" })));
  expect(lines.filter(({ status }) => status === 200)).toHaveLength(10);
  expect(lines.filter(({ status }) => status === 503)).toHaveLength(20);
  expect((await get(`${api}/fleet`)).status).toBe(200);

  // What people are told leads to the page, which is there, below its path or without it.
  const page = `/r/${repository}/my-app/runs/1`;
  const { comments } = githubPage(world, "carol");
  expect((await comments(pull)).map(({ body }) => body).join("\n")).toContain(`https://deploy.example.com/stagecoach${page}`);
  for (const base of ["", "/stagecoach"]) expect((await get(`${bot.insideUrl}${base}${page}/batches/1`)).status).toBe(200);
  expect((await get(`${bot.insideUrl}/stagecoach/r/../../etc/passwd`)).status).toBe(404);
});
