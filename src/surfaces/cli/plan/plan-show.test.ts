import { expect, test } from "vitest";
import { stepBench } from "../../../core/run/testing/step-bench.ts";
import { toText } from "./plan-show.ts";

test("the plan of a stage with steps has a line for each weight, and what each cluster has at it", () => {
  const { run } = stepBench(3, { replicas: 10 });
  const pins = [{ kind: "branch" as const, branch: "x" }];
  const spec = { ...run.spec, pins, weightPins: [{ file: "f", path: "p", value: "", replicas: 10 }] };
  const text = toText(spec, run.plan, null, [], { colour: false });
  expect(text).toContain("step 1 of 3  weight 20   then pause until /promote\n");
  expect(text).toContain("step 3 of 3  weight 100\n");
  expect(text).toContain("10 replicas      at 20  at 60  at 100\n");
  expect(text).toMatch(/batch 1 +c1 +1 +3 +5\n +batch 1 +c2 +1 +3 +5\n +batch 2 +c3 +2 +6 +10\n/);
});

test("a plan without steps says nothing of them", () => {
  const { run } = stepBench(2, { change: ({ stages }) => delete stages[0]?.steps });
  expect(toText(run.spec, run.plan, null, [], { colour: false })).not.toContain("weight");
});

test("as many are at once as the largest batch has, however many maxUnavailable lets", () => {
  const { run } = stepBench(3, {});
  const stages = run.plan.stages.map((stage) => ({ ...stage, maxUnavailable: 9 }));
  expect(toText(run.spec, { ...run.plan, stages }, null, [], { colour: false })).toContain("3 clusters · 2 at once");
});

test("a plan says which windows and limits it goes by, for whom they are, and how they stand now", () => {
  const { run } = stepBench(2, {});
  const window = { kind: "allow" as const, schedule: "0 8 * * 1-5", durationMs: 9 * 3_600_000, timeZone: "Europe/Rome" };
  const windows = [{ ...window, stages: ["prod"] }];
  const limits = { selected: [{ selector: { matchLabels: { tier: "gold" }, matchExpressions: [] }, clusters: 2 }] };
  const now = Date.parse("2026-11-28T12:00:00Z");
  const text = toText({ ...run.spec, windows, limits }, run.plan, null, [], { colour: false, rules: { now, limits: { clusters: 7 } } });
  expect(text).toContain(
    "rule  Windows in stage prod: allow 0 8 * * 1-5 for 9h (Europe/Rome); closed now, next open 2026-11-30 07:00:00 UTC.\n",
  );
  expect(text).toContain("rule  In flight at once over all rollouts of the repo: at most 7 clusters.\n");
  expect(text).toContain("rule  In flight at once of this rollout: at most 2 clusters where tier=gold.\n");
});
