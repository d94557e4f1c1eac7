import { describe, expect, test } from "vitest";
import { drive } from "../../simulate/drive.ts";
import { CALM, type ModelRollout, PLAIN, type Scenario } from "../../simulate/generate/scenario.ts";
import { fleetOf } from "../../simulate/world/fleet.ts";
import { sayProblem } from "../report/reasons/problems/problems.ts";
import { clustersOf } from "../run/state/names.ts";
import { batch, bench, bring, guard, pull, round, STAGE, say, wants } from "../run/testing/bench.ts";
import type { Limits } from "../spec/schema-common.ts";
import { plan } from "./plan.ts";

function fleet(clusters: number, rollout: Partial<ModelRollout>): Scenario {
  return {
    seed: 1,
    clusters: Array.from({ length: clusters }, (_, index) => ({
      name: `c${index + 1}`,
      region: index % 2 === 0 ? "eu" : "us",
      drained: false,
    })),
    rollouts: [{ ...PLAIN, stages: [{ ...STAGE, maxUnavailable: 4 }], ...rollout }],
    behaviours: {},
    happenings: [{ at: 0, kind: "release", rollout: 0, version: "v2" }],
    chaos: CALM,
  };
}

function planned(limits: Limits | undefined, clusters = 10, rollout: Partial<ModelRollout> = {}) {
  const { rollout: parsed, release, clusters: all, targets } = fleetOf(fleet(clusters, rollout));
  return plan({ rollout: parsed, release, clusters: all, targets, limits });
}

describe("a batch larger than the limits allow", () => {
  test.each<[string, Limits, number[]]>([
    ["clusters", { clusters: 3 }, [3, 3, 3, 1]],
    ["targets", { targets: 1 }, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]],
    ["the share of a label's clusters", { label: { key: "region", percent: 20 } }, [2, 2, 2, 2, 2]],
    [
      "a limit for some clusters",
      { selected: [{ selector: { matchLabels: { region: "us" }, matchExpressions: [] }, clusters: 1 }] },
      [2, 2, 2, 2, 2],
    ],
    ["a limit for its stage", { selected: [{ stages: ["stage 1"], clusters: 3 }] }, [3, 3, 3, 1]],
    ["a limit for its rollout", { selected: [{ rollouts: ["payments"], targets: 3 }] }, [3, 3, 3, 1]],
    ["nothing that is in the way", { clusters: 4 }, [4, 4, 2]],
    ["nothing where no cluster has the label", { label: { key: "constructor", percent: 20 } }, [4, 4, 2]],
    ["nothing of another stage", { selected: [{ stages: ["stage 2"], clusters: 1 }] }, [4, 4, 2]],
    ["nothing of another rollout", { selected: [{ rollouts: ["ledger"], clusters: 1 }] }, [4, 4, 2]],
  ])("is cut in the plan, by %s", (_name, limits, sizes) => {
    const made = planned(limits);
    if (!made.ok) throw new Error("no plan");
    expect(made.plan.stages[0]?.batches.map((one) => one.clusters.length)).toEqual(sizes);
    expect(made.plan.warnings.map((one) => one.code)).toEqual(sizes[0] === 4 ? [] : ["BATCHES_CUT"]);
  });

  test("is cut by the limits of its rollout, too", () => {
    const us = { selector: { matchLabels: { region: "us" }, matchExpressions: [] }, stages: ["stage 1"], clusters: 1 };
    const made = planned(undefined, 10, { limits: { selected: [us] } });
    if (!made.ok) throw new Error("no plan");
    expect(made.plan.stages[0]?.batches.map((one) => one.clusters.length)).toEqual([2, 2, 2, 2, 2]);
    const [cut] = made.plan.warnings;
    expect(cut).toMatchObject({ code: "BATCHES_CUT" });
    expect(cut && sayProblem(cut).message).toContain(
      "spec.limits.selected[0].clusters of the rollout (region=us; stages stage 1) allows 1",
    );
  });

  test("is told with its numbers", () => {
    const made = planned({ clusters: 1 });
    expect(made.ok && made.plan.warnings[0]).toEqual({
      code: "BATCHES_CUT",
      ...{ stage: "stage 1", over: { setting: "limits.clusters", have: 4, most: 1 }, batches: 10, uncut: 3 },
    });
  });

  test("cannot be planned where it cannot be cut: clusters that share a pin", () => {
    const made = planned({ clusters: 1 }, 4, { sharedPins: true });
    expect(made).toMatchObject({
      ok: false,
      problems: [
        {
          code: "LIMITS_TOO_LOW",
          severity: "error",
          stage: "stage 1",
          unit: { count: 2 },
          over: { setting: "limits.clusters", have: 2, most: 1 },
          path: ["spec", "stages", 0],
        },
      ],
    });
  });

  test("is made smaller, and the run goes on to its end", () => {
    const outcome = drive({ ...fleet(10, {}), limits: { clusters: 1 } });
    expect(outcome.violations).toEqual([]);
    expect(outcome.run.phase).toBe("Succeeded");
    expect(outcome.run.batches.map((one) => one.targets.length)).toEqual(Array(10).fill(1));
  });

  test("does not hold a rollback for ever", () => {
    const bad = {
      lagMs: 1000,
      script: [{ state: "Degraded" as const, forMs: 1e13 }],
    };
    const well = [{ state: "Healthy" as const, forMs: 1e13 }];
    const rollout = { stages: [{ ...STAGE, maxUnavailable: 2 }], action: "Rollback" as const };
    const scenario = fleet(6, { ...rollout, rollback: { maxUnavailable: 4, skipBake: true } });
    const behaviours = { "app-c5": { ...bad, back: well }, "app-c6": { ...bad, back: well } };
    const outcome = drive({ ...scenario, behaviours, limits: { clusters: 2 } });
    expect(outcome.violations).toEqual([]);
    expect(outcome.run).toMatchObject({ kind: "Rollback", phase: "RolledBack" });
    expect(Math.max(...outcome.run.batches.map((one) => clustersOf(one.targets).length))).toBe(2);
    expect(outcome.tookMs).toBeLessThan(3 * 3_600_000);
  });

  test("is built again smaller where the limits were lowered with its pull request open", () => {
    const self = bench(4, [{ maxUnavailable: 4 }]);
    bring(self, 1, "open");
    self.world = { ...self.world, limits: { clusters: 3 } };
    guard(self, 1);
    expect(wants(round(self))).toContain("Close 1");
    expect(batch(self.run, 1).closing?.why).toEqual({ code: "BATCH_TOO_LARGE", over: { setting: "limits.clusters", have: 4, most: 3 } });
    pull(self, 1, { state: "closed", closedBy: "stagecoach[bot]" });
    round(self);
    expect(batch(self.run, 1)).toMatchObject({ attempt: 2, phase: "Proposing" });
    expect(clustersOf(batch(self.run, 1).targets)).toEqual(["hub/c1", "hub/c2", "hub/c3"]);
    pull(self, 1, { state: "open", number: 200, head: "again" });
    bring(self, 1, "confirmed");
    round(self);
    expect(clustersOf(batch(self.run, 2).targets)).toEqual(["hub/c4"]);
  });

  test("is closed before anybody is asked to approve it, or waits for a window", () => {
    const self = bench(4, [{ maxUnavailable: 4 }], (rollout) => {
      for (const stage of rollout.stages) stage.approval = { teams: ["sre"], count: 1 };
      rollout.windows = [{ schedule: "0 14 * * *", durationMs: 3_600_000, timeZone: "UTC", kind: "allow" }];
    });
    bring(self, 1, "open");
    self.world = { ...self.world, limits: { clusters: 3 } };
    guard(self, 1);
    expect(wants(round(self))).toContain("Close 1");
    expect(batch(self.run, 1).closing?.why).toHaveCode("BATCH_TOO_LARGE", { over: { setting: "limits.clusters", have: 4, most: 3 } });
    pull(self, 1, { state: "closed", closedBy: "stagecoach[bot]" });
    round(self);
    pull(self, 1, { state: "open", number: 200, head: "again" });
    guard(self, 1);
    round(self);
    round(self);
    expect(batch(self.run, 1).why).toHaveCode("APPROVAL_WANTED");
  });

  test("pauses the run where it cannot be cut, and names the setting", () => {
    const self = bench(1);
    const [target] = self.run.plan.stages[0]?.batches[0]?.targets ?? [];
    const more = { ...target, key: "hub/argocd/app-c1-b", application: "app-c1-b" } as NonNullable<typeof target>;
    self.run.plan.stages[0]?.batches[0]?.targets.push(more);
    self.world = { ...self.world, limits: { targets: 1 } };
    const targets = new Map(self.world.targets);
    self.world = { ...self.world, targets: targets.set(more.key, { pins: ["v1"] }) };
    bring(self, 1, "merging");
    expect(self.run).toMatchObject({
      phase: "Paused",
      paused: {
        kind: "Refused",
        reason: { code: "BATCH_NEVER_FITS", over: { setting: "limits.targets", have: 2, most: 1 }, clusters: ["hub/c1"] },
        ask: { code: "ASK_RAISE_LIMIT", setting: "limits.targets" },
      },
    });
    self.world = { ...self.world, limits: { targets: 2 } };
    say(self, "/resume", { actor: "carol", permission: "maintain" });
    round(self);
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("is refused as a hotfix, with what is allowed", () => {
    const self = bench(4, [{ maxUnavailable: 1 }, { maxUnavailable: 4 }]);
    self.world = { ...self.world, limits: { clusters: 1 } };
    self.run = { ...self.run, plan: { ...self.run.plan, stages: self.run.plan.stages.map((one) => ({ ...one, maxUnavailable: 4 })) } };
    round(self);
    say(self, "/hotfix c3 c4 customer down", { permission: "maintain" });
    round(self);
    expect(self.run.commands).toMatchObject([
      { outcome: "refused", message: { code: "HOTFIX_OVER_LIMITS", allowed: { over: { setting: "limits.clusters", most: 1 } } } },
    ]);
  });
});
