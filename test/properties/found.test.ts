import { describe, expect, test } from "vitest";
import { sentenceOf } from "../../src/core/report/reasons/say.ts";
import { drive, type Outcome } from "../../src/simulate/drive.ts";
import {
  CALM,
  FOREVER,
  type Happening,
  type ModelRollout,
  type ModelStage,
  PLAIN,
  type Scenario,
  type Script,
} from "../../src/simulate/generate/scenario.ts";

const STAGE: ModelStage = { region: null, maxUnavailable: 2, batching: "Fixed", bakeMs: 0, requeue: null };
const MINUTE = 60_000;
const RELEASE: Happening = { at: 0, kind: "release", rollout: 0, version: "v2" };

interface Small {
  clusters: number;
  rollout: Partial<ModelRollout>;
  scripts?: Record<string, Script>;
  happenings?: Happening[];
  scenario?: Partial<Scenario>;
}

/** Clusters c1, c2, … of the region eu, a release at once, and no other trouble than what is named. */
function play({ clusters, rollout, scripts = {}, happenings = [], scenario = {} }: Small): Outcome {
  return drive(
    {
      seed: 1,
      clusters: Array.from({ length: clusters }, (_, index) => ({ name: `c${index + 1}`, region: "eu", drained: false })),
      rollouts: [{ ...PLAIN, stages: [STAGE], ...rollout }],
      behaviours: Object.fromEntries(Object.entries(scripts).map(([name, script]) => [`app-${name}`, { lagMs: 1000, script }])),
      happenings: [RELEASE, ...happenings],
      chaos: CALM,
      ...scenario,
    },
    { log: true },
  );
}

function values({ truth }: Outcome, cluster: string): (string | null | undefined)[] {
  return (truth.targets.get(`hub/argocd/app-${cluster}`)?.pins ?? []).map((pin) => truth.git.log.get(pin)?.at(-1)?.value);
}

/** What random runs have found, each as small as it could be made. */
describe("what random runs once found", () => {
  const steps = [{ weight: 20 }, { weight: 60 }];

  test("a cluster that is caught up after the last stage goes through all of its weights", () => {
    const outcome = play({
      clusters: 3,
      rollout: {
        stages: [{ ...STAGE, maxUnavailable: 1, steps: [...steps, { pauseMs: MINUTE }] }],
        quarantine: { max: 2, onReturn: "CatchUp", drained: false },
      },
      happenings: [{ at: 0, kind: "unreach", cluster: "c2", forMs: 3 * MINUTE }],
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.run.phase).toBe("Succeeded");
    expect(values(outcome, "c2")).toEqual(["v2", "100"]);
    expect(outcome.run.batches.filter((one) => one.kind === "CatchUp").map((one) => one.step?.weight)).toEqual([20, 60, 100]);
  });

  test("a cluster that joins a stage with weights is brought to each of them", () => {
    const joins = { name: "new1", region: "eu", drained: false };
    const outcome = play({
      clusters: 1,
      rollout: { stages: [{ ...STAGE, steps }] },
      happenings: [{ at: 5000, kind: "join", joins, version: "v1" }],
    });
    expect(outcome.violations).toEqual([]);
    const [, weight = ""] = outcome.truth.targets.get("hub/argocd/app-new1")?.pins ?? [];
    expect(outcome.truth.git.log.get(weight)?.map((entry) => entry.value)).toEqual(["100", "20", "60", "100"]);
  });

  test("a hotfix of a later stage that waits, or was closed, does not hold a rolling stage up", () => {
    const hotfix = { kind: "command" as const, rollout: 0, actor: "alice", permission: "maintain" as const };
    const outcome = play({
      clusters: 3,
      rollout: {
        merge: "Manual",
        stages: [
          { ...STAGE, region: "eu", batching: "Rolling" },
          { ...STAGE, region: "us", approvals: 2 },
        ],
      },
      happenings: [{ at: 60 * MINUTE, ...hotfix, on: "batch", name: "hotfix", args: ["c5", "customer", "down"] }],
      scenario: {
        clusters: ["c1", "c2", "c3", "c4", "c5"].map((name) => ({ name, region: /c[35]/.test(name) ? "us" : "eu", drained: false })),
      },
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.run.phase).toBe("Succeeded");
  });

  test("a cluster that left at its last weight does not begin again from an earlier one", () => {
    const outcome = play({
      clusters: 3,
      rollout: { stages: [{ ...STAGE, maxUnavailable: 1, steps: [{ weight: 15 }] }] },
      happenings: [{ at: 40_000, kind: "leave", cluster: "c1" }],
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.run.batches.filter((one) => one.targets.some(({ key }) => key.endsWith("app-c1")))).toHaveLength(2);
  });

  test("a pause until /promote can be promoted after one of its clusters has failed", () => {
    const dips: Script = [
      { state: "Healthy", forMs: 40_000 },
      { state: "Degraded", forMs: FOREVER },
    ];
    const outcome = play({
      clusters: 2,
      rollout: { action: "Continue", stages: [{ ...STAGE, steps: [{ weight: 9 }, { pauseMs: null }] }] },
      scripts: { c1: dips },
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.run.phase).toBe("Failed");
    expect(values(outcome, "c2")).toEqual(["v2", "100"]);
  });

  test("a pause between weights is waited for also where the cluster was unhealthy before, which is tolerated", () => {
    const outcome = play({
      clusters: 1,
      rollout: { baseline: "Tolerate", stages: [{ ...STAGE, steps: [{ weight: 9 }, { pauseMs: null }] }] },
      scenario: { behaviours: { "app-c1": { lagMs: 1000, before: "Degraded", script: [{ state: "Degraded", forMs: FOREVER }] } } },
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.log.join("\n")).toContain("operator: /promote");
  });

  test("a cluster that stays at a weight because it shares its pin with one that failed is named", () => {
    const outcome = play({
      clusters: 2,
      rollout: { sharedPins: true, maxFailures: 1, stages: [{ ...STAGE, steps: [{ weight: 18 }] }] },
      scripts: { c1: [{ state: "Degraded", forMs: FOREVER }] },
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.run.skipped).toMatchObject([{ cluster: "hub/c2", why: { code: "LEFT_AT_WEIGHT", weight: 18, clusters: ["hub/c1"] } }]);
  });

  test("more clusters in quarantine than may be are asked about before the run ends, too", () => {
    const joins = { name: "new1", region: "eu", drained: true };
    const outcome = play({
      clusters: 1,
      rollout: { quarantine: { max: 0, onReturn: "CatchUp", drained: true } },
      happenings: [{ at: 5000, kind: "join", joins, version: "v1" }],
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.log.join("\n")).toContain("in quarantine (new1)");
    expect(outcome.run.phase).toBe("Succeeded");
  });

  test("joiners: Hold asks also where the run was paused on something else when they appeared", () => {
    const joins = { name: "new1", region: "eu", drained: false };
    const outcome = play({
      clusters: 1,
      rollout: { joiners: "Hold" },
      scripts: { c1: [{ state: "Degraded", forMs: FOREVER }] },
      happenings: [{ at: 10 * MINUTE, kind: "join", joins, version: "v1" }],
    });
    expect(outcome.violations).toEqual([]);
    const paused = outcome.log.filter((line) => line.includes("paused: ")).join("\n");
    expect(paused).toMatch(/c1 failed[\s\S]*appeared/);
  });

  test("a cluster put off while its next weight is in the merge queue is put back from that one, and caught up", () => {
    const outcome = play({
      clusters: 1,
      rollout: { stages: [{ ...STAGE, steps: [{ weight: 13 }] }] },
      scenario: { queue: true },
      happenings: [
        { at: 25 * MINUTE, kind: "settingsBroken", forMs: 30 * MINUTE },
        {
          at: 26 * MINUTE,
          kind: "command",
          rollout: 0,
          on: "release",
          name: "requeue",
          args: ["c1"],
          actor: "carol",
          permission: "maintain",
        },
      ],
    });
    expect(outcome.violations).toEqual([]);
    expect(values(outcome, "c1")).toEqual(["v2", "100"]);
  });

  const dips = (afterMs: number): Script => [
    { state: "Healthy", forMs: afterMs },
    { state: "Degraded", forMs: 25 * MINUTE },
    { state: "Healthy", forMs: FOREVER },
  ];

  test("a cluster that fails between two weights is retried where it is, also with the next weight's pull request open", () => {
    const outcome = play({
      clusters: 1,
      rollout: { merge: "Manual", stages: [{ ...STAGE, steps: [{ weight: 33 }] }] },
      scripts: { c1: dips(5 * MINUTE) },
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.log.join("\n")).toMatch(/c1 failed: [\s\S]*@operator retried/);
    expect(outcome.log.join("\n")).not.toContain(
      sentenceOf({ code: "PUT_TO_END", clusters: ["hub/c1"], because: { code: "SAID", text: "" } }).slice(0, -2),
    );
    expect(values(outcome, "c1")).toEqual(["v2", "100"]);
  });

  test("who fails between two weights does not go on, nor does who shares its pin, which is named; the others do", () => {
    const outcome = play({
      clusters: 4,
      rollout: {
        sharedPins: true,
        merge: "Manual",
        action: "Continue",
        stages: [{ ...STAGE, maxUnavailable: 4, steps: [{ weight: 33 }] }],
      },
      scripts: { c1: dips(5 * MINUTE) },
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.log.join("\n")).toContain(sentenceOf({ code: "WEIGHT_MISSED", clusters: ["hub/c1", "hub/c2"] }));
    expect(["c1", "c2", "c3", "c4"].map((name) => values(outcome, name)[1])).toEqual(["33", "33", "100", "100"]);
    expect(outcome.run.skipped.map(({ cluster }) => cluster)).toEqual(["hub/c2"]);
  });

  test("what shares a pin between two weights is put off together", () => {
    const outcome = play({
      clusters: 2,
      rollout: { sharedPins: true, stages: [{ ...STAGE, steps: [{ weight: 17 }] }] },
      scripts: { c2: [{ state: "Unreachable", forMs: FOREVER }] },
      happenings: [{ at: 5000_000, kind: "forcePush", rollout: 0, keeps: false }],
    });
    expect(outcome.violations).toEqual([]);
    expect(["c1", "c2"].map((name) => values(outcome, name)[1])).toEqual(["100", "100"]);
  });

  test.each([13_500, 27_000, 40_000])("a cluster that leaves between two weights, at %d ms, holds up nobody after it", (at) => {
    const outcome = play({
      clusters: 2,
      rollout: { stages: [{ ...STAGE, maxUnavailable: 1, steps: [...steps, { weight: 80 }] }] },
      happenings: [{ at, kind: "leave", cluster: "c1" }],
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.run.phase).toBe("Succeeded");
    expect(outcome.log.join("\n")).toContain(sentenceOf({ code: "CLUSTER_LEFT", cluster: "hub/c1" }));
  });

  const command = { kind: "command", rollout: 0, on: "release", actor: "carol", permission: "maintain" } as const;

  test("what is put off after it was tried again gives back what stood there before the run", () => {
    const outcome = play({
      clusters: 1,
      rollout: {},
      scripts: { c1: [{ state: "Unreachable", forMs: FOREVER }] },
      happenings: [
        { at: 1100_000, ...command, name: "requeue", args: ["failed"] },
        { at: 1200_000, ...command, name: "requeue", args: ["c1"], flags: { for: "15m" } },
      ],
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.log.join("\n")).toContain("revert batch 3");
  });

  test("one pull request is open also where an earlier stage catches up while the later one's is in the merge queue", () => {
    const outcome = play({
      clusters: 2,
      rollout: { maxFailures: 2, stages: [{ ...STAGE, region: "us" }, STAGE] },
      scripts: { c1: dips(MINUTE) },
      scenario: {
        queue: true,
        clusters: ["us", "eu"].map((region, index) => ({ name: `c${index + 1}`, region, drained: false })),
        seed: 6,
      },
      happenings: Array.from({ length: 8 }, (_, index) => ({ at: (12 + 2 * index) * MINUTE, ...command, name: "requeue", args: ["c1"] })),
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.log.join("\n")).toContain(sentenceOf({ code: "EARLIER_STAGE_FIRST" }));
  });

  test("a cluster whose pin went with that of another is not said to be there", () => {
    const outcome = play({
      clusters: 2,
      rollout: { sharedPins: true },
      scenario: {
        behaviours: {
          "app-c1": { lagMs: 1000, script: [{ state: "Healthy", forMs: FOREVER }] },
          // Confirmed before it sees that its pin is gone.
          "app-c2": {
            lagMs: 85_000,
            script: [
              { state: "Progressing", forMs: 2 * MINUTE },
              { state: "Healthy", forMs: FOREVER },
            ],
          },
        },
      },
      happenings: [{ at: 140_000, kind: "leave", cluster: "c1" }],
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.log.join("\n")).toMatch(/paused: .*c2.* by bob/);
  });

  test("a halt of every cluster holds the release that a rollback puts back, too", () => {
    const outcome = play({
      clusters: 1,
      rollout: { action: "Rollback", quarantine: { max: 0, onReturn: "CatchUp", drained: false } },
      happenings: [
        { at: 5000, kind: "unreach", cluster: "c1", forMs: 54 * MINUTE },
        { at: 44 * MINUTE, ...command, name: "halt", args: ["maintenance"], flags: { for: "30m" } },
      ],
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.run.phase).toBe("RolledBack");
  });

  test("a hotfix does not bring together what is kept apart", () => {
    const outcome = play({
      clusters: 3,
      rollout: { stages: [{ ...STAGE, topology: true }] },
      scripts: { c1: [{ state: "Progressing", forMs: 4 * MINUTE }] },
      happenings: [{ at: MINUTE, ...command, name: "hotfix", args: ["c2", "c3", "customer", "down"] }],
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.run.commands.map(({ message }) => message)).toMatchObject([{ code: "CLUSTERS_KEPT_APART" }]);
  });

  test("a revert that waits for a place in the window does not keep what takes it from its next weight", () => {
    const joins = (name: string) => ({ kind: "join" as const, joins: { name, region: "eu", drained: false }, version: "v1" });
    const outcome = play({
      clusters: 1,
      rollout: { maxFailures: 1, stages: [{ ...STAGE, maxUnavailable: 2, steps: [{ weight: 4 }, { pauseMs: null }] }] },
      happenings: [
        { at: 20 * MINUTE, ...joins("new3") },
        { at: 30 * MINUTE, ...joins("new2") },
        { at: 37 * MINUTE, kind: "loseApplication", rollout: 0, cluster: "c1" },
        { at: 55 * MINUTE, ...command, name: "requeue", args: ["c1"] },
      ],
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.run.phase).toBe("Succeeded");
    expect(outcome.run.batches.some((one) => one.kind === "Revert" && one.merged !== undefined)).toBe(true);
  });

  test("a hotfix that waits for a place in the window does not keep what takes it from its next weight", () => {
    const outcome = play({
      clusters: 2,
      rollout: { stages: [{ ...STAGE, maxUnavailable: 1, steps: [{ weight: 21 }] }] },
      scripts: { c1: [{ state: "Progressing", forMs: 4 * MINUTE }] },
      happenings: [{ at: MINUTE, ...command, name: "hotfix", args: ["c2", "customer", "down"] }],
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.run.phase).toBe("Succeeded");
    expect(outcome.run.batches.filter((one) => one.kind === "Hotfix" && one.merged !== undefined)).toHaveLength(1);
  });

  test.each([
    ["is being put back", [{ at: 290_000, ...command, name: "requeue", args: ["c1"] }]],
    [
      "was left out at its last one",
      [
        { at: 300_000, kind: "unreach", cluster: "c1", forMs: 60 * MINUTE },
        { at: 2500_000, ...command, name: "skip", args: ["c1"] },
      ],
    ],
  ] as [string, Happening[]][])(
    "a rollout does not go to a cluster where what it depends on %s after a canary's weight",
    (_, happenings) => {
      const ledger: ModelRollout = {
        ...PLAIN,
        name: "ledger",
        stages: [STAGE],
        dependsOn: [{ rollout: "payments", atLeast: "SameVersion" }],
      };
      const canary = { ...PLAIN, stages: [{ ...STAGE, steps: [{ weight: 40 }] }] };
      const outcome = play({
        clusters: 1,
        rollout: {},
        scripts: { c1: [{ state: "Progressing", forMs: 4 * MINUTE }] },
        scenario: { rollouts: [canary, ledger] },
        happenings: [{ at: 0, kind: "release", rollout: 1, version: "v2" }, ...happenings],
      });
      expect(outcome.violations).toEqual([]);
      expect(outcome.log.join("\n")).toMatch(/ledger #1: (Stagecoach merges|aborted)/);
    },
  );

  test("a cluster that left between two weights does not hold the others at the former one", () => {
    const outcome = play({
      clusters: 2,
      rollout: { stages: [{ ...STAGE, steps: [{ weight: 33 }, { weight: 95 }, { pauseMs: 60 * MINUTE }] }] },
      happenings: [{ at: 20 * MINUTE, kind: "leave", cluster: "c2" }],
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.log.join("\n")).toContain("c2 left");
    expect(outcome.run.phase).toBe("Succeeded");
  });
});
