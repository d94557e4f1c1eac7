import { describe, expect, test } from "vitest";
import type { Holding } from "./database.ts";
import type { Outage } from "./faults.ts";
import type { GitHubReport, Write } from "./github.ts";
import { againstDeliveries, againstEnd, againstWrites, takeovers } from "./judge.ts";
import type { End, View } from "./view.ts";

const MERGES = ["canary", "everywhere"].flatMap((stage) => [1, 2].map((n) => `app v2: batch ${n} of 2 of ${stage}`));
const SUMMARY = "stagecoach[bot]: <!-- stagecoach:summary:app/1 --> **Succeeded**";
const END: End = {
  ...{ phase: "Succeeded", batches: ["canary 1, attempt 1, Succeeded: c1: Healthy"], versions: ["c1 v2"], merges: MERGES },
  ...{ branches: ["main", "stagecoach/journal"], deployments: ["app/canary: success"], openIssues: [] },
  pulls: [{ title: "Release v2", state: "merged", gate: [], comments: [SUMMARY, "carol: /pause looks odd"] }],
};

function commits(...numbers: number[]): { message: string; parents: number }[] {
  return numbers.map((n, i) => ({ message: `record ${n}\n\nStagecoach-Seal: v1.0011aabb.${n}.mac`, parents: i === 0 ? 0 : 1 }));
}

async function judged(end: Partial<End>, journal = commits(1, 2, 3)): Promise<string[]> {
  const view = { journal: async () => journal } as View;
  return await againstEnd(view, { ...END, ...end }, { ...END, ...end });
}

describe("of a run's end", () => {
  test("nothing is said against one in order", async () => {
    expect(await judged({})).toEqual([]);
  });

  test.each<[string, Partial<End>, RegExp]>([
    ["a batch merged twice", { merges: [...MERGES.slice(0, 2), ...MERGES.slice(1)] }, /^merged twice: app v2: batch 2 of 2 of canary$/],
    ["batches of a stage out of order", { merges: [1, 0, 2, 3].map((n) => MERGES[n] ?? "") }, /^merged out of turn: /],
    ["a stage before the one it follows", { merges: [0, 2, 1, 3].map((n) => MERGES[n] ?? "") }, /^merged out of turn: /],
    [
      "two comments of a kind",
      { pulls: END.pulls.map((one) => ({ ...one, comments: [SUMMARY, SUMMARY] })) },
      /^there are twins on "Release v2"/,
    ],
  ])("%s is found", async (_what, end, found) => {
    expect(await judged(end)).toContainEqual(expect.stringMatching(found));
  });

  test("whatever is not as without faults is found", async () => {
    const view = { journal: async () => commits(1) } as View;
    const changed: Partial<End>[] = [
      { phase: "Paused" },
      { versions: ["c1 v1"] },
      { branches: [] },
      { openIssues: ["odd"] },
      { batches: [] },
    ];
    for (const one of changed)
      expect(await againstEnd(view, { ...END, ...one }, END)).toEqual([expect.stringContaining(`its ${Object.keys(one)[0]} are not`)]);
  });

  test.each([
    ["a commit of the journal that is missing", commits(1, 3), /commit 2 is sealed as 3/],
    ["one sealed by nobody", [...commits(1), { message: "by hand", parents: 1 }], /commit 2 is sealed as NaN/],
    ["a fork", commits(1, 2).map((one) => ({ ...one, parents: one.parents * 2 })), /the journal forks/],
  ])("%s is found", async (_what, journal, found) => {
    expect(await judged({}, journal)).toContainEqual(expect.stringMatching(found));
  });
});

describe("of what was written", () => {
  const repository = "acme/Fleet-1";
  const write = (by: string, sentAt: number): Write => ({ by, sentAt, what: "PUT merge", repository, status: 200 });
  const report = (...writes: Write[]): GitHubReport => ({ writes, deliveries: [] });
  const held = (holder: string | null, atMs: number): Holding => ({ repository: "acme/fleet-1", holder, atMs });
  const HOLDINGS = [held("one", 0), held(null, 1000), held("two", 1200), held("one", 3000)];

  test("nothing is said against those who looked after the repository when they sent it", () => {
    expect(againstWrites(report(write("one", 999), write("two", 1200), write("one", 3500)), HOLDINGS)).toEqual([]);
  });

  test.each<[string, Write, string]>([
    [
      "one who has lost the repository to nobody yet",
      write("one", 1100),
      "one wrote to acme/Fleet-1, which was looked after by nobody for 100 ms",
    ],
    ["one who has lost it to another", write("one", 1500), "which was looked after by two for 300 ms"],
    ["one who never had it", write("three", 3100), "three wrote to"],
    ["one before anybody has it", write("one", -1), "looked after by nobody"],
  ])("%s is found", (_who, one, said) => {
    expect(againstWrites(report(write("one", 500), one), HOLDINGS)).toEqual([expect.stringContaining(said)]);
  });

  test("where no request is marked, that is said: nothing would be judged", () => {
    expect(againstWrites(report(), HOLDINGS)).toHaveLength(1);
  });
});

describe("of deliveries", () => {
  const report = (...statuses: (number | undefined)[]): GitHubReport => ({
    writes: [],
    deliveries: statuses.map((status, n) => ({ guid: `g${n}`, event: "push", status })),
  });
  const kept = (guid: string, isDone = true, isAside = false) => ({ guid, isDone, isAside });

  test("nothing is said of those looked at, and of those that were refused or never came", () => {
    expect(againstDeliveries(report(200, 503, undefined), [kept("g0")])).toEqual([]);
  });

  test.each([
    ["acknowledged and not kept", [], "is lost: push g0"],
    ["kept and never looked at", [kept("g0", false)], "never looked at: push g0"],
    ["set aside", [kept("g0", true, true)], "never looked at: push g0"],
  ])("one %s is found", (_what, rows, said) => {
    expect(againstDeliveries(report(202), rows)).toEqual([expect.stringContaining(said)]);
  });
});

test("a takeover lasts from the kill of whoever had the repository until somebody has it, and a kill of another is none", () => {
  const held = (holder: string | null, atMs: number): Holding => ({ repository: "acme/a", holder, atMs });
  const holdings = [held("one", 0), held(null, 7000), held("two", 7100)];
  const kills = [
    { name: "one", atMs: 1000, alone: true },
    { name: "three", atMs: 1500, alone: false },
  ];
  const told = (outages: Outage[]) => takeovers({ kills, holdings, outages, replicas: ["one", "two", "three"] });
  const killed = { names: ["one"], fromMs: 1000, toMs: 3000 };
  expect(told([killed])).toEqual([{ ms: 6100, ableMs: 6100, alone: true }]);
  // One of them went on all the time.
  expect(told([killed, { names: ["two"], fromMs: 500, toMs: 2000 }])).toMatchObject([{ ableMs: 6100 }]);
  const away = { names: ["one", "two", "three"], fromMs: 2000, toMs: 4000 };
  expect(told([killed, away])).toMatchObject([{ ms: 6100, ableMs: 3100 }]);
});
