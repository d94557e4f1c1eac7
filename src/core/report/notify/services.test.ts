import { createHash } from "node:crypto";
import type { KnownBlock } from "@slack/types";
import { describe, expect, test } from "vitest";
import { cloudEventProblems, slackProblems, teamsProblems } from "../../../../test/support/notify-shapes.ts";
import { sampleRun } from "../../../../test/support/sample-run.ts";
import { epoch } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import { refusedModel } from "../model/refused.ts";
import { pagesOf } from "../page-places.ts";
import { REFUSED_RELEASE, SITUATIONS } from "../testing/situations.ts";
import { binaryHeaders, cloudEvents } from "./cloud-event.ts";
import { refusedEvent, untold } from "./events.ts";
import { mailOf } from "./mail.ts";
import { digestOf, type Notice, noticeSchema, refusedNotice, runNotice } from "./notice.ts";
import { slackMessage } from "./slack.ts";
import { teamsMessage } from "./teams.ts";

const OF = { repository: "acme/fleet", source: "https://github.com/acme/fleet" };
const page = pagesOf("https://deploy.example.com", OF.repository);
const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 32);

function noticeOf(situation: keyof typeof SITUATIONS): Notice {
  const { run, now } = SITUATIONS[situation]?.() ?? { run: sampleRun(), now: 0 };
  return runNotice(OF, run, untold(undefined, run, now).events, now, { page });
}

const HOSTILE = `<!channel> <@U1|x> &amp; <at>Ann</at> [a](javascript:1) {{DATE(2026-01-01)}} \${secret} <b onload=1>\r\nBcc: eve@example.com`;

function hostile(): Notice {
  const run = sampleRun({ why: said(HOSTILE) });
  const { events } = untold(undefined, run, epoch(run.since));
  return runNotice({ ...OF, repository: `acme/${HOSTILE}` }, { ...run, rollout: HOSTILE }, events, epoch(run.since));
}

const refused = refusedModel(REFUSED_RELEASE);
const ALL: Notice[] = [
  ...Object.keys(SITUATIONS).map(noticeOf),
  refusedNotice(OF, refused, refusedEvent(refused), undefined),
  digestOf(Array.from({ length: 40 }, () => noticeOf("failed"))),
  hostile(),
];

describe("a message in the shape that its service publishes", () => {
  test("what is kept on disk until it is sent is read as it was written", () => {
    for (const notice of ALL) expect(noticeSchema.parse(JSON.parse(JSON.stringify(notice)))).toEqual(notice);
  });

  test("Slack's blocks", () => {
    for (const notice of ALL) {
      const { text, blocks } = slackMessage(notice);
      expect(slackProblems({ text, blocks: blocks satisfies KnownBlock[] })).toEqual([]);
    }
  });

  test("an Adaptive Card in the envelope of a Workflow", () => {
    for (const notice of ALL) expect(teamsProblems(teamsMessage(notice))).toEqual([]);
  });

  test("CloudEvents, structured and binary", () => {
    for (const notice of ALL)
      for (const event of cloudEvents(notice)) {
        expect(cloudEventProblems(event)).toEqual([]);
        const headers = binaryHeaders(event);
        expect(Object.values(headers).join("")).toMatch(/^[\x21-\x7e /;=]*$/);
        expect(decodeURIComponent(headers["ce-id"] ?? "")).toBe(event.id);
      }
  });

  test("the largest there is fits, with its shape", () => {
    const long = "x".repeat(600);
    const most = { ...noticeOf("failed"), title: "t".repeat(300), lines: Array.from({ length: 40 }, () => long) };
    expect([...slackProblems(slackMessage(most)), ...teamsProblems(teamsMessage(most))]).toEqual([]);
  });
});

describe("names and messages of others are words, whatever they hold", () => {
  test("Slack finds no mention and no link in them", () => {
    const sent = JSON.stringify(slackMessage(hostile()));
    expect(sent.match(/<[^>]*>/g)).toEqual(["<https://github.example/o/r/pull/10|#10>"]);
    expect(sent).toContain("&lt;!channel&gt; &lt;@U1|x&gt; &amp;amp;");
  });

  test("an Adaptive Card has them in text runs alone, without macros and mentions", () => {
    const sent = JSON.stringify(teamsMessage(hostile()));
    expect(sent).not.toContain("{{");
    expect(sent).not.toContain("${");
    expect(sent).not.toMatch(/<\/?at>/);
    expect(sent).not.toContain('"TextBlock"');
  });

  test("e-mail has one line a header, and HTML no element of theirs", () => {
    const mail = mailOf(hostile(), "Stagecoach <bot@example.com>", hash);
    expect(mail.subject).not.toMatch(/[\r\n]/);
    expect(mail.html.match(/<\/?[a-z0-9]+/g)?.filter((tag) => !/^<\/?(h3|p|a)$/.test(tag)) ?? []).toEqual([]);
  });
});

test("what is told of a failure names the cluster's trouble, what to do, the page and the pull request", () => {
  const { title, lines, links } = noticeOf("failed");
  expect({ title, lines, links }).toMatchInlineSnapshot(`
    {
      "lines": [
        "c3 failed, and the stage allows no failure: it has been Degraded since 09:00:03 UTC (Deployment "web": 0 of 3 pods are ready, CrashLoopBackOff).",
        "app-c3 on c3: Deployment "web": 0 of 3 pods are ready, CrashLoopBackOff",
        "/retry looks again, /requeue c3 puts it back and tries it last, /skip c3 leaves it out, /resume accepts it as failed (needs maintain), /abort ends the run.",
        "1 of 4 clusters are healthy at the release. Released by alice.",
      ],
      "links": [
        {
          "name": "#1",
          "url": "https://forge.invalid/pull/1",
        },
        {
          "name": "page",
          "url": "https://deploy.example.com/r/acme/fleet/payments/runs/42",
        },
      ],
      "title": "payments #42 waits for you",
    }
  `);
});

test("a digest says how many, of what, and the gravest first", () => {
  const digest = digestOf([noticeOf("running"), noticeOf("done"), noticeOf("failed")]);
  expect(digest.title).toBe("acme/fleet: 3 things happened");
  expect(digest.lines).toMatchInlineSnapshot(`
    [
      "3 × run.started, 1 × ended, 1 × failed, 1 × needs-you",
      "payments #42 waits for you",
      "payments #42 has ended: Succeeded",
      "payments #42 has begun: v2",
    ]
  `);
  expect(digestOf([digest, noticeOf("done")])).toMatchObject({ stands: 4, tone: "bad" });
});

test("e-mail of one run stands in one thread, and the same message has the same id", () => {
  const [one, again, other] = [noticeOf("failed"), noticeOf("failed"), noticeOf("done")].map((notice) =>
    mailOf(notice, "bot@example.com", hash),
  );
  expect(one?.messageId).toBe(again?.messageId);
  expect(one?.messageId).not.toBe(other?.messageId);
  expect(one?.references).toBe(other?.references);
  expect(one?.messageId).toMatch(/^<[0-9a-f]{32}@example\.com>$/);
});
