import { describe, expect, test } from "vitest";
import { plannedTarget, samplePlan, sampleRollout, sampleRun } from "../../../../test/support/sample-run.ts";
import type { Plan } from "../../plan/plan-types.ts";
import { said } from "../../reasons/run.ts";
import type { Window } from "../../spec/windows.ts";
import { bindingOf, type PlacedFreeze } from "../../spec/windows-binding.ts";
import { COMMENT_ROOM } from "../fit.ts";
import { expectedDuration, historyOf, NO_HISTORY, percentiles, rough, spell } from "./duration.ts";
import { label, planChart, short } from "./plan-chart.ts";
import { nothingMore, planComment, problemsComment } from "./plan-comment.ts";
import { overlap } from "./plan-overlap.ts";

/** A plan of as many clusters, in stages of `batch` a batch. */
function planOf(clusters: number, batch: number, stages = 1, name = (index: number) => `cluster-${index}`): Plan {
  const each = Math.ceil(clusters / stages);
  return {
    ...samplePlan(),
    stages: Array.from({ length: stages }, (_, stage) => {
      const targets = Array.from({ length: each }, (_unused, index) => plannedTarget(name(stage * each + index)));
      const batches = [];
      for (let from = 0; from < each; from += batch) {
        const some = targets.slice(from, from + batch);
        batches.push({ clusters: some.map((target) => target.cluster), targets: some });
      }
      return {
        name: `${name(stage)} stage`,
        hash: "aa",
        maxUnavailable: batch,
        clusters: targets.map((target) => target.cluster),
        requeued: [],
        batches,
        requeuedTargets: [],
      };
    }),
  };
}

/** What must hold of any comment: within the limit, nothing left open, every table row whole. */
function expectWhole(text: string): void {
  expect(text.length).toBeLessThanOrEqual(COMMENT_ROOM);
  expect(text.isWellFormed()).toBe(true);
  expect(text.match(/<details>/g)?.length).toBe(text.match(/<\/details>/g)?.length);
  expect((text.match(/^```/gm)?.length ?? 0) % 2).toBe(0);
  expect(text.endsWith("</sub>")).toBe(true);
  for (const line of text.split("\n")) if (line.startsWith("|")) expect(line.endsWith("|")).toBe(true);
}

describe("the plan on an open release PR", () => {
  test("shows every stage, batch and cluster, what they wait for, how long it takes, and the warnings", () => {
    const rollout = sampleRollout();
    const expected = expectedDuration(rollout, samplePlan(), { stages: new Map([["canary", [600_000, 900_000]]]), totals: [3_600_000] });
    expect(planComment(rollout, samplePlan(), "v1.4.1", { expected })).toMatchInlineSnapshot(`
      "### 🗺️ Plan: payments \`v1.4.1\` → \`v1.4.2\`

      Merging this PR starts a run: **6 clusters** in **3 batches** over **2 stages**, 1 put off to a later batch, one pull request a batch. A batch goes on only when Argo CD shows its very change live and healthy, and its bake is over.

      > [!WARNING]
      > - **COVERAGE** no stage takes 1 of 5 clusters, so they stay at their version: ap-1

      | | stage | clusters | batches | at once | gates | took before | requeued to its end |
      | --- | --- | --- | --- | --- | --- | --- | --- |
      | 1 | canary | 2 | 1 | 2 | health, bake 10m | 10m – 15m (2) | – |
      | 2 | everywhere else | 3 | 2 | 2 | health | – | \`us-4\` |

      Past runs took 1h (1 run). At the least it takes 12m: 3 batches at GitHub's pace of about one merge a minute, with their bakes.

      \`\`\`mermaid
      flowchart LR
        s0["canary<br/>2 clusters, 1 batch"]
        s1["everywhere else<br/>3 clusters, 2 batches, 1 later"]
        s0 -->|"health, bake 10m"| s1
      \`\`\`

      <details><summary>Every batch and cluster</summary>

      | batch | cluster | application | change | where |
      | --- | --- | --- | --- | --- |
      | 1.1 | \`eu-1\` | \`payments-eu-1\` | \`v1.4.1\` → \`v1.4.2\` | \`appsets/payments.yaml\` |
      | 1.1 | \`eu-2\` | \`payments-eu-2\` | \`v1.4.1\` → \`v1.4.2\` | \`appsets/payments.yaml\` |
      | 2.1 | \`us-1\` | \`payments-us-1\` | \`v1.4.1\` → \`v1.4.2\` | \`appsets/payments.yaml\` |
      | 2.1 | \`us-2\` | \`payments-us-2\` | \`v1.4.1\` → \`v1.4.2\` | \`appsets/payments.yaml\` |
      | 2.2 | \`us-3\` | \`payments-us-3\` | \`v1.4.1\` → \`v1.4.2\` | \`appsets/payments.yaml\` |
      | 2 later | \`us-4\` | \`payments-us-4\` | \`v1.4.1\` → \`v1.4.2\` | \`appsets/payments.yaml\` |

      </details>

      <sub>The bot opens and merges the batches' PRs. \`/plan\` makes this afresh · plan \`5b6c1f0e9a7d\`</sub>"
    `);
  });

  test("without past runs it tells no durations but the least", () => {
    const rollout = sampleRollout();
    const text = planComment(rollout, samplePlan(), "v1.4.1", { expected: expectedDuration(rollout, samplePlan(), NO_HISTORY) });
    expect(text).not.toContain("took before");
    expect(text).not.toContain("Past runs");
    expect(text).toContain("At the least it takes 12m: 3 batches");
  });

  test("what stands against merging it comes before everything else", () => {
    const text = planComment(sampleRollout(), samplePlan(), "v1", {
      against: ["**UNSTAGED** it changes eu-1"],
      overlap: "Run #3 goes on.",
    });
    expect(text.indexOf("UNSTAGED")).toBeLessThan(text.indexOf("| stage"));
    expect(text).toContain("> [!NOTE]\n> Run #3 goes on.");
  });

  test.each([
    ["Observe", /starts no run.*would open one pull request a batch.*The first would be for `eu-1`, `eu-2`/s],
    ["Propose", /Merging this PR starts a run.*a person merges.*each waits for a person to merge it/s],
    ["Run", /Merging this PR starts a run.*The bot opens and merges/s],
  ] as const)("mode %s: the comment says how far the bot goes", (mode, words) => {
    expect(planComment(sampleRollout({ mode }), samplePlan(), "v1")).toMatch(words);
  });

  test("a release that is the merge commit of the PR itself is called so", () => {
    expect(planComment(sampleRollout(), samplePlan(), undefined, { toCome: "v1.4.2" })).toContain(
      "### 🗺️ Plan: payments the merge commit of this PR",
    );
  });
});

describe("a plan too large for GitHub's limit", () => {
  test.each([
    [1_000, 10, 1, "| batch | clusters |"],
    [10_000, 100, 4, "10000 clusters"],
    [10_000, 1, 4, "10000 batches"],
    [10_000, 5_000, 2, "and 4995 more"],
    [10_000, 3, 200, "and 160 more stages"],
  ])("%d clusters, %d a batch, over %d stages: summarised, and nothing is cut", (clusters, batch, stages, says) => {
    const plan = planOf(clusters, batch, stages);
    const text = planComment(sampleRollout(), plan, "v1", { expected: expectedDuration(sampleRollout(), plan, NO_HISTORY) });
    expectWhole(text);
    expect(text).toContain(says);
    expect(text).toContain("stagecoach plan payments");
  });

  test.each([
    ["backticks and pipes", "a`|b``` <script> [x](javascript:1) @acme/all"],
    ["a fence, a directive and a quote", '```\n%%{init: {"theme":"x"}}%% "] --> s1; click s0 href "http://x"'],
    ["emoji and right-to-left marks", "🚀👩‍👩‍👧‍👦\u202eabc العربية ё漢字"],
    ["a surrogate that is alone", "x\ud83d y"],
    ["6,000 characters", "ñ|".repeat(3_000)],
  ])("names of %s stay inside their cells", (_name, hostile) => {
    for (const clusters of [3, 400]) {
      const text = planComment(
        sampleRollout(),
        planOf(clusters, 2, 3, (index) => `${hostile}${index}`),
        hostile,
      );
      expectWhole(text.toWellFormed());
      expect(text).not.toMatch(/^\s*%%\{/m);
      const outside = text.replace(/^```mermaid[\s\S]*?^```/m, "").replace(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, "");
      expect(outside).not.toMatch(/(?<!\\)<script/);
      expect(outside).not.toContain("@acme");
      const rows = outside.split("\n").filter((line) => /^\| \d+ \|/.test(line));
      expect(rows).toHaveLength(3);
      for (const row of rows) expect(row.replace(/\\\|/g, "").split("|")).toHaveLength(9);
    }
  });

  test("warnings without end are counted", () => {
    const warnings = Array.from({ length: 500 }, (_, index) => ({
      code: "COVERAGE" as const,
      clusters: [`${"|".repeat(2000)} ${index}`],
      of: 2,
    }));
    const text = planComment(sampleRollout(), { ...planOf(10_000, 7, 90), warnings }, "v1");
    expectWhole(text);
    expect(text).toContain("and 488 more");
  });
});

describe("the chart", () => {
  test("draws the stages in order, with what lies between them", () => {
    expect(planChart(samplePlan(), [["health", "bake 10m"], ["health"]])).toBe(
      '```mermaid\nflowchart LR\n  s0["canary<br/>2 clusters, 1 batch"]\n  s1["everywhere else<br/>3 clusters, 2 batches, 1 later"]\n  s0 -->|"health, bake 10m"| s1\n```',
    );
  });

  test("a label holds letters, numbers and harmless signs, in any script, and is short", () => {
    expect(label('a"b]; %%{init}%% <b> `c` \\ | #quot; 漢字 ё 🚀\nend')).toBe("a b init b c quot 漢字 ё 🚀 end");
    expect([...label("é".repeat(500))]).toHaveLength(60);
  });

  test("stages beyond what can be drawn are one node", () => {
    const chart = planChart(planOf(100, 1, 100), []);
    expect(chart).toContain('s40["and 60 more stages"]');
    expect(chart.split("\n").filter((line) => line.includes("-->"))).toHaveLength(40);
  });

  test("a text is cut between whole characters", () => {
    expect(short("🚀🚀🚀", 2)).toBe("🚀…");
    expect(short("abc", 3)).toBe("abc");
  });
});

describe("the expected duration", () => {
  const run = (minutes: number, change = {}) => {
    const at = (minute: number) => new Date(Date.parse("2026-11-21T08:50:00.000Z") + minute * 60_000).toISOString();
    const base = sampleRun();
    const batches = base.batches.map((batch, index) => ({
      ...batch,
      pull: { number: index, url: "", head: "a", openedAt: at(index * minutes) },
      settledAt: at((index + 1) * minutes),
    }));
    return sampleRun({ batches, stage: 2, phase: "Succeeded", startedAt: at(0), endedAt: at(2 * minutes + 1), ...change });
  };

  test("is of the stages that past runs went through, and of whole runs that succeeded", () => {
    const history = historyOf([run(10), run(30), run(20), run(15, { phase: "Failed", stage: 1 })]);
    const minutes = (list: readonly number[] | undefined) => list?.map((ms) => ms / 60_000);
    expect(minutes(history.stages.get("canary"))).toEqual([10, 30, 20, 15]);
    expect(minutes(history.stages.get("everywhere else"))).toEqual([10, 30, 20]);
    expect(minutes(history.totals)).toEqual([21, 61, 41]);
    const expected = expectedDuration(sampleRollout(), samplePlan(), history);
    expect(expected.stages[1]).toEqual({ p50: 20 * 60_000, p90: 30 * 60_000, runs: 3 });
    expect(expected.total?.runs).toBe(3);
  });

  const office: Window = { schedule: "0 9 * * 1-5", durationMs: 8 * 3_600_000, timeZone: "Europe/Rome", kind: "allow" };
  const HOUR = 3_600_000;

  test("counts the next openings of windows and freezes in, stage by stage, each from where the one before ends", () => {
    const history = {
      stages: new Map([
        ["canary", [HOUR, 3 * HOUR]],
        ["everywhere else", [2 * HOUR]],
      ]),
      totals: [3 * HOUR],
    };
    // Friday, two hours before the window closes.
    const now = Date.parse("2026-11-20T14:00:00Z");
    const freeze = {
      schedule: "0 0 23 11 *",
      durationMs: 24 * HOUR,
      timeZone: "Europe/Rome",
      kind: "deny" as const,
      where: { kind: "Server" as const },
    };
    const rollout = sampleRollout({ windows: [office] });
    const of = (freezes: (Window & { where: PlacedFreeze["where"] })[], at = now) =>
      expectedDuration(rollout, samplePlan(), history, { now: at, setsOf: bindingOf(rollout, freezes, () => undefined) });
    // 15:00 and 16:00: the first batch of the second stage merges, its second at the window's end does not.
    expect(of([]).stages).toEqual([
      { p50: HOUR, p90: 3 * HOUR, runs: 2 },
      { p50: 2 * HOUR + 64 * HOUR, p90: 63 * HOUR + 2 * HOUR, runs: 1 },
    ]);
    // Monday is frozen, too.
    expect(of([freeze]).stages[1]?.p50).toBe((2 + 64 + 24) * HOUR);
    expect(of([freeze]).total?.p50).toBe((3 + 64 + 24) * HOUR);
    // Only what it is for waits for it.
    const scoped = (scope: Partial<PlacedFreeze>) => of([{ ...freeze, ...scope }]).stages[1]?.p50;
    expect(scoped({ stages: ["everywhere else"] })).toBe((2 + 64 + 24) * HOUR);
    expect(scoped({ stages: ["canary"] })).toBe((2 + 64) * HOUR);
    expect(scoped({ rollouts: ["ledger"] })).toBe((2 + 64) * HOUR);
    // The clocks go forward that weekend.
    expect(of([], Date.parse("2026-03-27T14:00:00Z")).stages[1]?.p50).toBe((2 + 63) * HOUR);
    const least = of([], Date.parse("2026-11-21T14:00:00Z"));
    expect([least.waitMs, least.leastMs - least.waitMs]).toEqual([42 * HOUR, 610_000 + 2 * 60_000]);
    const told = planComment(sampleRollout({ windows: [office] }), samplePlan(), "v1", { expected: least });
    expect(told).toContain("As past runs went it takes 1d21h (1 run), the waits for windows and freezes from now on counted in.");
    expect(told).toContain("with their bakes, and 1d18h of waiting for windows and freezes.");
    expect(told).toContain("| expected |");
    const never = { ...freeze, schedule: "0 0 * * *" };
    expect(planComment(sampleRollout(), samplePlan(), "v1", { expected: of([never]) })).toContain(
      "Windows that do not open within a year are not counted in.",
    );
  });

  test("of past runs leaves out how long windows kept their batches: the next waits are others", () => {
    const night = { ...office, schedule: "0 12 * * *", durationMs: HOUR };
    // The first batch waits from 08:50 to 11:00 UTC, which is noon in Rome, and settles a quarter of an hour after that.
    const slow = run(145, {});
    const [first, second] = slow.batches;
    if (first === undefined || second === undefined) throw new Error("no batches");
    const merged = { commit: "c", at: "2026-11-21T11:00:00.000Z" };
    const batches = [{ ...first, merged } as typeof first];
    const history = historyOf([{ ...slow, batches, windows: [night] }]);
    expect(history.stages.get(slow.plan.stages[first.stage]?.name ?? "")).toEqual([15 * 60_000]);
    expect(history.totals).toEqual([(291 - 130) * 60_000]);
  });

  test("a run that was never there, or stood still before its first batch, is no sample", () => {
    expect(historyOf([sampleRun({ batches: [], stage: 2 })])).toEqual({ stages: new Map(), totals: [] });
    expect(percentiles([])).toBeUndefined();
  });

  test("percentiles are by nearest rank", () => {
    expect(percentiles([5, 1, 4, 2, 3])).toEqual({ p50: 3, p90: 5, runs: 5 });
    expect(percentiles([7])).toEqual({ p50: 7, p90: 7, runs: 1 });
    expect(spell({ p50: 720_000, p90: 1_861_000, runs: 9 })).toBe("12m, up to 31m (9 runs)");
    expect(rough(90_061_000)).toBe("1d1h");
  });

  test("the least is a merge a minute and the bakes; moving branches costs less", () => {
    const rollout = sampleRollout();
    expect(expectedDuration(rollout, planOf(100, 1, 2), NO_HISTORY).leastMs).toBe(50 * 610_000 + 50 * 60_000);
    const commit = sampleRollout({ delivery: { ...rollout.delivery, strategy: "Commit" } });
    expect(expectedDuration(commit, planOf(2, 1, 2), NO_HISTORY).leastMs).toBe(610_000 + 10_000);
  });
});

describe("a run in progress", () => {
  test.each([
    ["Supersede", {}, false, /Merging this PR ends it/],
    ["Queue", {}, false, /waits until it has ended/],
    ["Reject", {}, true, /is rejected while it goes on/],
    ["Supersede", { superseded: 3 }, false, /leaves it alone \(too many runs before it/],
    ["Supersede", { kind: "Rollback" as const }, false, /leaves it alone \(it is a rollback\)/],
  ] as const)("under %s, with %j", (onNewRelease, change, rejected, words) => {
    const said = overlap({ onNewRelease }, sampleRun(change));
    expect(said.rejected).toBe(rejected);
    expect(said.sentence).toMatch(words);
    expect(said.sentence).toContain("Run #\u200b42 (`v1.4.2`) is in progress in stage everywhere else.");
  });

  test("that is ending already makes way in any case", () => {
    const ending = { phase: "Aborted" as const, by: "a", reason: said("wrong | version"), at: "2026-11-21T09:00:00.000Z" };
    expect(overlap({ onNewRelease: "Reject" }, sampleRun({ ending }))).toMatchObject({ rejected: false });
  });
});

test("problems name file, line, column and the next step, and never pass the limit", () => {
  const place = { severity: "error", file: "rollouts/a.yaml", line: 3, column: 5, path: [] } as const;
  const problem = { code: "X", message: 'unknown key "stagess"', hint: "did you mean stages?", ...place, path: [] };
  expect(problemsComment([problem])).toContain('| ❌ `rollouts/a.yaml:3:5` | unknown key "stagess" | did you mean stages? | X |');
  const many = Array.from({ length: 500 }, () => ({
    ...problem,
    message: "|".repeat(9000),
    hint: "`".repeat(9000),
    file: "x".repeat(9000),
  }));
  expect(problemsComment(many).length).toBeLessThanOrEqual(COMMENT_ROOM);
  expect(nothingMore("noRelease", "a|b")).toContain("a\\|b");
});
