import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { silentLog } from "../reconcile/context.ts";
import { type TestGitHub, testGitHub } from "../sim/github/testing/setup.ts";
import type { BotEvent } from "./inbox.ts";
import { type BotServer, startBotServer, WEBHOOK_PATH } from "./server.ts";
import { openSweeper, type Sweeper } from "./sweeper.ts";

const SECRET = "the secret of this test";
let github: TestGitHub;
let server: BotServer;
let heard: BotEvent[];
let sweeper: Sweeper;
let topics = 0;

beforeEach(async () => {
  github = await testGitHub();
  heard = [];
  const { id: appId, privateKey } = github.sim.app;
  const app = { appId, privateKey, webhookSecret: SECRET, baseUrl: github.sim.url };
  server = await startBotServer({ app, log: silentLog, onEvent: (event) => heard.push(event), isReady: () => true, pacing: false });
  sweeper = openSweeper({ app: () => server.octokit(), clock: github.clock, log: silentLog });
  github.sim.setWebhook({ url: `${server.url}${WEBHOOK_PATH}`, secret: SECRET });
  // What was sent before there was anybody to hear it.
  await sweepAfter(60_000);
  heard = [];
});

afterEach(async () => {
  await server.close();
  await github.sim.close();
});

const comments = () => heard.filter((event) => event.name === "issue_comment");

/** A comment whose delivery meets the fate that was set. */
async function comment(): Promise<number> {
  const head = `topic-${++topics}`;
  await github.branch(head, { "topic.txt": "x\n" });
  const number = await github.sim.actAs("wim").openPull(github.repository, { head, title: "Topic" });
  github.sim.actAs("wim").comment(github.repository, number, "/pause");
  await github.sim.idle();
  return number;
}

async function sweepAfter(ms: number): Promise<number> {
  github.clock.step(ms);
  const asked = await sweeper.sweep();
  await github.sim.idle();
  return asked;
}

describe("the sweeper", () => {
  test("has failed deliveries sent again, under their GUIDs, and those that arrived not", async () => {
    github.sim.faults.webhook = ({ event }) => (event === "issue_comment" ? "drop" : "deliver");
    await comment();
    expect(comments()).toEqual([]);
    const before = heard.length;
    delete github.sim.faults.webhook;
    expect(await sweepAfter(60_000)).toBe(1);
    expect([comments().length, heard.length]).toEqual([1, before + 1]);
    const [dropped] = github.sim.deliveries.filter((one) => one.event === "issue_comment");
    expect(comments()[0]?.deliveryId).toBe(dropped?.guid);
    expect(await sweepAfter(60_000)).toBe(0);
  });

  test("leaves a delivery alone that may still be on its way", async () => {
    github.sim.faults.webhook = ({ event }) => (event === "issue_comment" ? "drop" : "deliver");
    await comment();
    delete github.sim.faults.webhook;
    expect(await sweepAfter(10_000)).toBe(0);
    expect(await sweepAfter(60_000)).toBe(1);
    expect(comments()).toHaveLength(1);
  });

  test("asks for one that keeps failing three times, and then no more", async () => {
    await comment();
    github.sim.setWebhook({ url: "http://127.0.0.1:1/", secret: SECRET });
    await github.branch("other", { "other.txt": "x\n" });
    await github.sim.idle();
    const failing = new Set(github.sim.deliveries.filter((one) => one.status === 0).map((one) => one.guid)).size;
    expect(failing).toBeGreaterThan(0);
    const asked: number[] = [];
    for (let sweep = 0; sweep < 5; sweep++) asked.push(await sweepAfter(120_000));
    expect(asked).toEqual([failing, failing, failing, 0, 0]);
  });

  test("goes on where the list has more than one page", async () => {
    github.sim.faults.webhook = ({ event }) => (event === "issue_comment" ? "drop" : "deliver");
    await comment();
    delete github.sim.faults.webhook;
    const number = await comment();
    for (let n = 0; n < 110; n++) github.sim.actAs("wim").comment(github.repository, number, `more ${n}`);
    await github.sim.idle();
    const [dropped] = github.sim.deliveries.filter((one) => one.event === "issue_comment");
    heard = [];
    expect(await sweepAfter(60_000)).toBe(1);
    expect(comments().map((event) => event.deliveryId)).toEqual([dropped?.guid]);
  });
});
