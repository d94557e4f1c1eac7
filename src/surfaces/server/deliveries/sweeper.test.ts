import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { silentLog } from "../../../engine/round/context.ts";
import { type TestGitHub, testGitHub } from "../../../sim/github/testing/setup.ts";
import type { BotEvent } from "./on-event.ts";
import { type BotServer, startBotServer, WEBHOOK_PATH } from "./server.ts";
import { openSweeper } from "./sweeper.ts";

const SECRET = "the secret of this test";
let github: TestGitHub;
let server: BotServer;
let heard: BotEvent[];
let sweeper: ReturnType<typeof openSweeper>;
let topics = 0;

beforeEach(async () => {
  github = await testGitHub();
  heard = [];
  const { id: appId, privateKey } = github.sim.app;
  const app = { appId, privateKey, webhookSecret: SECRET, baseUrl: github.sim.url };
  server = await startBotServer({ app, log: silentLog, onEvent: (event) => heard.push(event), state: () => "ready", pacing: false });
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
  const asked = await sweeper();
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

  /** The list and the requests of a GitHub that has this many failed deliveries, and answers requests with this status. */
  function listed(count: number, statusOf: (id: number) => number = () => 202) {
    const sentAt = github.clock.now();
    const asked: number[] = [];
    const data = Array.from({ length: count }, (_, id) => ({
      id,
      guid: `guid-${id}`,
      delivered_at: new Date(sentAt).toISOString(),
      status_code: 502,
    }));
    const apps = {
      listWebhookDeliveries: async ({ cursor = "0" }) => {
        const next = Number(cursor) + 100;
        const link = next < count ? `<https://api.github.com/app/hook/deliveries?cursor=${next}>; rel="next"` : undefined;
        return { data: data.toReversed().slice(Number(cursor), next), headers: { link } };
      },
      redeliverWebhookDelivery: async ({ delivery_id: id }: { delivery_id: number }) => {
        const status = statusOf(id);
        if (status >= 400) throw Object.assign(new Error("no"), { status });
        asked.push(id);
        for (const one of data) if (one.id === id) one.status_code = 200;
      },
    };
    const octokit = { rest: { apps } } as unknown as Awaited<ReturnType<BotServer["octokit"]>>;
    return { asked, sweeper: openSweeper({ app: async () => octokit, clock: github.clock, log: silentLog }) };
  }

  test("what it did not ask for, since it were too many at once, it asks for the next times", async () => {
    const { asked, sweeper: many } = listed(250);
    const counts: number[] = [];
    for (let look = 0; look < 4; look++) {
      github.clock.step(10 * 60_000);
      counts.push(await many());
    }
    expect([counts, new Set(asked).size]).toEqual([[100, 100, 50, 0], 250]);
  });

  test("what could not be asked for in an outage, however long, it asks for after it", async () => {
    let down = true;
    const { sweeper: some } = listed(3, () => (down ? 502 : 202));
    for (let look = 0; look < 5; look++) {
      github.clock.step(10 * 60_000);
      expect(await some()).toBe(0);
    }
    down = false;
    github.clock.step(10 * 60_000);
    expect(await some()).toBe(3);
  });

  test("one that GitHub will not send again keeps it from nothing, and is given up", async () => {
    let refused = 0;
    const { asked, sweeper: some } = listed(3, (id) => {
      if (id === 0) refused += 1;
      return id === 0 ? 404 : 202;
    });
    for (let look = 0; look < 5; look++) {
      github.clock.step(60_000);
      await some();
    }
    expect([asked, refused]).toEqual([[1, 2], 3]);
  });
});
