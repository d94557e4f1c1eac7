import { describe, expect, test } from "vitest";
import type { Selector } from "../../base/selector.ts";
import { iso } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import { sentenceOf } from "../../report/reasons/say.ts";
import type { PlacedFreeze } from "../../spec/windows-binding.ts";
import { AT, batch, bench, bring, guard, MINUTE, round, SECOND, wants } from "../testing/bench.ts";

/** Whose freezes these are. */
const REPO = { kind: "File" as const, file: ".github/stagecoach.yaml" };
/** AT is a Monday, nine o'clock UTC. */
const OFFICE = { schedule: "0 14 * * 1-5", durationMs: 8 * 60 * MINUTE, timeZone: "UTC", kind: "allow" as const };

test("a freeze that never opens is named, also while the rollout's own window is closed, and what changes next is looked at", () => {
  const self = bench(1, [{}], (rollout) => {
    rollout.windows = [OFFICE];
  });
  self.world = {
    ...self.world,
    freezes: [{ ...OFFICE, schedule: "0 0 * * *", durationMs: 24 * 60 * MINUTE, kind: "deny", where: REPO }],
  };
  bring(self, 1, "merging");
  const never = {
    why: expect.toHaveCode("WINDOWS_NEVER_OPEN", { where: [REPO] }),
    next: { what: { code: "NEXT_WINDOWS_CHANGED" } },
  };
  expect(batch(self.run, 1)).toMatchObject(never);
  expect(self.last.wakeAt).toBe(AT + 5 * 60 * MINUTE);
  self.now = AT + 5 * 60 * MINUTE;
  round(self);
  expect(batch(self.run, 1)).toMatchObject(never);
});

test("where windows change too often to be looked through, the next change is waited for, and nothing is said to be never", () => {
  const half = { schedule: "0 * * * *", durationMs: 30 * MINUTE, timeZone: "UTC", kind: "allow" as const };
  const self = bench(1, [{}], (rollout) => {
    rollout.windows = [half];
  });
  self.world = { ...self.world, freezes: [{ ...half, schedule: "0 * * 1-11 *", kind: "deny", where: REPO }] };
  bring(self, 1, "merging");
  expect(batch(self.run, 1)).toMatchObject({
    why: expect.toHaveCode("WINDOW_SHUT", { where: REPO, window: expect.objectContaining({ kind: "deny" }) }),
    next: { what: { code: "NEXT_WINDOW" }, eta: iso(AT + 30 * MINUTE) },
  });
  expect(self.last.wakeAt).toBe(AT + 30 * MINUTE);
});

test.each([
  [
    "a freeze",
    {
      freezes: [
        { ...OFFICE, schedule: "0 0 * * *", durationMs: 24 * 60 * MINUTE, kind: "deny" as const, where: { kind: "Server" as const } },
      ],
    },
  ],
  ["settings that cannot be read", { settingsBroken: said("limits is no mapping") }],
])("%s that comes between an intention and its next try is not passed by that", (_what, shut) => {
  const self = bench(1);
  bring(self, 1, "merging");
  expect(wants(round(self))).toContain("Merge 1");
  self.world = { ...self.world, ...shut };
  self.now += SECOND;
  guard(self, 1);
  expect(wants(round(self))).not.toContain("Merge 1");
  expect(batch(self.run, 1)).toMatchObject({ phase: "Merging", why: { code: "MERGE_NOT_TRIED" } });
  self.now += 30 * SECOND;
  guard(self, 1);
  expect(wants(round(self))).not.toContain("Merge 1");
  expect(batch(self.run, 1)).toMatchObject({ phase: "Open", why: { code: "PULL_WAITS" } });
});

/** Closed at AT, a Monday at nine, until Tuesday at eight in Rome. */
const ROME = { schedule: "0 8 * * 2", durationMs: 4 * 60 * MINUTE, timeZone: "Europe/Rome", kind: "allow" as const };

describe("windows for some", () => {
  test("those of a stage hold its batches alone, and are named with their duration, their place, and the hour in their zone", () => {
    const self = bench(2, [{ region: "eu" }, { region: null }], (rollout) => {
      const [, second] = rollout.stages;
      if (second !== undefined) second.windows = [ROME];
    });
    bring(self, 1, "confirmed");
    bring(self, 2, "merging");
    const at = { path: "spec.stages[1].windows[0]", file: "rollouts/payments.yaml" };
    const { why, next } = batch(self.run, 2);
    expect(why).toHaveCode("WINDOW_SHUT", { where: { kind: "Stage", stage: "stage 2" }, window: { ...ROME, at } });
    expect(sentenceOf(why)).toContain(
      'merges wait for the window of stage "stage 2" (0 8 * * 2 for 4h, Europe/Rome; spec.stages[1].windows[0] of rollouts/payments.yaml)',
    );
    expect(next === null ? "" : sentenceOf(next.what)).toBe("the window opens, 08:00 in Europe/Rome on Tue 6 Jan");
    expect(next?.eta).toBe("2026-01-06T07:00:00.000Z");
  });

  const selector = (matchLabels: Record<string, string>) => ({ selector: { matchLabels, matchExpressions: [] } });
  const frozen = (scope: object) => [
    {
      ...OFFICE,
      schedule: "0 0 5 1 *",
      durationMs: 24 * 60 * MINUTE,
      kind: "deny" as const,
      where: REPO,
      at: { path: "freezes[1]" },
      ...scope,
    },
  ];

  test.each<[string, object, boolean]>([
    ["clusters with a label that one of the batch has", selector({ region: "us" }), true],
    ["clusters with a label that none of it has", selector({ region: "ap" }), false],
    ["this rollout", { rollouts: ["ledger", "payments"] }, true],
    ["another rollout", { rollouts: ["ledger"] }, false],
    ["this stage", { stages: ["stage 1"] }, true],
    ["another stage", { stages: ["stage 2"] }, false],
    ["these clusters in another stage", { ...selector({ region: "us" }), stages: ["stage 2"] }, false],
  ])("a freeze for %s: %o", (_whom, scope, holds) => {
    const self = bench(2, [{ maxUnavailable: 2 }]);
    self.world = { ...self.world, freezes: frozen(scope) };
    bring(self, 1, "merging");
    if (!holds) return expect(wants(round(self))).toContain("Merge 1");
    expect(batch(self.run, 1).why).toHaveCode("WINDOW_SHUT", { window: expect.objectContaining({ at: { path: "freezes[1]" } }) });
  });

  test.each<[string, { selector?: Selector; stages?: string[] }, boolean]>([
    ["clusters with a label that one of the batch has", selector({ region: "us" }), true],
    ["clusters with a label that none of it has", selector({ region: "ap" }), false],
    ["this stage", { stages: ["stage 1"] }, true],
    ["another stage", { stages: ["stage 2"] }, false],
    ["these clusters in this stage", { ...selector({ region: "us" }), stages: ["stage 1"] }, true],
    ["these clusters in another stage", { ...selector({ region: "us" }), stages: ["stage 2"] }, false],
    ["other clusters in this stage", { ...selector({ region: "ap" }), stages: ["stage 1"] }, false],
  ])("a window of the rollout for %s: %o", (_whom, scope, holds) => {
    const self = bench(2, [{ maxUnavailable: 2 }], (rollout) => {
      rollout.windows = [{ ...ROME, ...scope }];
    });
    bring(self, 1, "merging");
    if (!holds) return expect(wants(round(self))).toContain("Merge 1");
    const only = { ...(scope.selector && { selector: "region=us" }), ...(scope.stages && { stages: scope.stages }) };
    expect(batch(self.run, 1).why).toHaveCode("WINDOW_SHUT", { where: { kind: "Rollout", only } });
  });

  test("a window of a stage for some clusters holds its batches with such a cluster, and the sentence names them", () => {
    const self = bench(2, [{}], (rollout) => {
      for (const stage of rollout.stages) stage.windows = [{ ...ROME, ...selector({ region: "us" }) }];
    });
    bring(self, 1, "merging");
    expect(wants(round(self))).toContain("Merge 1");
    bring(self, 1, "confirmed");
    bring(self, 2, "merging");
    expect(sentenceOf(batch(self.run, 2).why)).toContain(
      'merges wait for the window of stage "stage 1" (region=us) (0 8 * * 2 for 4h, Europe/Rome; spec.stages[0].windows[0] of',
    );
  });

  test("a freeze for a cluster's label binds what is counted on it, whatever label that has over it", () => {
    const self = bench(1);
    const one = { key: "hub/one", name: "one", controlPlane: "hub", server: "", labels: { env: "prod" }, registered: true };
    const clusters = new Map([...self.world.clusters].map(([key, own]) => [key, { ...own, labels: { env: "dev" }, on: one }]));
    const why = (env: string) => {
      const asked = { ...self, world: { ...self.world, clusters, freezes: frozen(selector({ env })) } };
      bring(asked, 1, "merging");
      return batch(asked.run, 1).why;
    };
    expect(why("prod")).toHaveCode("WINDOW_SHUT");
    expect(why("dev")).toHaveCode("WINDOW_SHUT");
    expect(why("test")).not.toHaveCode("WINDOW_SHUT");
  });

  test("windows of different scopes must all be open; those of one are judged together", () => {
    const day = { ...OFFICE, schedule: "0 0 * * *", durationMs: 24 * 60 * MINUTE, where: REPO };
    const tuesday = { ...ROME, where: REPO };
    const shut = (freezes: PlacedFreeze[]) => {
      const self = bench(1);
      self.world = { ...self.world, freezes };
      bring(self, 1, "merging");
      return batch(self.run, 1).why;
    };
    expect(shut([day, { ...tuesday, ...selector({ region: "eu" }) }])).toHaveCode("WINDOW_SHUT", {
      where: { ...REPO, only: { selector: "region=eu" } },
    });
    expect(shut([day, tuesday])).not.toHaveCode("WINDOW_SHUT");
  });

  test("while labels cannot be read, and something is shut, nobody says what the batch waits for", () => {
    const self = bench(1);
    self.world = { ...self.world, freezes: frozen(selector({ region: "us" })), clustersKnown: false, clusters: new Map() };
    bring(self, 1, "merging");
    expect(batch(self.run, 1).why).toHaveCode("WINDOW_LABELS_UNREAD");
    // Nothing is shut: labels decide nothing.
    const open = bench(1);
    open.world = { ...open.world, freezes: frozen(selector({ region: "us" })).map((one) => ({ ...one, schedule: "0 0 1 6 *" })) };
    open.world = { ...open.world, clustersKnown: false, clusters: new Map() };
    bring(open, 1, "merging");
    expect(wants(round(open))).toContain("Merge 1");
  });
});
