import { describe, expect, test } from "vitest";
import { drive, type Outcome } from "../../src/sim/model/drive.ts";
import {
  CALM,
  FOREVER,
  type Happening,
  type ModelRollout,
  type ModelStage,
  PLAIN,
  type Scenario,
  type Script,
} from "../../src/sim/model/scenario.ts";

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
    expect(outcome.run.skipped.map(({ cluster, why }) => `${cluster} ${why}`)).toEqual([
      "hub/c2 stays at weight 18: its pin is that of c1, which did not get through",
    ]);
  });

  test("more clusters in quarantine than may be are asked about before the run ends, too", () => {
    const joins = { name: "new1", region: "eu", drained: true };
    const outcome = play({
      clusters: 1,
      rollout: { quarantine: { max: 0, onReturn: "CatchUp", drained: true } },
      happenings: [{ at: 5000, kind: "join", joins, version: "v1" }],
    });
    expect(outcome.violations).toEqual([]);
    expect(outcome.log.join("\n")).toContain("paused: 1 cluster in quarantine (new1), at most 0 may");
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
    expect(paused).toMatch(/1 cluster failed \(c1\)[\s\S]*1 cluster appeared during the run/);
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
});
