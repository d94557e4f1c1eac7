import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import { sentenceOf } from "../../report/reasons/say.ts";
import type { Rollout } from "../../spec/rollout.ts";
import type { Limits } from "../../spec/schema-common.ts";
import { clustersOf } from "../state/names.ts";
import type { BatchTarget, Run } from "../state/run.ts";
import { AT, approving, batch, bench, bring, guard, judge, MINUTE, round, SECOND, say, wants } from "../testing/bench.ts";
import { versionAt } from "./depends.ts";

/** Whose freezes these are. */
const REPO = { kind: "File" as const, file: ".github/stagecoach.yaml" };
/** AT is a Monday, nine o'clock UTC. */
const OFFICE = { schedule: "0 14 * * 1-5", durationMs: 8 * 60 * MINUTE, timeZone: "UTC", kind: "allow" as const };

describe("windows", () => {
  test("a batch waits for the window with its PR open, says when it opens, and merges then", () => {
    const self = bench(1, [{}], (rollout) => {
      rollout.windows = [OFFICE];
    });
    bring(self, 1, "merging");
    expect(batch(self.run, 1)).toMatchObject({
      phase: "Open",
      why: expect.toHaveCode("WINDOW_SHUT", {
        where: { kind: "Rollout" },
        window: expect.objectContaining({ schedule: "0 14 * * 1-5", kind: "allow" }),
      }),
      next: { what: { code: "NEXT_WINDOW" }, eta: iso(AT + 5 * 60 * MINUTE) },
    });
    expect(self.last.wakeAt).toBeDefined();
    expect(self.last.cleared ?? []).toEqual([]);
    self.now = AT + 5 * 60 * MINUTE;
    guard(self, 1);
    round(self);
    expect(wants(self.last)).toContain("Merge 1");
  });

  test("a freeze of the repo holds although the rollout's own window is open", () => {
    const self = bench(1);
    const freeze = { schedule: "0 0 5 1 *", durationMs: 24 * 60 * MINUTE, timeZone: "UTC", kind: "deny" as const, where: REPO };
    self.world = { ...self.world, freezes: [freeze] };
    bring(self, 1, "merging");
    expect(batch(self.run, 1).why).toHaveCode("WINDOW_SHUT", {
      where: REPO,
      window: expect.objectContaining({ schedule: "0 0 5 1 *", kind: "deny" }),
    });
    self.world = { ...self.world, freezes: [] };
    guard(self, 1);
    round(self);
    expect(wants(self.last)).toContain("Merge 1");
  });

  const monday = { schedule: "0 9 * * 1", durationMs: 8 * 60 * MINUTE, timeZone: "UTC", kind: "allow" as const };
  const freeze = (schedule: string, hours: number) => ({
    schedule,
    durationMs: hours * 60 * MINUTE,
    timeZone: "UTC",
    kind: "deny" as const,
    where: REPO,
  });

  test("what is promised is the first moment at which windows and freezes are open together", () => {
    const self = bench(1, [{}], (rollout) => {
      rollout.windows = [{ ...monday, schedule: "0 9 * * 1,3" }];
    });
    // From midnight on the fifth, a Monday, to ten on the seventh.
    self.world = { ...self.world, freezes: [freeze("0 0 5 1 *", 58)] };
    bring(self, 1, "merging");
    const opens = Date.UTC(2026, 0, 7, 10);
    expect(batch(self.run, 1).next).toEqual({ what: { code: "NEXT_WINDOW" }, eta: iso(opens) });
    self.now = Date.UTC(2026, 0, 6, 12);
    round(self);
    expect(batch(self.run, 1)).toMatchObject({
      why: expect.toHaveCode("WINDOW_SHUT", { where: { kind: "Rollout" } }),
      next: { what: { code: "NEXT_WINDOW" }, eta: iso(opens) },
    });
    self.now = opens - SECOND;
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("windows and freezes that are never open together are said to be so, and nothing is promised", () => {
    const self = bench(1, [{}], (rollout) => {
      rollout.windows = [monday];
    });
    self.world = { ...self.world, freezes: [freeze("0 0 * * 1", 24)] };
    bring(self, 1, "merging");
    const never = {
      why: expect.toHaveCode("WINDOWS_NEVER_TOGETHER", { where: [{ kind: "Rollout" }, REPO] }),
      next: { what: { code: "NEXT_WINDOWS_CHANGED" } },
    };
    expect(batch(self.run, 1)).toMatchObject(never);
    round(self, 36 * 60 * MINUTE);
    expect(batch(self.run, 1)).toMatchObject(never);
  });
});

describe("limits over all runs", () => {
  const elsewhere = (target: BatchTarget) => ({
    ...target,
    key: `x/${target.key}`,
    cluster: target.cluster === "hub/c1" ? "hub/c3" : "hub/c4",
  });

  function flying(self: ReturnType<typeof bench>, clusters: number): Run {
    const other = bench(clusters, [{ maxUnavailable: clusters }]);
    bring(other, 1, "merged");
    void self;
    const batches = other.run.batches.map((b) => ({
      ...b,
      targets: b.targets.map((t) => ({ ...t, key: `x/${t.key}`, cluster: `hub/other-${t.cluster}` })),
    }));
    return { ...other.run, rollout: "ledger", batches };
  }

  test.each([
    ["clusters", { clusters: 3 }, "limits.clusters"],
    ["targets", { targets: 3 }, "limits.targets"],
  ])("%s in flight elsewhere count", (_name, limits, setting) => {
    const self = bench(1);
    self.world = { ...self.world, limits, others: [flying(self, 3)] };
    bring(self, 1, "merging");
    expect(batch(self.run, 1).why).toHaveCode("LIMITS_FULL", { over: { setting, have: 4, most: 3 }, now: ["ledger"] });
    self.world = { ...self.world, others: [] };
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("a percentage of a label's clusters", () => {
    const self = bench(6, [{ maxUnavailable: 6 }]);
    self.world = { ...self.world, limits: { label: { key: "region", percent: 50 } }, others: [] };
    bring(self, 1, "merging");
    expect(clustersOf(batch(self.run, 1).targets)).toEqual(["hub/c1", "hub/c2"]);
    const away = {
      ...self.run,
      rollout: "ledger",
      batches: self.run.batches.map((one) => ({ ...one, targets: one.targets.map(elsewhere) })),
    };
    const waits = bench(6, [{ maxUnavailable: 6 }]);
    waits.world = { ...self.world, others: [away] };
    bring(waits, 1, "merging");
    expect(batch(waits.run, 1).why).toHaveCode("LIMITS_FULL", {
      over: { setting: "limits.label", have: 2, most: 1, label: { key: "region", value: "eu", percent: 50 } },
    });
  });

  test("a limit for some clusters counts those alone, and waits while labels cannot be read", () => {
    const selected = [{ selector: { matchLabels: { region: "us" }, matchExpressions: [] }, clusters: 1 }];
    const self = bench(2, [{ maxUnavailable: 2 }]);
    const moving = { ...flying(self, 3), rollout: "ledger" };
    const us = [...self.world.clusters.values()].filter(({ labels }) => labels["region"] === "us");
    const there = new Map([...self.world.clusters, ...us.map((one) => ["hub/other-hub/c2", { ...one, key: "hub/other-hub/c2" }] as const)]);
    self.world = { ...self.world, limits: { selected }, clusters: there, others: [moving] };
    bring(self, 1, "merging");
    const over = { setting: "limits.selected[0].clusters", have: 2, most: 1, only: { selector: "region=us" } };
    expect(batch(self.run, 1).why).toHaveCode("LIMITS_FULL", { over });
    self.world = { ...self.world, clusters: new Map(), clustersKnown: false, others: [] };
    guard(self, 1);
    round(self);
    expect(batch(self.run, 1).why).toHaveCode("LIMITS_LABELS_UNREAD");
  });

  test.each<[string, Omit<NonNullable<Limits["selected"]>[number], "clusters">, boolean]>([
    ["a stage in which the other run has something", { stages: ["stage 1"] }, true],
    ["another stage", { stages: ["stage 2"] }, false],
    ["both rollouts", { rollouts: ["payments", "ledger"] }, true],
    ["this rollout alone", { rollouts: ["payments"] }, false],
  ])("a limit for %s counts that alone, and needs no labels", (_whom, scope, holds) => {
    const self = bench(1);
    const limits = { selected: [{ ...scope, clusters: 1 }] };
    self.world = { ...self.world, limits, others: [flying(self, 1)] };
    bring(self, 1, "merging");
    self.world = { ...self.world, clusters: new Map(), clustersKnown: false };
    guard(self, 1);
    const wanted = wants(round(self));
    if (!holds) return expect(wanted).toContain("Merge 1");
    const { why } = batch(self.run, 1);
    expect(why).toHaveCode("LIMITS_FULL", { over: { setting: "limits.selected[0].clusters", have: 2, most: 1, only: scope } });
    const whom = scope.stages === undefined ? "rollouts payments, ledger" : "stages stage 1";
    expect(sentenceOf(why)).toMatch(`the repo's limits (${whom}) allow 1 cluster at once, and this would make it 2`);
  });

  test("a rollout's own limits count its own runs alone, in the stages and on the clusters that they are for", () => {
    const own = (limits: Limits, others: Run[] = []) => {
      const self = bench(3, [{ maxUnavailable: 3, batching: "Rolling" }], (rollout) => {
        rollout.limits = limits;
      });
      self.world = { ...self.world, others };
      bring(self, 1, "merging");
      return self;
    };
    // Two clusters are of eu: the batch is cut to what may ever be in flight.
    const eu = { selector: { matchLabels: { region: "eu" }, matchExpressions: [] }, clusters: 1 };
    const first = own({ selected: [{ ...eu, stages: ["stage 1"] }] }, [flying(bench(3), 3)]);
    expect(clustersOf(batch(first.run, 1).targets)).toEqual(["hub/c1", "hub/c2"]);
    expect(wants(first.last)).toContain("Merge 1");
    bring(first, 1, "merged");
    first.now += 120_000;
    bring(first, 2, "merging");
    const { why } = batch(first.run, 2);
    expect(why).toHaveCode("LIMITS_FULL", {
      over: {
        ...{ setting: "spec.limits.selected[0].clusters", have: 2, most: 1 },
        only: { selector: "region=eu", stages: ["stage 1"] },
      },
      now: ["payments"],
    });
    expect(sentenceOf(why)).toMatch("the rollout's limits (region=eu; stages stage 1) allow 1 cluster at once");
    expect(clustersOf(batch(own({ selected: [{ ...eu, stages: ["stage 2"] }] }).run, 1).targets)).toHaveLength(3);
  });

  test("while the other runs cannot be read nothing merges under limits", () => {
    const self = bench(1);
    const { others: _, ...world } = self.world;
    self.world = { ...world, limits: { clusters: 9 } };
    bring(self, 1, "merging");
    expect(batch(self.run, 1)).toMatchObject({ phase: "Open", why: expect.toHaveCode("OTHERS_UNREAD") });
  });
});

describe("dependsOn", () => {
  const depends = (atLeast: string) => (rollout: Rollout) => {
    rollout.dependsOn = [{ rollout: "ledger", atLeast }];
  };

  test("a cluster waits until the other rollout is confirmed there at the same version", () => {
    const ledger = bench(2);
    bring(ledger, 1, "merged");
    const self = bench(1, [{}], depends("SameVersion"));
    const see = (run: Run) => {
      self.world = { ...self.world, others: [{ ...run, rollout: "ledger" }] };
    };
    see(ledger.run);
    bring(self, 1, "merging");
    expect(batch(self.run, 1).why).toHaveCode("DEPENDENCY_MISSING", {
      cluster: "hub/c1",
      rollout: "ledger",
      because: expect.toHaveCode("VERSION_UNKNOWN"),
    });
    bring(ledger, 1, "confirmed");
    see(ledger.run);
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
    expect(versionAt(ledger.run, "hub/c1")).toBe("v2");
    expect(versionAt(ledger.run, "hub/c2")).toBe("v1");
  });

  test("a cluster that the other rollout has not come to yet holds its older version, which may be enough", () => {
    const ledger = { ...bench(2).run, rollout: "ledger" };
    for (const [atLeast, merges] of [
      ["SameVersion", false],
      ["0.9.0", true],
    ] as const) {
      const self = bench(1, [{}], depends(atLeast));
      const run = structuredClone(ledger);
      for (const stage of run.plan.stages)
        for (const b of stage.batches) for (const t of b.targets) for (const e of t.edits) e.from = "1.0.0";
      self.world = { ...self.world, others: [run] };
      bring(self, 1, "merging");
      expect(batch(self.run, 1).phase).toBe(merges ? "Merging" : "Open");
    }
  });

  test("a cluster the other rollout never goes to does not wait", () => {
    const self = bench(3, [{}], depends("SameVersion"));
    self.world = { ...self.world, others: [{ ...bench(1).run, rollout: "ledger" }] };
    for (const one of self.world.others ?? []) expect(one.plan.stages).toHaveLength(1);
    self.run = { ...self.run, skipped: [{ cluster: "hub/c1", why: said("test"), at: iso(AT) }] };
    bring(self, 1, "merging");
    expect(batch(self.run, 1).phase).toBe("Merging");
  });
});

describe("/promote --full", () => {
  test("ends the bake under way and every later one; health is still waited for", () => {
    const self = bench(2, [{ bakeMs: 60 * MINUTE }]);
    bring(self, 1, "confirmed");
    expect(batch(self.run, 1).phase).toBe("Baking");
    say(self, "/promote", { flags: { full: true }, permission: "write" });
    round(self);
    expect(batch(self.run, 1).phase).toBe("Baking");
    say(self, "/promote", { flags: { full: true }, permission: "maintain" });
    round(self);
    round(self);
    expect(batch(self.run, 1).phase).toBe("Settled");
    bring(self, 2, "merged");
    expect(batch(self.run, 2).phase).toBe("Merged");
    judge(self, "c2", "live", "all");
    round(self);
    expect(self.run.phase).toBe("Succeeded");
  });
});

describe("/hotfix", () => {
  test("brings a cluster forward: at once, without bake and windows, beside the batch under way", () => {
    const self = bench(4, [{ maxUnavailable: 2, bakeMs: 60 * MINUTE }], (rollout) => {
      rollout.windows = [OFFICE];
    });
    round(self);
    say(self, "/hotfix c4 customer down", { permission: "maintain" });
    round(self);
    const hotfix = self.run.batches.find((one) => one.kind === "Hotfix");
    expect(hotfix?.targets.map((t) => t.cluster)).toEqual(["hub/c4"]);
    expect(self.run.commands.at(-1)?.message).toHaveCode("HOTFIX_DONE", { clusters: ["hub/c4"], text: "customer down" });
    const number = hotfix?.number ?? 0;
    bring(self, number, "merging");
    expect(batch(self.run, number).phase).toBe("Merging");
    bring(self, number, "confirmed");
    expect(batch(self.run, number).phase).toBe("Settled");
    expect(batch(self.run, 1).why).not.toContain("merging");
  });

  test("never goes past the window of its stage, nor past an approval", () => {
    const self = bench(3, [{ maxUnavailable: 1 }], approving());
    bring(self, 1, "open");
    self.world = { ...self.world, approvals: new Map([[1, [{ by: "bob", at: iso(self.now) }]]]) };
    bring(self, 1, "merged");
    say(self, "/hotfix c3 now", { permission: "maintain" });
    round(self);
    bring(self, 2, "merging");
    expect(batch(self.run, 2)).toMatchObject({
      kind: "Hotfix",
      phase: "Open",
      why: expect.toHaveCode("WINDOW_FULL", { clusters: ["hub/c1", "hub/c3"], most: 1 }),
    });
  });

  test.each([
    ["/hotfix", "CLUSTERS_NOT_NAMED"],
    ["/hotfix c9 now", "CLUSTER_UNKNOWN"],
    ["/hotfix c2", "HOTFIX_WANTS_REASON"],
    ["/hotfix c1 now", "IN_BATCH_ALREADY"],
    ["/hotfix c2 c3 now", "HOTFIX_TOO_LARGE"],
  ])("%s is refused: %s", (text, code) => {
    const self = bench(3);
    round(self);
    say(self, text, { permission: "maintain" });
    round(self);
    expect(self.run.commands.at(-1)).toMatchObject({ outcome: "refused", message: { code } });
  });
});
