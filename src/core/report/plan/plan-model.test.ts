import { describe, expect, test } from "vitest";
import { plannedTarget, samplePlan, sampleRollout } from "../../../../test/support/sample-run.ts";
import type { Plan } from "../../plan/plan-types.ts";
import { engineReason } from "../../reasons/engine.ts";
import type { Problem, Warning } from "../../reasons/problems/problem.ts";
import { cell, code, withoutMarkdown } from "../escape.ts";
import { plannedSchema } from "../model/schema/plan.ts";
import { expectedDuration } from "./duration.ts";
import { plannedRelease, planRoom, refusedPlan, unplannedOf } from "./plan-model.ts";

const rollout = sampleRollout();

test("a plan is the same as its comment has it: stages, batches, clusters, versions, gates and times", () => {
  const expected = expectedDuration(rollout, samplePlan(), { stages: new Map([["canary", [600_000, 900_000]]]), totals: [3_600_000] });
  const planned = plannedRelease(rollout, samplePlan(), "v1.4.1", { extras: { expected, rules: { now: 0 } }, room: planRoom() });
  expect(plannedSchema.parse(planned)).toEqual(planned);
  expect(planned).toMatchObject({
    state: "Planned",
    says: expect.stringContaining(
      "Merging this PR starts a run: 6 clusters in 3 batches over 2 stages, 1 put off to a later batch, one pull request a batch.",
    ),
    change: { from: "v1.4.1", to: "v1.4.2" },
    counts: { clusters: 6, batches: 3, stages: 2 },
    expected: { total: { p50Ms: 3_600_000, runs: 1 } },
    uncovered: 1,
  });
  expect(planned.stages.map(({ name, gates, took, requeued }) => ({ name, gates, p90: took?.p90Ms, requeued }))).toEqual([
    { name: "canary", gates: ["health", "bake 10m"], p90: 900_000, requeued: [] },
    { name: "everywhere else", gates: ["health"], p90: undefined, requeued: ["us-4"] },
  ]);
  expect(planned.stages[0]?.batches).toEqual([
    { clusters: ["eu-1", "eu-2"], size: 2, targets: 2, changes: [{ from: "v1.4.1", to: "v1.4.2" }] },
  ]);
});

test("what stands against merging it is said without marks", () => {
  const against = [`**Refused**: ${code("a|b`c")} of ${cell("*eu* [1] @sre")}, see [the docs](https://x.example)`];
  const planned = plannedRelease(rollout, samplePlan(), undefined, { extras: { against }, room: planRoom() });
  expect([planned.state, planned.against]).toEqual(["Against", ["Refused: a|b`c of *eu* [1] @sre, see the docs"]]);
  expect(withoutMarkdown(code("`` ` ``"))).toBe("`` ` ``");
});

test("a run that would stand still is not called ready to merge, and what to do first is said", () => {
  const absent = { code: "REVISION_UNRESOLVED", kind: "Absent", revision: "v1.4.2", repo: "github.com/acme/app" } as const;
  const plannedWith = (warning: Warning) =>
    plannedRelease(rollout, samplePlan(), undefined, { extras: { warnings: [warning] }, room: planRoom() });
  const { state, before } = plannedWith(absent);
  expect([state, before]).toEqual([
    "Warned",
    [expect.stringMatching(/has no tag or branch v1\.4\.2 yet.*: push the tag before this is merged$/)],
  ]);
  // From the first cluster on it is known; and of what is only worth a look it is ready.
  expect(plannedWith({ ...absent, kind: "Hidden" }).state).toBe("Planned");
  expect(plannedWith({ code: "COVERAGE", clusters: ["eu-1"], of: 3 }).state).toBe("Planned");
});

test("the head that stands for a merge commit to come is never taken for a version", () => {
  const head = "ab12".repeat(10);
  const release = { values: { version: head }, attempt: 1 };
  const planned = plannedRelease(rollout, { ...samplePlan(), release }, "v1", { extras: { toCome: head }, room: planRoom() });
  expect([planned.release, planned.change]).toEqual(["merge commit", { from: "v1", to: "merge commit" }]);
});

describe("whatever a pull request holds, what is kept of it is bounded", () => {
  const long = "\u202e<img>".repeat(2_000);

  function huge(clusters: number): Plan {
    const targets = Array.from({ length: clusters }, (_, at) => plannedTarget(`${long}${at}`));
    const batches = targets.map((one) => ({ clusters: [one.cluster], targets: [one] }));
    const [first] = samplePlan().stages;
    if (first === undefined) throw new Error("the sample has a stage");
    const stage = {
      ...first,
      name: long,
      clusters: targets.map(({ cluster }) => cluster),
      requeued: targets.map(({ cluster }) => cluster),
    };
    return { ...samplePlan(), stages: Array.from({ length: 200 }, () => ({ ...stage, batches })) };
  }

  test("a plan, and the next one of the same pull request", () => {
    const room = planRoom();
    const extras = { overlap: long, against: Array.from({ length: 500 }, () => long) };
    const [first, second] = [huge(50), huge(50)].map((plan) => plannedRelease(rollout, plan, long, { extras, room }));
    const named = [first, second].map((planned) =>
      planned?.stages.reduce((sum, { batches, requeued }) => sum + batches.length + requeued.length, 0),
    );
    expect(first?.counts).toEqual({ clusters: 20_000, batches: 10_000, stages: 200 });
    expect([named[0], named[1]]).toEqual([2_000, 0]);
    expect(room).toEqual({ named: 0, batches: 0 });
    expect(JSON.stringify([first, second]).length).toBeLessThan(1_000_000);
  });

  test("problems, and reasons why it is not planned", () => {
    const problem = { code: "YAML", said: long, severity: "error", file: long, line: 1, column: 1, path: [] } as unknown as Problem;
    const refused = refusedPlan(Array.from({ length: 500 }, () => problem));
    expect(refused).toMatchObject({ state: "Refused", says: "No run would start, for 500 problems" });
    expect(JSON.stringify(refused).length).toBeLessThan(200_000);
    expect(unplannedOf("NotPlanned", engineReason("PLAN_OF_FORK"))).toMatchObject({ state: "NotPlanned", stages: [] });
  });
});
