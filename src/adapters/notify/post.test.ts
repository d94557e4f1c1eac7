import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HOOK_SECRET, type Services, SLACK_TOKEN, startServices } from "../../../test/support/notify-services.ts";
import { sampleRun } from "../../../test/support/sample-run.ts";
import { epoch } from "../../core/base/time.ts";
import { untold } from "../../core/report/notify/events.ts";
import { type Notice, runCardOf, runNotice } from "../../core/report/notify/notice.ts";
import type { Run } from "../../core/run/state/run.ts";
import { mail } from "./mail.ts";
import { NotSent } from "./port.ts";
import { cloudEventWebhook, slackBot, slackWebhook, teams } from "./post.ts";

let services: Services;
beforeAll(async () => {
  services = await startServices();
});
afterAll(() => services.close());
beforeEach(() => {
  Object.assign(services, { hooks: [], mails: [], updates: 0, problems: [], faults: [] });
  services.slack.clear();
});

const NOW = epoch("2026-11-21T09:10:00.000Z");

function noticeOf(run: Run): Notice {
  return runNotice({ repository: "acme/fleet", source: "https://github.com/acme/fleet" }, run, untold(undefined, run, NOW).events, NOW);
}

const started = noticeOf(sampleRun());
const ended = noticeOf(sampleRun({ phase: "Succeeded", endedAt: "2026-11-21T09:09:00.000Z" }));
const refusal = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error as NotSent);

describe("Slack by a bot's token", () => {
  const slack = (token = SLACK_TOKEN) => slackBot({ api: `${services.url}/api/`, channel: "C1", token: () => token }, {});

  test("a run is one message, brought up to date, and what happens later stands in its thread", async () => {
    const { thread } = await slack().send(started, undefined);
    await slack().send(ended, thread);
    const [root, reply, ...more] = services.slack.values();
    expect([root?.text, reply?.thread_ts, reply?.reply_broadcast, more.length]).toEqual([
      expect.stringContaining("Succeeded"),
      root?.ts,
      false,
      0,
    ]);
    await slack().update?.(runCardOf(sampleRun(), NOW), "acme/fleet", thread ?? { channel: "", ts: "" });
    expect(services.slack.get(root?.ts ?? "")?.text).toContain("Progressing");
    expect(services.problems).toEqual([]);
  });

  test("a message that somebody deleted is written anew", async () => {
    const { thread } = await slack().send(ended, { channel: "C1", ts: "1.0" });
    expect([thread?.ts, services.slack.size]).toEqual([[...services.slack.keys()][0], 1]);
  });

  test("what Slack refuses is tried again only where that may help", async () => {
    expect(await refusal(slack("wrong").send(started, undefined))).toMatchObject({ again: false, message: "Slack says: invalid_auth" });
    services.faults.push({ status: 429, headers: { "retry-after": "30" } });
    expect(await refusal(slack().send(started, undefined))).toMatchObject({ again: true, afterMs: 30_000 });
    services.faults.push({ status: 200, body: '{"ok":false,"error":"fatal_error"}' });
    expect(await refusal(slack().send(started, undefined))).toMatchObject({ again: true });
  });
});

test("an incoming webhook of Slack, a Teams Workflow, and CloudEvents in both modes take what they are sent", async () => {
  await slackWebhook(() => `${services.url}/slack-hook`, {}).send(ended, undefined);
  await teams(() => `${services.url}/teams`, {}).send(ended, undefined);
  const events = (mode: "structured" | "binary") =>
    cloudEventWebhook({ url: `${services.url}/events/${mode}`, mode, secret: () => HOOK_SECRET }, {});
  await events("structured").send(ended, undefined);
  await events("binary").send(ended, undefined);
  expect(services.problems).toEqual([]);
  expect(services.hooks.map(({ path }) => path)).toEqual([
    "/slack-hook",
    "/teams",
    ...["/events/structured", "/events/structured", "/events/binary", "/events/binary"],
  ]);
  expect(services.hooks.at(-1)?.headers).toMatchObject({ "ce-type": "dev.stagecoach.ended.v1", "ce-specversion": "1.0" });
});

describe("e-mail", () => {
  const sender = (timeoutMs?: number, port = services.smtpPort) =>
    mail(
      {
        host: "127.0.0.1",
        port,
        tls: "none",
        user: undefined,
        password: () => undefined,
        from: "Stagecoach <bot@example.com>",
        to: ["a@example.com"],
      },
      { timeoutMs },
    );

  test("is sent with the id and the thread of its run", async () => {
    await sender().send(started, undefined);
    await sender().send(ended, undefined);
    const [first = "", second = ""] = services.mails;
    const header = (text: string, name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(text)?.[1]?.trim();
    expect(header(first, "Subject")).toContain("[acme/fleet] payments #");
    expect(header(first, "References")).toBe(header(second, "References"));
    expect(header(first, "Message-ID")).not.toBe(header(second, "Message-ID"));
    expect(header(first, "Auto-Submitted")).toBe("auto-generated");
  });

  test("goes nowhere without STARTTLS where that is wanted", async () => {
    const secured = mail(
      {
        host: "127.0.0.1",
        port: services.smtpPort,
        tls: "starttls",
        user: undefined,
        password: () => undefined,
        from: "a@b.c",
        to: ["a@example.com"],
      },
      {},
    );
    expect(await refusal(secured.send(started, undefined))).toBeInstanceOf(NotSent);
    expect(services.mails).toEqual([]);
  });
});

test("what redirects, answers without an end, or never, is left", async () => {
  const hook = (options: { timeoutMs?: number } = {}) => teams(() => `${services.url}/teams`, options);
  services.faults.push({ status: 302, headers: { location: "http://169.254.169.254/" } });
  expect(await refusal(hook().send(started, undefined))).toMatchObject({ again: false });
  services.faults.push({ status: 200, body: "x".repeat(10 * 1024 * 1024) });
  expect(await refusal(hook().send(started, undefined))).toMatchObject({ again: false });
  expect(services.hooks).toEqual([]);
});
