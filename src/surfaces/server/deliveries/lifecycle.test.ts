import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { embeddedQueue } from "../../../adapters/queue/embedded.ts";
import type { Delivery } from "../../../adapters/queue/port.ts";
import { type Log, silentLog } from "../../../engine/round/context.ts";
import { sign } from "../../../sim/github/deliver/webhooks.ts";
import type { Permissions } from "../../../sim/github/model/model.ts";
import { type TestGitHub, testGitHub } from "../../../sim/github/testing/setup.ts";
import { type Stagecoach, startStagecoach } from "../stagecoach.ts";
import { WEBHOOK_PATH } from "./server.ts";

/** The App as its manifest makes it. */
const manifest = parse(readFileSync(new URL("../../../../app.yml", import.meta.url), "utf8")) as {
  default_permissions: Permissions;
  default_events: string[];
};
const SECRET = "the secret of this test";
let github: TestGitHub;
let bot: Stagecoach;
let directory: string;
let lines: { level: string; message: string; fields: Record<string, unknown> }[];

beforeEach(async () => {
  github = await testGitHub({ app: { permissions: manifest.default_permissions, events: manifest.default_events } });
  lines = [];
  directory = await mkdtemp(join(tmpdir(), "stagecoach-lifecycle-"));
  const say = (level: string) => (fields: object, message: string) => void lines.push({ level, message, fields: { ...fields } });
  const log: Log = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
  bot = await startStagecoach({
    app: { appId: github.sim.app.id, privateKey: github.sim.app.privateKey, webhookSecret: SECRET, baseUrl: github.sim.url },
    planes: [],
    directory,
    clock: github.clock,
    log,
    pacing: false,
  });
  github.sim.setWebhook({ url: `${bot.url}${WEBHOOK_PATH}`, secret: SECRET });
});

afterEach(async () => {
  await bot.close();
  await github.sim.close();
  await rm(directory, { recursive: true, force: true });
});

async function settled(): Promise<void> {
  await github.sim.idle();
  await bot.idle();
}

const mirror = (name: string) => existsSync(join(directory, `${name.replace("/", "__")}.git`));
const told = (message: string) => lines.filter((line) => line.message === message).map((line) => line.fields["repository"]);
const errors = () => lines.filter((line) => line.level === "error" || line.level === "warn");

test("a start while GitHub is away is said at /readyz, and becomes ready once it is back", async () => {
  const [listening, waits] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  const log: Log = {
    ...silentLog,
    info: (fields, message) => message === "listening" && listening.resolve((fields as { url: string }).url),
    warn: (_fields, message) => message.startsWith("GitHub does not answer") && waits.resolve(),
  };
  let isAway = true;
  github.sim.faults.request = () => (isAway ? { status: 502 } : undefined);
  const { id: appId, privateKey } = github.sim.app;
  const other = startStagecoach({
    app: { appId, privateKey, webhookSecret: SECRET, baseUrl: github.sim.url },
    ...{ planes: [], directory: join(directory, "other"), clock: github.clock, log, pacing: false },
  });
  await waits.promise;
  const said = await fetch(`${await listening.promise}/readyz`);
  expect([said.status, (await said.text()).trim()]).toEqual([503, "not ready: waiting for GitHub"]);
  isAway = false;
  let isReady = false;
  void other.then(() => {
    isReady = true;
  });
  // What keeps others off a host that is down waits by this clock, too.
  while (!isReady) {
    github.clock.step(30_000);
    await new Promise(setImmediate);
  }
  expect((await fetch(`${(await other).url}/readyz`)).status).toBe(200);
  await (await other).close();
});

test.each([
  { when: "before the bot knows its installations", path: "/app/installations", isAnswered: false },
  { when: "while their repositories cannot be listed", path: "/installation/repositories", isAnswered: true },
])("what is told $when is kept: another replica may look after it", async ({ path: asked, isAnswered }) => {
  const kept: Delivery[] = [];
  const listening = Promise.withResolvers<string>();
  const log: Log = {
    ...silentLog,
    info: (fields, message) => message === "listening" && listening.resolve((fields as { url: string }).url),
  };
  const answer = Promise.withResolvers<void>();
  github.sim.faults.request = async ({ path }) => {
    if (path !== asked) return undefined;
    if (isAnswered) return { status: 403 };
    await answer.promise;
    return undefined;
  };
  const { id: appId, privateKey } = github.sim.app;
  const other = startStagecoach({
    app: { appId, privateKey, webhookSecret: SECRET, baseUrl: github.sim.url },
    ...{ planes: [], directory: join(directory, "other"), clock: github.clock, log, pacing: false },
    openQueue: (options) => ({ ...embeddedQueue(options), keep: (delivery) => kept.push(delivery) > 0 }),
  });
  github.sim.setWebhook({ url: `${await listening.promise}${WEBHOOK_PATH}`, secret: SECRET });
  if (isAnswered) await other;
  await github.sim.actAs("wim").push(github.repository, { branch: "topic", files: { "a.txt": "a\n" }, message: "a" });
  await github.sim.idle();
  expect(kept.map(({ repository }) => repository)).toEqual(["acme/config"]);
  answer.resolve();
  await (await other).close();
});

describe("repositories come and go while the bot runs", () => {
  test("one is installed, looked at, uninstalled and forgotten with its mirror, and taken up again", async () => {
    expect(bot.repositories()).toEqual(["acme/config"]);
    expect(mirror("acme/config")).toBe(true);
    github.sim.uninstall(github.installationId);
    await settled();
    expect(bot.repositories()).toEqual([]);
    expect(told("a repository is no longer served")).toEqual(["acme/config"]);
    github.sim.install("acme");
    await settled();
    expect(bot.repositories()).toEqual(["acme/config"]);
    expect(mirror("acme/config")).toBe(true);
  });

  test("one that is archived, renamed or taken out of the installation is dropped; the new name is served", async () => {
    await github.sim.createRepo({ owner: "acme", name: "other", files: new Map([["README.md", "x\n"]]) });
    await settled();
    await bot.resync();
    await settled();
    expect(bot.repositories().sort()).toEqual(["acme/config", "acme/other"]);
    github.sim.rename("acme/other", "renamed");
    await settled();
    expect(bot.repositories().sort()).toEqual(["acme/config", "acme/renamed"]);
    github.sim.settings("acme/renamed", { archived: true });
    await settled();
    expect(bot.repositories()).toEqual(["acme/config"]);
    github.sim.selectRepositories(github.installationId, []);
    await settled();
    expect(bot.repositories()).toEqual([]);
    expect(told("a repository is no longer served")).toEqual(["acme/other", "acme/renamed", "acme/config"]);
  });

  test("one whose installation is suspended waits without a call, and goes on when that ends", async () => {
    github.sim.suspend(github.installationId);
    await settled();
    expect(bot.repositories()).toEqual([]);
    const calls: string[] = [];
    github.sim.faults.request = ({ path }) => void calls.push(path);
    github.sim.actAs("mia").comment("acme/config", await pull(), "hello");
    await settled();
    await bot.resync();
    await settled();
    expect(calls.filter((path) => !path.startsWith("/app"))).toEqual([]);
    delete github.sim.faults.request;
    github.sim.unsuspend(github.installationId);
    await settled();
    expect(bot.repositories()).toEqual(["acme/config"]);
    expect(mirror("acme/config")).toBe(true);
  });

  test("what no webhook tells, the resync finds; one installation that cannot be listed takes nothing away", async () => {
    github.sim.faults.webhook = () => "lose";
    const made = await github.sim.createRepo({ owner: "umbrella", name: "config", files: new Map([["README.md", "x\n"]]) });
    await bot.resync();
    await settled();
    expect(bot.repositories().sort()).toEqual(["acme/config", "umbrella/config"]);
    github.sim.faults.request = ({ path }) => (path === "/installation/repositories" ? { status: 502, body: {} } : undefined);
    github.sim.uninstall(made.installationId ?? 0);
    await bot.resync();
    await settled();
    expect(bot.repositories()).toEqual(["acme/config"]);
    expect(errors().map((line) => line.message)).toEqual(["the repositories of an installation could not be listed"]);
  });

  test.each(["told by an event", "found by the resync"])("permissions given later are used without a restart: %s", async (how) => {
    // Without a rollout only a check that is required is shown.
    github.sim.protect("acme/config", "main", { requiredChecks: ["stagecoach/plan", "stagecoach/gate"] });
    // Rules are read again after five minutes.
    github.clock.step(6 * 60_000);
    await settled();
    const { checks: _checks, ...fewer } = manifest.default_permissions;
    github.sim.setPermissions(github.installationId, fewer);
    github.sim.expireTokens();
    const number = await pull();
    await settled();
    expect(await planChecks(number)).toEqual([]);
    await bot.resync();
    await settled();
    const message = "the App may not write checks: they are left out until it may";
    expect(lines.filter((line) => line.message === message)).toHaveLength(1);
    if (how === "found by the resync") github.sim.faults.webhook = () => "lose";
    github.sim.setPermissions(github.installationId, manifest.default_permissions);
    // Each try costs a token and a call: without the event once an hour is enough.
    if (how === "found by the resync") {
      github.clock.step(3_600_000);
      await bot.resync();
    }
    await settled();
    expect(await planChecks(number)).toEqual(["not a rollout PR"]);
  });

  test("a token that is taken back is renewed in the midst of the work", async () => {
    github.sim.expireTokens();
    await bot.resync();
    await settled();
    // Git's token, too: it is renewed when it is refused, and the next look has the new one.
    github.clock.step(2000);
    await settled();
    lines = [];
    github.sim.actAs("mia").comment("acme/config", await pull(), "hello");
    await settled();
    expect(errors()).toEqual([]);
  });
});

describe("what comes later is found without a restart", () => {
  test("a repository whose ApplicationSets are pushed after the App was installed is onboarded", async () => {
    await github.sim.createRepo({ owner: "acme", name: "fresh", files: new Map([["README.md", "x\n"]]) });
    await bot.resync();
    await settled();
    const set = readFileSync(new URL("../../../../fixtures/fleet/appsets/my-app-set.yaml", import.meta.url), "utf8");
    const files = { "appsets/set.yaml": set };
    await github.sim.actAs("acme").push("acme/fresh", { branch: "main", files, message: "Sets" });
    await settled();
    expect(await openTitles("acme/fresh")).toEqual([]);
    github.clock.step(30_000);
    await settled();
    expect(await openTitles("acme/fresh")).toEqual(["Configure Stagecoach"]);
  });

  test("why no run would start is told on a merged pull request that GitHub lists a little late", async () => {
    let late = true;
    const asked: string[] = [];
    github.sim.faults.request = ({ path }) => {
      if (!/\/commits\/[0-9a-f]{40}\/pulls$/.test(path)) return undefined;
      asked.push(path);
      return late ? { status: 200, body: [] } : undefined;
    };
    // Never seen while it was open, so nothing was said on it then.
    github.sim.faults.webhook = () => "lose";
    await github.branch("broken", { "rollouts/a.yaml": "kind: ProgressiveRollout\n" });
    const wim = github.sim.actAs("wim");
    const number = await wim.openPull("acme/config", { head: "broken", title: "Broken" });
    await wim.mergePull("acme/config", number, "squash");
    for (let n = 0; n < 2; n++) {
      await bot.resync();
      await settled();
    }
    expect([asked.length, await commentsOn(number)]).toEqual([1, []]);
    late = false;
    for (let n = 0; n < 2; n++) {
      expect(asked).toHaveLength(1);
      github.clock.step(30_000);
      await settled();
    }
    // Comments follow the rounds: they are on their way when a round has ended.
    for (let n = 0; n < 500 && (await commentsOn(number)).length === 0; n++) await settled();
    expect([asked.length, await commentsOn(number)]).toEqual([2, [expect.stringContaining("❌")]]);
    github.clock.step(60_000);
    await settled();
    expect(asked).toHaveLength(2);
  });
});

async function get<T>(path: string): Promise<T> {
  const headers = { authorization: `token ${github.sim.token("acme")}` };
  return (await (await fetch(`${github.sim.url}/repos/${path}`, { headers })).json()) as T;
}

async function openTitles(repository: string): Promise<string[]> {
  return (await get<{ title: string }[]>(`${repository}/pulls`)).map(({ title }) => title);
}

async function commentsOn(number: number): Promise<string[]> {
  return (await get<{ body: string }[]>(`acme/config/issues/${number}/comments`)).map(({ body }) => body);
}

/** Titles of stagecoach/plan at the head of a PR. */
async function planChecks(number: number): Promise<string[]> {
  const { head } = await get<{ head: { sha: string } }>(`acme/config/pulls/${number}`);
  const all = await get<{ check_runs: { name: string; output: { title: string } }[] }>(`acme/config/commits/${head.sha}/check-runs`);
  return all.check_runs.filter((run) => run.name === "stagecoach/plan").map((run) => run.output.title);
}

async function pull(): Promise<number> {
  await github.branch("topic", { "topic.txt": "x\n" });
  return github.sim.actAs("wim").openPull("acme/config", { head: "topic", title: "Topic" });
}

describe("deliveries nobody would send", () => {
  async function send(event: string, body: string, delivery: string, signature = sign(SECRET, body)): Promise<number> {
    const headers = {
      "content-type": "application/json",
      "x-github-event": event,
      "x-github-delivery": delivery,
      ...(signature === "" ? {} : { "x-hub-signature-256": signature }),
    };
    return (await fetch(`${bot.url}${WEBHOOK_PATH}`, { method: "POST", headers, body })).status;
  }

  test.each([
    ["an event nobody knows", "sorcery", { repository: { full_name: "acme/config" } }, 200],
    ["an empty payload", "push", {}, 200],
    ["fields of other types", "issue_comment", { repository: { full_name: 7 }, issue: { number: "x" }, installation: [] }, 200],
    ["a repository that is none of ours", "push", { repository: { full_name: "else/where" }, installation: { id: 1 } }, 200],
    ["an installation that is none of ours", "installation", { action: "created", installation: { id: -1 } }, 200],
    ["no payload at all", "push", null, 500],
    ["a payload that is text", "push", "payload", 500],
  ])("with %s: answered, and the bot goes on", async (what, event, payload, status) => {
    const id = `bad-${what.replaceAll(" ", "-")}`;
    expect(await send(event, JSON.stringify(payload), id)).toBe(status);
    await settled();
    expect(bot.repositories()).toEqual(["acme/config"]);
    expect(lines.some((line) => line.fields["delivery"] === id || line.fields["deliveryId"] === id)).toBe(true);
    expect(await send("push", JSON.stringify({ repository: { full_name: "acme/config" } }), "good")).toBe(200);
  });

  test("what is refused is told with its delivery id, or with none where that is no id; never with its content", async () => {
    expect(await send("push", '{"token":"ghs_0123456789abcdef"}', "forged-1", "sha256=00")).toBe(400);
    expect(await send("push", "{}", "unsigned-1", "")).toBe(400);
    expect(await send("push", "no json", "no-json-1")).toBe(400);
    expect(await send("push", "{}", "<script>alert(1)</script>", "sha256=00")).toBe(400);
    const refused = lines.filter((line) => line.message === "a delivery was refused");
    expect(refused.map((line) => line.fields["delivery"])).toEqual(["forged-1", "unsigned-1", "no-json-1", "unreadable"]);
    expect(JSON.stringify(lines)).not.toContain("ghs_");
  });
});
