import { describe, expect, test } from "vitest";
import { freshRun } from "../../../adapters/git/testing/runs.ts";
import { said } from "../../reasons/run.ts";
import type { RunAnalysis } from "../../run/state/analysis-types.ts";
import type { HookCall } from "../../run/state/hooks-types.ts";
import type { Run } from "../../run/state/run.ts";
import { modelOf } from "../model/run-model.ts";
import { renderTree } from "../tree/tree.ts";
import { measuredOfRun } from "./analysis-markdown.ts";
import { runComment } from "./run-comment.ts";

const AT = "2026-11-21T04:10:00.000Z";
const NOW = Date.parse("2026-11-21T04:20:00.000Z");

function analysis(change: Partial<RunAnalysis>): RunAnalysis {
  const metric = { name: "webcheck", phase: "Failed", count: 5, successful: 3, failed: 2, inconclusive: 0, error: 1, value: "nok" };
  return {
    ...{ id: "payments/42/1/0/AfterStage/1", stage: 0, when: "AfterStage" as const, attempt: 1, args: [] },
    ...{ phase: "Failed" as const, why: said("webcheck: failed twice | @team"), startedAt: AT, endedAt: AT, metrics: [metric], ...change },
  };
}

const held: HookCall = {
  ...{ id: "payments/42/1/before/1/1", stage: 0, when: "before" as const, index: 0, attempt: 1, tries: 3, errors: 0 },
  ...{ phase: "Held" as const, why: said("CHG-7 waits"), since: AT, nextAt: AT },
};

function run(change: Partial<Run>): Run {
  const fresh = freshRun(2, 1, { phase: "Paused", since: AT });
  const stage = {
    ...{ name: "all", selector: { matchLabels: {}, matchExpressions: [] }, maxClusters: { percent: 100 }, maxUnavailable: { count: 1 } },
    ...{ batching: "Fixed" as const, order: { by: "name" as const }, bakeMs: 0, progressDeadlineMs: 1 },
    analysis: { templates: [{ templateName: "webcheck", clusterScope: false }], args: [], when: ["AfterStage" as const] },
    hooks: { before: [{ url: "https://hooks.example.com/x?token=t", timeoutMs: 1 }], after: [], onFailure: [] },
  };
  return { ...fresh, spec: { ...fresh.spec, stages: [stage] }, ...change };
}

describe("what was measured and asked", () => {
  const both = run({ analyses: [analysis({})], hooks: [held] });

  test("is a table in the run's comment, what is not well first, in which nothing from outside is more than text", () => {
    const text = measuredOfRun(modelOf(both, NOW));
    expect(text).toContain("webcheck: 3 ok, 2 failed, 1 not measured, last nok");
    expect(text.indexOf("Failed")).toBeLessThan(text.indexOf("On hold"));
    expect(text).toContain("failed twice \\| @\u200bteam");
    expect(text).not.toContain("token");
    expect(runComment(both, NOW)).toContain(text);
  });

  test.each([
    [{ successCondition: "result[0] <= 0.01" }, "allowed is at most 0.01"],
    [{ failureCondition: "asFloat(result) > 0.05" }, "allowed is at most 0.05"],
    [{ failureCondition: "result >= 3" }, "allowed is less than 3"],
    [{ successCondition: 'result.status == "ok"' }, 'has to be result.status == "ok"'],
    [{ failureCondition: "len(result) == 0" }, "must not be len(result) == 0"],
  ])("what was measured stands against its limit on every surface: %o", (conditions, limit) => {
    const metric = { name: "error-rate", phase: "Failed", count: 2, successful: 0, failed: 2, inconclusive: 0, error: 0, value: "0.041" };
    const paused = { kind: "Failure" as const, by: "", reason: said("x"), at: AT, ask: said("y") };
    const failed = run({ paused, analyses: [analysis({ metrics: [{ ...metric, ...conditions }] })] });
    expect(modelOf(failed, NOW).cause?.measured).toEqual([{ metric: "error-rate", value: "0.041", limit }]);
    for (const text of [runComment(failed, NOW), renderTree(failed, NOW, { color: false, width: 400 })])
      expect(text.replaceAll("\\", "").replaceAll("&quot;", '"')).toContain(`error-rate, measured 0.041, ${limit}`);
  });

  test("of a metric that could not be measured it says why, not what it had to be", () => {
    const counts = { count: 5, successful: 0, failed: 0, inconclusive: 0, error: 5 };
    const metric = { name: "error-rate", phase: "Error" as const, ...counts, message: "status 503", successCondition: "result[0] <= 0.01" };
    const failed = run({ analyses: [analysis({ metrics: [metric] })] });
    expect(modelOf(failed, NOW).cause?.measured).toEqual([{ metric: "error-rate", value: "", limit: "status 503" }]);
  });

  test("is folded where all of it is over and well, and not there at all without any", () => {
    expect(measuredOfRun(modelOf(run({ analyses: [analysis({ phase: "Successful" })] }), NOW))).toMatch(/^<details>/);
    expect(measuredOfRun(modelOf(run({}), NOW))).toBe("");
  });

  test("is in the tree and on the page, with who accepted it", () => {
    const accepted = run({ analyses: [analysis({ accepted: { by: "bob", at: AT } })], hooks: [held] });
    const tree = renderTree(accepted, NOW, { color: false, width: 200 });
    expect(tree).toMatch(/◇ analysis after the stage: webcheck .*Accepted .*accepted by @bob/);
    expect(tree).toMatch(/◇ hook before the stage \(hooks\.example\.com\) .*On hold .*asked 3 times · CHG-7 waits/);
    const checks = modelOf(accepted, NOW).children[0]?.children.filter(({ kind }) => kind === "check");
    expect(checks).toMatchObject([{ state: "Accepted", tone: "warn" }, { state: "Held" }]);
  });
});
