import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededFraction } from "../base/seeded.ts";
import { jitterUntil } from "../run/gates/jitter.ts";
import { batch, bench, bring, judge, MINUTE, round, SECOND } from "../run/testing/bench.ts";
import type { Rollout, Stage } from "../spec/rollout.ts";
import { grownSize } from "./cut-batches.ts";
import { plan } from "./plan.ts";
import type { Cluster, Target } from "./plan-types.ts";

const names = (count: number) => Array.from({ length: count }, (_, i) => `c${i + 1}`);

function batchesOf(
  stage: Partial<Stage>,
  clusterNames: readonly string[],
  labels: (name: string) => Record<string, string> = () => ({}),
): string[][] {
  const rollout: Rollout = structuredClone(bench(1).run.spec);
  const [first] = rollout.stages;
  if (first === undefined) throw new Error("no stage");
  Object.assign(first, { maxUnavailable: { count: 1 }, ...stage });
  const clusters: Cluster[] = clusterNames.map((name) => ({
    ...{ key: `hub/${name}`, name, controlPlane: "hub", server: "", labels: labels(name), registered: true },
  }));
  const targets: Target[] = clusters.map(({ key, name }) => ({
    ...{ key: `hub/argocd/${name}`, application: name, namespace: "argocd", controlPlane: "hub", cluster: key },
    edits: [{ file: "a", path: name, kind: "value", from: "1", to: "2" }],
  }));
  const result = plan({ rollout, release: { values: { version: "2" }, attempt: 1 }, clusters, targets });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.plan.stages[0]?.batches.map((one) => one.clusters.map((key) => key.slice(4))) ?? [];
}

describe("order: seeded", () => {
  test("is the same for the same seed, another for another, and loses nobody", () => {
    const drawn = (seed: string) => batchesOf({ order: { by: "seeded", seed } }, names(40)).flat();
    expect(drawn("a")).toEqual(drawn("a"));
    expect(drawn("a")).not.toEqual(drawn("b"));
    expect(drawn("a")).not.toEqual(names(40));
    expect(drawn("a").toSorted()).toEqual(names(40).toSorted());
  });

  test("spreads evenly: over many seeds every cluster comes first about as often", () => {
    const firsts = new Map<string, number>();
    for (let seed = 0; seed < 1000; seed++) {
      const [first = ""] = batchesOf({ order: { by: "seeded", seed: String(seed) } }, names(10)).flat();
      firsts.set(first, (firsts.get(first) ?? 0) + 1);
    }
    expect(firsts.size).toBe(10);
    for (const count of firsts.values()) expect(count).toBeGreaterThan(50);
  });
});

describe("pairs", () => {
  test("an active cluster and its standby are never in one batch", () => {
    const pairs = [
      ["c1", "c2"],
      ["hub/c3", "hub/c4"],
    ];
    for (const one of batchesOf({ maxUnavailable: { count: 4 }, pairs }, names(8))) {
      expect(one).not.toEqual(expect.arrayContaining(["c1", "c2"]));
      expect(one).not.toEqual(expect.arrayContaining(["c3", "c4"]));
    }
  });

  test("they hold together with topologyKey, whatever the clusters", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 5 }),
        (regions, size) => {
          const region = (name: string) => ({ region: regions[Number(name.slice(1)) - 1] ?? "" });
          const stage = { maxUnavailable: { count: size }, topologyKey: "region", pairs: [["c1", "c3", "c5"]] };
          const made = batchesOf(stage, names(regions.length), region);
          expect(made.flat().toSorted()).toEqual(names(regions.length).toSorted());
          for (const one of made) {
            expect(new Set(one.map((name) => region(name).region)).size).toBe(one.length);
            expect(one.filter((name) => ["c1", "c3", "c5"].includes(name)).length).toBeLessThanOrEqual(1);
          }
        },
      ),
    );
  });
});

describe("a window that grows", () => {
  test("is planned as 1, 2, 4 … up to its most", () => {
    const sizes = batchesOf({ maxUnavailable: { count: 5 }, grow: { start: 1, factor: 2 } }, names(20)).map((one) => one.length);
    expect(sizes).toEqual([1, 2, 4, 5, 5, 3]);
    expect([0, 1, 2, 3, 4].map((clean) => grownSize({ start: 1, factor: 1.5 }, clean, 9))).toEqual([1, 1, 2, 3, 5]);
    expect(grownSize({ start: 3, factor: 100 }, 1000, 7)).toBe(7);
  });

  test("begins anew after a batch in which a cluster failed", () => {
    const self = bench(12, [{ maxUnavailable: 4 }], (rollout) => {
      const [stage] = rollout.stages;
      if (stage !== undefined) stage.grow = { start: 1, factor: 2 };
      rollout.onFailure.maxFailures = { count: 5 };
    });
    const sizes: number[] = [];
    for (let number = 1; number <= 4; number++) {
      bring(self, number, "merged");
      for (const [i, { cluster }] of batch(self.run, number).targets.entries())
        judge(self, cluster.slice(4), number === 3 && i === 0 ? "failing" : "live", number === 3 && i === 0 ? "health" : "all");
      round(self);
      round(self);
      sizes.push(batch(self.run, number).targets.length);
    }
    expect(sizes).toEqual([1, 2, 4, 1]);
  });
});

describe("jitter", () => {
  test("holds the merge for a time that is the same whenever it is asked, and never longer than it says", () => {
    const self = bench(1, [{}], (rollout) => {
      const [stage] = rollout.stages;
      if (stage !== undefined) stage.jitterMs = 10 * MINUTE;
    });
    bring(self, 1, "merging");
    const one = batch(self.run, 1);
    const until = jitterUntil(self.run, one);
    expect(until).toBe(jitterUntil(structuredClone(self.run), one));
    expect((until ?? 0) - Date.parse(one.pull?.openedAt ?? "")).toBeLessThan(10 * MINUTE);
    expect(one).toMatchObject({ phase: "Open", why: expect.toHaveCode("JITTER"), next: { eta: new Date(until ?? 0).toISOString() } });
    bring(self, 1, "open");
    self.now = (until ?? 0) - SECOND;
    bring(self, 1, "merging");
    expect(batch(self.run, 1).phase).toBe("Merging");
  });

  test("fractions lie between 0 and 1 and are spread", () => {
    const all = names(1000).map(seededFraction);
    expect(Math.min(...all)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...all)).toBeLessThan(1);
    expect(all.filter((one) => one < 0.5).length).toBeGreaterThan(400);
  });
});
