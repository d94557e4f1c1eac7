import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, test } from "vitest";
import { batchTarget, measuredRun, sampleRun } from "../../../../test/support/sample-run.ts";
import { wideRun } from "../../../../test/support/wide-run.ts";
import { fleetOf, fleetRefused, fleetRollout } from "../../../core/report/model/fleet.ts";
import { refusedModel } from "../../../core/report/model/refused.ts";
import { runDocument } from "../../../core/report/model/run-document.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import { runComment } from "../../../core/report/run/run-comment.ts";
import { REFUSED_RELEASE, SITUATIONS } from "../../../core/report/testing/situations.ts";
import type { Run } from "../../../core/run/state/run.ts";
import { FleetScreen } from "./fleet.tsx";
import { parseSafely } from "./live.ts";
import { Notice, Refused } from "./notices.tsx";
import { WayToNow } from "./route.tsx";
import { RunScreen } from "./run.tsx";
import { TargetScreen } from "./target.tsx";
import { pageText } from "./testing/page-text.ts";
import { axisOf, lanesOf } from "./time-axis.tsx";
import { ClockContext } from "./times.tsx";

const repository = "acme/config";
const linkTo = (key: string) => `https://argocd.example.com/applications/${key.split("/").slice(1).join("/")}`;

function at(now: number, screen: VNode): string {
  return pageText(<ClockContext.Provider value={{ now: () => now }}>{screen}</ClockContext.Provider>);
}

function drawn(run: Run, now: number, target?: string): string {
  return at(now, screenOf(run, now, target));
}

function screenOf(run: Run, now: number, target?: string): VNode {
  const document = runDocument(modelOf(run, now, { linkTo }), now, { repository });
  return <RunScreen of={document} target={target} open={() => undefined} />;
}

function drawnHtml(run: Run, now: number, target?: string): string {
  return renderToString(<ClockContext.Provider value={{ now: () => now }}>{screenOf(run, now, target)}</ClockContext.Provider>);
}

describe("the page", () => {
  test("in every situation it shows what was agreed on", async () => {
    const pages = Object.entries(SITUATIONS).map(([name, situation]) => {
      const { run, now } = situation();
      return `${"=".repeat(20)} ${name}\n\n${drawn(run, now)}\n`;
    });
    const refused = at(Date.parse(REFUSED_RELEASE.at), <Refused of={refusedModel(REFUSED_RELEASE)} />);
    pages.push(`${"=".repeat(20)} refused before it began\n\n${refused}\n`, `${"=".repeat(20)} all of them\n\n${fleet("", "")}\n`);
    await expect(pages.join("\n")).toMatchFileSnapshot("../../../core/report/__snapshots__/situations/page.txt");
  });

  test("what is asked for is found by any of its words, or by what it wants", () => {
    const found = (q: string, state: string) => [...fleet(q, state).matchAll(/\/r\/acme\/config\/([\w-]+)>/g)].map(([, name]) => name);
    expect(found("WINDOW shut", "")).toEqual(["window-shut"]);
    expect(fleet("nothing like it", "")).toContain("No rollout is like that.");
    expect(found("", "Done")).toEqual(["done"]);
  });

  test("a stage without clusters says so, on the page and in the comment", () => {
    const { run, now } = SITUATIONS["running"]?.() ?? { run: undefined, now: 0 };
    const [first] = run?.plan.stages ?? [];
    if (run === undefined || first === undefined) throw new Error("the situation has stages");
    const empty = { ...first, name: "empty", clusters: [], requeued: [], batches: [] };
    const emptied = { ...run, plan: { ...run.plan, stages: [...run.plan.stages, empty] } };
    expect(drawn(emptied, now)).toMatch(/empty\s*no clusters/);
    expect(runComment(emptied, now)).toContain("| no clusters |");
  });

  test("one cluster is shown with what Argo CD said of it; one that is not there, as such", () => {
    const { run, now } = SITUATIONS["failed"]?.() ?? { run: undefined, now: 0 };
    if (run === undefined) throw new Error("the situation is there");
    expect(drawn(run, now, "c3")).toContain("CrashLoopBackOff");
    expect(drawn(run, now, "nowhere")).toContain("This run has no cluster nowhere.");
  });
});

test.each([
  ["application", "Application"],
  ["namespace", "namespace"],
] as const)("a run that counts by %s says so, also to whoever reads by ear", (targetBy, word) => {
  const { run, now } = SITUATIONS["failed"]?.() ?? { run: undefined, now: 0 };
  const [first] = run?.plan.stages ?? [];
  if (run === undefined || first === undefined) throw new Error("the situation has stages");
  const empty = { ...first, name: "empty", clusters: [], requeued: [], batches: [] };
  const counting = { ...run, plan: { ...run.plan, stages: [...run.plan.stages, empty], targetBy } };
  const html = drawnHtml(counting, now, "c3") + drawnHtml(counting, now);
  const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);
  const labels = [...html.matchAll(/aria-label="([^"]*)"/g)].map(([, label = ""]) => label);
  expect(labels.filter((label) => /cluster/i.test(label))).toEqual([]);
  expect(labels).toEqual(expect.arrayContaining([`${capital(word)} c3`, `Failed ${word}s`]));
  expect(html).toContain(`no ${word}s`);
});

test("what an analysis measured is drawn with what is allowed, and read aloud", () => {
  const html = drawnHtml(measuredRun(), Date.parse("2026-11-21T09:06:00.000Z"));
  expect(html).toContain('aria-label="error-rate, allowed is at most 5: 0.4 at 09:00 UTC; 0.9 at 09:01 UTC;');
  expect(html).toContain("7.5 at 09:05 UTC, failed");
  // Eight is the scale's end: five lies at 76 - 68 * 5 / 8.
  expect(html).toContain('<rect x="0" width="260" y="0" height="33.5" class="beyond">');
});

test("the batch that an address names is marked, in a fold as well", () => {
  const now = Date.parse("2026-11-21T09:06:00.000Z");
  const document = runDocument(modelOf(wideRun(2000, 40), now), now, { repository });
  const html = (batch?: number) => renderToString(<RunScreen of={document} target={undefined} batch={batch} open={() => undefined} />);
  expect(html(3)).toMatch(/<div[^>]* aria-current="location"[^>]*>.*?runs\/42\/batches\/3"/);
  expect(html()).not.toContain('aria-current="location"');
  expect(html(99)).not.toContain('aria-current="location"');
});

test("the page of a target tells what runs there, in which batch, and of which control plane it is", () => {
  const now = Date.parse("2026-11-21T09:06:00.000Z");
  const document = runDocument(modelOf(sampleRun(), now, { linkTo }), now, { repository });
  const page = (target: string) => at(now, <TargetScreen of={document} target={target} />);
  const text = page("hub/argocd/payments-eu-1");
  for (const part of [
    "payments-eu-1",
    "control plane hub",
    "v1.4.1 → v1.4.2",
    "(good) Healthy",
    "stage canary",
    "live at 1f2e3d4 and healthy",
  ])
    expect(text).toContain(part);
  expect(text).toContain("[</r/acme/config/payments/runs/42/batches/1> batch 1 of 1]");
  expect(text).toContain("[<https://argocd.example.com/applications/argocd/payments-eu-1> Argo CD]");
  // One of the same name behind another Argo CD is another target.
  expect(page("other/argocd/payments-eu-1")).toContain("does not have it");
});

describe("the time axis", () => {
  const NOW = Date.parse("2026-01-05T10:00:00.000Z");
  const at = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString();

  test("a stage that is to come begins when the one before it is expected to be done, however slow each may be", () => {
    const { run, now } = SITUATIONS["running"]?.() ?? { run: undefined, now: 0 };
    if (run === undefined) throw new Error("the situation is there");
    const document = runDocument(modelOf(run, now), now, { repository });
    const [first, second] = document.children;
    if (first === undefined || second === undefined) throw new Error("it has two stages");
    const children = [
      { ...first, eta: { p50: at(10), p90: at(20) } },
      { ...second, eta: { p50: at(30), p90: at(60) } },
    ];
    const minutes = lanesOf({ ...document, children }, NOW).map((lane) =>
      [lane.begins, lane.likely, lane.slow].map((ms) => ((ms ?? Number.NaN) - NOW) / 60_000),
    );
    expect(minutes).toEqual([
      [0, 10, 20],
      [10, 30, 60],
    ]);
  });

  test("four hours in which nothing happened leave what happened before and after its room, and say how long they were", () => {
    const { place, breaks, labels } = axisOf([0, 5, 10, 20, 260, 270].map((minute) => NOW + minute * 60_000));
    const width = (from: number, to: number) => Math.round(place(NOW + to * 60_000) - place(NOW + from * 60_000));
    expect([width(0, 20), width(20, 260), width(260, 270)]).toEqual([27, 60, 13]);
    expect(breaks).toHaveLength(1);
    expect(labels.map(({ text }) => text).filter(Boolean)).toEqual(["4h"]);
    // Where no time is much longer than the others, none is drawn short.
    expect(axisOf([0, 10, 30, 45].map((minute) => NOW + minute * 60_000)).breaks).toEqual([]);
  });

  test("a stage that waits for somebody wears the colour of waiting from then on; one that was failed by a cluster that of failing", () => {
    const tones = (name: string) => {
      const { run, now } = SITUATIONS[name]?.() ?? { run: undefined, now: 0 };
      if (run === undefined) throw new Error("the situation is there");
      const later = now + 4 * 3_600_000;
      return lanesOf(runDocument(modelOf(run, later), later, { repository }), later)[0]?.parts.map(({ tone }) => tone);
    };
    expect(tones("waiting for approval")).toEqual(["open", "warn"]);
    expect(tones("running")).toEqual(["open", "busy"]);
    expect(tones("failed")).toEqual(["open", "bad", "warn"]);
  });
});

test("a moment that is over has nothing to press, says why, and leads to now; its axis ends at that moment, with its day once", () => {
  const { run, now } = SITUATIONS["failed"]?.() ?? { run: undefined, now: 0 };
  if (run === undefined) throw new Error("the situation is there");
  const then = <WayToNow.Provider value="/r/acme/config/payments">{screenOf({ ...run, commands: [] }, now)}</WayToNow.Provider>;
  const text = at(now, then);
  expect(text).toMatch(/You can\s+Nothing: this is how it was\.\s+\[<\/r\/acme\/config\/payments> See it as it is now\]/);
  expect(text).not.toMatch(/\/retry\]|\bnow$/m);
  expect(text).toMatch(/stage 2\s+UTC\s+09:00 09:02/);
  const expected = { p50: new Date(now + 600_000).toISOString(), p90: new Date(now + 900_000).toISOString() };
  const document = runDocument(modelOf(run, now), now, { repository });
  const known = { ...document, eta: expected, children: document.children.map((stage) => ({ ...stage, eta: expected })) };
  const screen = <RunScreen of={known} open={() => undefined} />;
  expect(at(now, screen)).toMatch(/Expected to be done|09:1\d/);
  expect(at(now, <WayToNow.Provider value="/">{screen}</WayToNow.Provider>)).not.toMatch(/Expected to be done|09:1\d/);
  const later = at(now + 86_400_000, screenOf(run, now));
  expect(later).toMatch(/2026-01-05\s+09:00 .*now/);
});

test("a batch of which a cluster was left out is marked, and so is the time it took", () => {
  const [first] = sampleRun().batches;
  if (first === undefined) throw new Error("the sample has batches");
  const done = (...phases: ("Baked" | "Skipped")[]) => {
    const targets = phases.map((phase, index) => batchTarget(`eu-${index + 1}`, phase));
    return drawnHtml({ ...sampleRun(), batches: [{ ...first, targets }] }, Date.parse("2026-11-21T09:06:00.000Z"));
  };
  expect(done("Baked", "Skipped")).toMatch(/class="b-part"/);
  expect(done("Baked", "Skipped")).toMatch(/mark t-warn"[^>]*><path d="M6 1\.4/);
  expect(done("Baked", "Skipped")).toContain("1 of 2 clusters healthy, 1 skipped");
  expect(done("Skipped")).toMatch(/class="b-dim"/);
  expect(done("Baked", "Baked")).not.toMatch(/b-part|b-dim/);
});

test("a stage by half a character for its name leaves its page standing", () => {
  const [{ run, now }] = Object.values(SITUATIONS).map((situation) => situation()) as [{ run: Run; now: number }];
  const document = runDocument(modelOf(run, now, { linkTo }), now, { repository });
  const children = document.children.map((stage) => ({ ...stage, name: "\ud800" }));
  expect(at(now, <RunScreen of={{ ...document, children }} target={undefined} open={() => undefined} />)).toContain(run.rollout);
});

test("nothing that is read turns the text around it about", () => {
  const release = "v1\u202e\u2066 yhtlaeh \u200f";
  expect(parseSafely(JSON.stringify({ release, "\u202dname": ["ü", "→"] }))).toEqual({
    release: "v1\ufffd\ufffd yhtlaeh \ufffd",
    "\ufffdname": ["ü", "→"],
  });
});

test("nothing that is read has a control character in it but line breaks and tabs", () => {
  const name = "eu-1\u001b[31m\u0000\u0007\b\f\u009b\u007f";
  expect(parseSafely(JSON.stringify({ name, path: "C:\\u001b\\\\b", text: "a\n\tb" }))).toEqual({
    name: "eu-1\ufffd[31m\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd",
    path: "C:\\u001b\\\\b",
    text: "a\n\tb",
  });
});

function fleet(q: string, state: string): string {
  const rows = Object.entries(SITUATIONS).map(([name, situation]) => {
    const { run, now } = situation();
    const named = { ...run, rollout: name.replaceAll(" ", "-") };
    return { now, row: fleetRollout(repository, named, modelOf(named, now, { linkTo }), undefined) };
  });
  const rollouts = [...rows.map(({ row }) => row), fleetRefused(repository, refusedModel(REFUSED_RELEASE))];
  const all = fleetOf({ isWhole: true, rollouts, releases: [], repositories: [] });
  const now = Math.max(...rows.map((one) => one.now));
  return at(now, <FleetScreen of={all} filter={{ q, state }} change={() => undefined} />);
}

test("whoever looks at the plan of a release PR that has been merged is led to its run", () => {
  const live = { link: "missing" as const, clock: { now: 0, at: 0, speed: 0 }, isFollowed: false, document: undefined };
  const text = pageText(<Notice of={{ view: "plan", repository, rollout: "payments", pull: 12 }} live={live as never} />);
  expect(text).toContain("There is no open release PR #12 of payments");
  expect(text).toContain("[</r/acme/config/payments> The last run of payments]");
});
