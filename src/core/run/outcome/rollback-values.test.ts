import { describe, expect, test } from "vitest";
import { editsOfSet, rolloutOfSet, SET } from "../../../../test/support/sample-set.ts";
import type { PlannedTarget } from "../../plan/plan-types.ts";
import { missingAt, versionAt } from "../gates/depends.ts";
import type { Run } from "../state/run.ts";
import { bench, bring } from "../testing/bench.ts";
import { planRollback } from "./rollback.ts";

/** Two clusters, of which the first has the set; the last good release had another chart, too. */
function moved(values: Record<string, string> = SET): Run {
  const self = bench(2);
  const { pins } = rolloutOfSet();
  const withSet = (target: PlannedTarget) => ({ ...target, edits: editsOfSet(target.cluster.slice(4)) });
  const stages = self.run.plan.stages.map((stage) => ({
    ...stage,
    batches: stage.batches.map((batch) => ({ ...batch, targets: batch.targets.map(withSet) })),
  }));
  const release = { ...self.run.release, values };
  bring(self, 1, "confirmed");
  const batches = self.run.batches.map((batch) => ({
    ...batch,
    targets: batch.targets.map((one) => ({ ...one, edits: withSet(one).edits })),
  }));
  const goodRelease = { image: "v1.4.1", sidecar: "1.1.0", chart: "7.0.0" };
  return { ...self.run, spec: { ...self.run.spec, pins }, release, goodRelease, batches, plan: { ...self.run.plan, release, stages } };
}

/** What the rollback writes, by path, and what the release is then. */
function backTo(run: Run, to?: string) {
  const back = planRollback(run, to);
  if ("error" in back) return back.error;
  const edits = back.plan.stages.flatMap(({ batches }) => batches.flatMap(({ targets }) => targets.flatMap((target) => target.edits)));
  return [Object.fromEntries(edits.map((edit) => [edit.path, edit.to])), back.plan.release.values];
}

describe("the way back of a release of several values", () => {
  const good = { image: "v1.4.1", sidecar: "1.1.0", chart: "7.0.0" };

  test("each value goes back to what was good", () => {
    expect(backTo(moved())).toEqual([good, good]);
  });

  test("--to names values; the others go back to what was good", () => {
    const wanted = { ...good, image: "v1.3.0" };
    expect(backTo(moved(), "image=v1.3.0")).toEqual([wanted, wanted]);
    expect(backTo(moved(), "image=v1.3.0,chart=6.0.0")).toEqual([
      { ...wanted, chart: "6.0.0" },
      { ...wanted, chart: "6.0.0" },
    ]);
  });

  test.each([
    ["v1.3.0", undefined],
    ["", undefined],
    ["imag=v1.3.0", "image"],
    ["image=", "image"],
    ["constructor=v1", undefined],
  ])("--to %s is refused, with the names there are", (to, near) => {
    const refused = { code: "ROLLBACK_VALUE", given: to, known: ["chart", "image", "sidecar"] };
    expect(backTo(moved(), to)).toEqual(near === undefined ? refused : { ...refused, near });
  });

  test("a pin that is made of more than one value is never written by --to", () => {
    const run = moved();
    const [first, ...others] = run.spec.pins;
    if (first?.kind !== "value") throw new Error("it is");
    const mixed = { ...first, value: "{{ release.values.image }}-{{ release.values.chart }}" };
    const back = planRollback({ ...run, spec: { ...run.spec, pins: [mixed, ...others] } }, "image=v1.3.0");
    expect(back).toMatchObject({ error: { code: "ROLLBACK_OF_NOTHING", moved: true } });
  });
});

describe("dependsOn a release of several values", () => {
  const [there, later] = ["hub/c1", "hub/c2"];
  const least = (atLeast: string) => ({ rollout: "base", atLeast });

  test("what is confirmed at a cluster, and what stands where it has not come to, is told for each value", () => {
    const run = moved();
    expect([versionAt(run, there, "image"), versionAt(run, there, "sidecar")]).toEqual(["v1.4.2", "1.0.9"]);
    expect([versionAt(run, later, "image"), versionAt(run, later, "sidecar")]).toEqual(["v1.4.1", "1.1.0"]);
  });

  test("SameVersion compares the values that both have", () => {
    const same = least("SameVersion");
    expect(missingAt(moved(), same, moved({ image: "v1.4.2", base: "3" }), there)).toBeUndefined();
    expect(missingAt(moved(), same, moved({ image: "v1.4.3", base: "3" }), there)).toMatchObject({
      code: "VERSION_OTHER",
      wanted: "v1.4.3",
    });
    expect(missingAt(moved(), same, moved({ image: "v1.4.2", chart: "7.0.0" }), later)).toMatchObject({ there: "v1.4.1" });
    expect(missingAt(moved(), same, moved({ base: "3", other: "4" }), there)).toMatchObject({ code: "VERSION_INCOMPARABLE" });
  });

  test("atLeast compares the value called version, and none where there is none", () => {
    const named = (run: Run): Run => ({
      ...run,
      spec: {
        ...run.spec,
        pins: run.spec.pins.map((pin) => ("value" in pin ? { ...pin, value: pin.value.replace("image", "version") } : pin)),
      },
      release: { ...run.release, values: { version: "v1.4.2", sidecar: "1.0.9", chart: "7.0.0" } },
    });
    expect(missingAt(named(moved()), least("1.4.2"), moved(), there)).toBeUndefined();
    expect(missingAt(named(moved()), least("1.5.0"), moved(), there)).toMatchObject({ code: "VERSION_OLDER", there: "v1.4.2" });
    expect(missingAt(moved(), least("1.0.0"), moved(), there)).toMatchObject({ code: "VERSION_INCOMPARABLE" });
  });
});
