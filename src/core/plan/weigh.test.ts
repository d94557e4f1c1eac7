import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stepBench } from "../run/testing/step-bench.ts";
import { plan } from "./plan.ts";
import { replicasAt, splitReplicas, weighBatch } from "./weigh.ts";

describe("a replica split over clusters", () => {
  test("10 replicas on 2 clusters: 20% is 1 and 1, 60% is 3 and 3, all of it 5 and 5", () => {
    const { run } = stepBench(2, { replicas: 10 });
    expect(run.plan.stages[0]?.batches[0]?.targets.map(({ edits }) => edits[1]?.steps)).toEqual([
      ["1", "3", "5"],
      ["1", "3", "5"],
    ]);
  });

  test("what is left over goes to the first clusters, in the order of the plan", () => {
    const { run } = stepBench(3, { replicas: 10, maxUnavailable: 3 });
    expect(run.plan.stages[0]?.batches[0]?.targets.map(({ edits }) => edits[1]?.steps)).toEqual([
      ["1", "2", "4"],
      ["1", "2", "3"],
      ["0", "2", "3"],
    ]);
  });

  test.each([
    [10, 2, [5, 5]],
    [3, 2, [2, 1]],
    [1, 3, [1, 0, 0]],
    [0, 2, [0, 0]],
  ])("%d replicas on %d clusters are %j", (replicas, clusters, split) => {
    expect(splitReplicas(replicas, clusters)).toEqual(split);
  });

  test("every replica is given once, no two clusters differ by more than one, and more replicas give nobody fewer", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5000 }),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 0, max: 50 }),
        (replicas, clusters, more) => {
          const split = splitReplicas(replicas, clusters);
          expect(split.reduce((sum, one) => sum + one, 0)).toBe(replicas);
          expect(Math.max(...split) - Math.min(...split)).toBeLessThanOrEqual(1);
          const larger = splitReplicas(replicas + more, clusters);
          expect(larger.every((one, place) => one >= (split[place] ?? 0))).toBe(true);
        },
      ),
    );
  });

  test("a weight above 0 is at least one replica, and 100 is all of them", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 0, max: 100 }), (replicas, weight) => {
        const some = replicasAt(replicas, weight);
        expect(some).toBeGreaterThanOrEqual(weight === 0 ? 0 : 1);
        expect(some).toBeLessThanOrEqual(replicas);
        expect(replicasAt(replicas, 100)).toBe(replicas);
      }),
    );
  });
});

describe("weight pins in a plan", () => {
  test("its hash is another where a weight is another", () => {
    const one = stepBench(2, { steps: [{ kind: "setWeight", weight: 20 }] });
    const two = stepBench(2, { steps: [{ kind: "setWeight", weight: 30 }] });
    expect(one.run.plan.hash).not.toBe(two.run.plan.hash);
  });

  test("clusters that share the place of a weight and would write different shares have no plan", () => {
    const { run, world } = stepBench(2);
    const targets = ["c1", "c2"].map((name) => ({
      key: `hub/argocd/app-${name}`,
      application: `app-${name}`,
      namespace: "argocd",
      controlPlane: "hub",
      cluster: `hub/${name}`,
      edits: [
        {
          file: "values.yaml",
          path: "weight",
          kind: "value" as const,
          from: "0",
          to: "5",
          weigh: { value: [{ step: "replicas" as const }], replicas: 3 },
        },
      ],
    }));
    const made = plan({ rollout: run.spec, release: run.release, clusters: [...world.clusters.values()], targets });
    expect(made).toMatchObject({ ok: false, problems: [{ code: "WEIGHT_PIN_SHARED", path: ["spec", "stages", 0, "steps"] }] });
  });

  test("a batch without weight pins stays the very object it was", () => {
    const batch = { clusters: ["hub/c1"], targets: [] };
    expect(weighBatch(batch, undefined)).toBe(batch);
  });
});
