/** Notifications: a service that means harm, repositories that want another's destination, and names that would be markup. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { NotSent } from "../../src/adapters/notify/port.ts";
import { cloudEventWebhook, teams } from "../../src/adapters/notify/post.ts";
import { epoch } from "../../src/core/base/time.ts";
import { said } from "../../src/core/reasons/run.ts";
import type { RefusedModel } from "../../src/core/report/model/refused.ts";
import { refusedEvent, untold } from "../../src/core/report/notify/events.ts";
import { runNotice, testNotice } from "../../src/core/report/notify/notice.ts";
import { listen } from "../../src/sim/listen.ts";
import { parseServerConfig } from "../../src/surfaces/server/config/file.ts";
import { openDestinations, openNotifications } from "../../src/surfaces/server/config/notify.ts";
import { openLog } from "../../src/surfaces/server/log.ts";
import { manualClock } from "../support/manual-clock.ts";
import { HOOK_SECRET, type Services, SLACK_TOKEN, startServices } from "../support/notify-services.ts";
import { sampleRun } from "../support/sample-run.ts";

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(ends.map((end) => end()));
  ends = [];
});

async function services(): Promise<Services> {
  const started = await startServices();
  ends.push(() => started.close());
  return started;
}

const notice = testNotice("calls", "2026-11-21T09:00:00.000Z");
const refusal = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error as NotSent);

function configOf(url: string) {
  const text = `notifications:
  destinations:
    - { name: slack, kind: slack, channel: C1, url: "${url}/api/", secretEnv: TOKEN, repositories: ["acme/*"] }
    - { name: teams, kind: teams, secretEnv: TEAMS, repositories: ["acme/*"] }
`;
  const { config, problems } = parseServerConfig(text, "stagecoach.yaml");
  if (config === undefined) throw new Error(JSON.stringify(problems));
  return config;
}

describe("a service that means harm", () => {
  test("is not followed, nor read without an end, nor waited for", async () => {
    const bad = await services();
    const sender = teams(() => `${bad.url}/teams`, {});
    bad.faults.push({ status: 307, headers: { location: `${bad.url}/others` } });
    expect(await refusal(sender.send(notice, undefined))).toMatchObject({ again: false });
    bad.faults.push({ status: 200, body: "x".repeat(10 * 1024 * 1024) });
    expect(await refusal(sender.send(notice, undefined))).toMatchObject({ again: false });
    expect(bad.hooks).toEqual([]);
    const silent = await listen(createServer(() => undefined));
    ends.push(() => silent.close());
    expect(await refusal(teams(() => silent.url, { timeoutMs: 50 }).send(notice, undefined))).toMatchObject({ again: true });
  });

  test("whose name leads into the network is not asked", async () => {
    const lookup = ((_name: string, _options: object, done: (error: null, found: object[]) => void) =>
      done(null, [{ address: "169.254.169.254", family: 4 }])) as never;
    const refused = await refusal(teams(() => "https://example.com/teams", { lookup }).send(notice, undefined));
    expect(refused).toMatchObject({ again: false, message: expect.stringContaining("169.254.169.254") });
  });

  test("says its secret back, and no line of the log has it", async () => {
    const bad = await services();
    const env = { TOKEN: SLACK_TOKEN, TEAMS: `${bad.url}/teams?sig=known-to-teams` };
    const lines: string[] = [];
    const log = openLog({ level: "debug", format: "json", write: (line) => void lines.push(line) });
    const directory = await mkdtemp(join(tmpdir(), "stagecoach-notify-"));
    ends.push(() => rm(directory, { recursive: true, force: true }));
    const clock = manualClock(0);
    const notifier = openNotifications(configOf(bad.url), env, { directory, clock, log });
    bad.faults.push({ status: 400, body: `no: ${env.TEAMS} ${SLACK_TOKEN}` }, { status: 400, body: `no: ${env.TEAMS} ${SLACK_TOKEN}` });
    notifier?.tell("acme/fleet", {
      told: { rollouts: {}, refused: [] },
      notices: [{ to: ["slack", "teams"], notice: { ...notice, repository: "acme/fleet" } }],
      cards: new Map(),
    });
    await notifier?.settled();
    await notifier?.close();
    const own = lines.filter((line) => line.includes("given up"));
    expect(own).toHaveLength(2);
    expect(own.find((line) => line.includes('"slack"'))).not.toContain(SLACK_TOKEN);
    expect(own.find((line) => line.includes('"teams"'))).not.toContain("known-to-teams");
  });
});

test("a repository uses no destination of another, though it names it", async () => {
  const directory = await mkdtemp(join(tmpdir(), "stagecoach-notify-"));
  ends.push(() => rm(directory, { recursive: true, force: true }));
  const log = openLog({ level: "silent", format: "json" });
  const notifier = openNotifications(configOf("http://127.0.0.1:1"), {}, { directory, clock: manualClock(0), log });
  expect(["acme/fleet", "evil/fleet", "acme/fleet/x"].map((one) => notifier?.mayUse(one, "slack"))).toEqual([true, false, false]);
});

test("names and messages with markup reach every service as text", async () => {
  const markup = "<!channel> <https://evil.example|login> [x](http://evil.example) <at>all</at>";
  const good = await services();
  const run = sampleRun({ why: said(markup), rollout: markup });
  const now = epoch(run.startedAt);
  const told = runNotice(
    { repository: "acme/fleet", source: "https://github.com/acme/fleet" },
    run,
    untold(undefined, run, now).events,
    now,
  );
  const env = { TOKEN: SLACK_TOKEN, TEAMS: `${good.url}/teams` };
  for (const { sender } of openDestinations(configOf(good.url), env)) await sender.send(told, undefined);
  const slack = JSON.stringify([...good.slack.values()]);
  expect(slack).toContain("channel");
  expect(slack).not.toMatch(/<!channel>|<https:\/\/evil/);
  const card = JSON.stringify(good.hooks.map(({ body }) => body));
  expect(card).toContain("channel");
  expect(card).not.toMatch(/<at>|"TextBlock"/);
  expect(good.problems).toEqual([]);
});

test("a release whose name is cut in the middle of a character, or has half of one, holds up no destination", async () => {
  const good = await services();
  for (const release of [`${"x".repeat(479)}😀`, "\ud83d"]) {
    const event = refusedEvent({ rollout: "payments", pull: 12, release, since: "2026-11-21T09:00:00.000Z" } as RefusedModel);
    for (const mode of ["structured", "binary"] as const) {
      const sender = cloudEventWebhook({ url: `${good.url}/events/${mode}`, mode, secret: () => HOOK_SECRET }, {});
      await sender.send({ ...notice, events: [event] }, undefined);
    }
  }
  expect(good.hooks).toHaveLength(4);
  expect(good.problems).toEqual([]);
});

test("a secret's file is read at each message, and what lacks is said without its content", async () => {
  const directory = await mkdtemp(join(tmpdir(), "stagecoach-notify-"));
  ends.push(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, "url");
  await writeFile(file, "not an address: secret-text");
  const { config } = parseServerConfig(
    `notifications: { destinations: [{ name: t, kind: teams, secretFile: ${file} }] }`,
    "stagecoach.yaml",
  );
  if (config === undefined) throw new Error("unusable");
  const [one] = openDestinations(config, {});
  expect(await refusal(one?.sender.send(notice, undefined) ?? Promise.resolve())).toMatchObject({ message: "its address is none" });
});
