import { expect, test } from "vitest";
import { withinLimits } from "../run/batches/choose.ts";
import type { Draft } from "../run/state/draft.ts";
import { bench, STAGE } from "../run/testing/bench.ts";
import { cutBatches } from "./cut-batches.ts";
import { limiter } from "./limits.ts";
import type { Cluster } from "./plan-types.ts";
import type { Unit } from "./units.ts";

const MANY = 2000;
const CLUSTERS: Cluster[] = Array.from({ length: MANY }, (_, index) => ({
  key: `hub/c${index}`,
  name: `c${index}`,
  controlPlane: "hub",
  server: `https://c${index}.invalid`,
  labels: { region: index % 2 === 0 ? "eu" : "us" },
  registered: true,
}));

test("units are cut to the limits with a look at each, not at all before it", () => {
  let looks = 0;
  const units = CLUSTERS.map((cluster): Unit => {
    const members = [{ cluster, targets: [] }];
    return Object.defineProperty({ members }, "members", {
      get: () => {
        looks++;
        return members;
      },
    }) as unknown as Unit;
  });
  const [stage] = bench(1, [STAGE]).run.spec.stages;
  if (stage === undefined) throw new Error("no stage");
  const begin = limiter({ repo: { clusters: MANY, targets: MANY, label: { key: "region", percent: 50 } } }, CLUSTERS);
  // Half of the thousand of each region: 500 and 500 to a batch.
  expect(cutBatches(units, () => MANY, stage, begin).map((batch) => batch.length)).toEqual([1000, 1000]);
  expect(looks).toBeLessThan(MANY * 10);
});

test("clusters of a run are cut to the limits with a look at each", () => {
  const { run, world, now } = bench(1);
  let looks = 0;
  const keys = new Proxy(
    CLUSTERS.map(({ key }) => key),
    {
      get(target, name, receiver) {
        looks++;
        return Reflect.get(target, name, receiver);
      },
    },
  );
  const draft = { run, now, world: { ...world, limits: { clusters: MANY - 1 } } } as unknown as Draft;
  expect(withinLimits(draft, 0, keys)).toHaveLength(MANY - 1);
  expect(looks).toBeLessThan(MANY * 10);
});

test("what is counted piece by piece is what is counted at once", () => {
  const begin = limiter({ repo: { clusters: 3, targets: 4, label: { key: "region", percent: 1 } } }, CLUSTERS.slice(0, 4));
  if (begin === undefined) throw new Error("no limits");
  const tally = begin();
  expect(tally.add([{ cluster: "hub/c0", targets: 1 }])).toBeUndefined();
  expect(tally.add([{ cluster: "hub/c1", targets: 1 }])).toBeUndefined();
  expect(tally.add([{ cluster: "hub/c0", targets: 1 }])).toBeUndefined();
  expect(tally.add([{ cluster: "hub/c2", targets: 1 }])).toEqual({
    setting: "limits.label",
    have: 2,
    most: 1,
    label: { key: "region", value: "eu", percent: 1 },
  });
  const over = tally.add([{ cluster: "hub/c0", targets: 1 }]);
  expect(over).toMatchObject({ setting: "limits.targets", have: 5, most: 4 });
  const all = ["c0", "c1", "c0", "c2", "c0"].map((name) => ({ cluster: `hub/${name}`, targets: 1 }));
  expect(begin().add(all)).toEqual(over);
});
