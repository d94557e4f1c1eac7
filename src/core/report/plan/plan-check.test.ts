import { describe, expect, test } from "vitest";
import { samplePlan, sampleRun } from "../../../../test/support/sample-run.ts";
import type { Problem } from "../../reasons/problems/problem.ts";
import { notARollout, ownBatch, type PlanFindings, planCheck } from "./plan-check.ts";
import { overlap } from "./plan-overlap.ts";
import { unstagedLine } from "./plan-unstaged.ts";

const NOTHING: PlanFindings = { plans: [], problems: [], against: [], fails: false, notes: [] };

function problem(over: Partial<Problem> = {}): Problem {
  const place = { file: "rollouts/a.yaml", line: 3, column: 5, path: [] };
  return { code: "UNKNOWN_KEY", severity: "error", message: 'unknown key "stagess"', hint: "did you mean stages?", ...place, ...over };
}

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    application: `app-${index}`,
    cluster: `hub/c-${index}`,
    why: { code: "UNSTAGED_DELETED" },
  }));

describe("what stagecoach/plan says", () => {
  test("of a fork's pull request nothing that would let it be merged, before somebody asks", () => {
    const words = planCheck({ ...NOTHING, waiting: { code: "PLAN_OF_FORK" } });
    expect([words.status, words.conclusion]).toEqual(["in_progress", undefined]);
    expect(words.title).toContain("comes from a fork");
    expect(words.title).toContain("`/plan`");
  });

  test("a plan in one line, its stages in a table", () => {
    const words = planCheck({
      ...NOTHING,
      plans: [{ plan: samplePlan(), mode: "Run", overlap: overlap({ onNewRelease: "Queue" }, sampleRun()).sentence }],
    });
    expect([words.status, words.conclusion, words.title]).toEqual([
      "completed",
      "success",
      "payments: 6 clusters in 3 batches over 2 stages, 1 put off to a later batch",
    ]);
    expect(words.summary).toContain("| 1 | canary | 2 | 1 |");
    expect(words.summary).toContain("this release waits until it has ended");
    expect(words.annotations).toEqual([]);
  });

  test("errors fail it, at their lines; a warning does not", () => {
    const failed = planCheck({ ...NOTHING, problems: [problem(), problem({ severity: "warning", code: "COVERAGE", line: 0 })] });
    expect([failed.conclusion, failed.title]).toEqual(["failure", "1 error: no run would start"]);
    expect(failed.annotations).toMatchObject([
      { path: "rollouts/a.yaml", line: 3, level: "failure", title: "UNKNOWN_KEY", message: 'unknown key "stagess"\ndid you mean stages?' },
      { line: 1, level: "warning" },
    ]);
    expect(planCheck({ ...NOTHING, problems: [problem({ severity: "warning" })] }).conclusion).toBe("success");
  });

  test("what passes the stages by is named in the title, unless it is allowed or meant", () => {
    const refused = planCheck({ ...NOTHING, against: [unstagedLine("payments", many(2), { held: "refused" })], fails: true });
    expect([refused.conclusion, refused.title]).toEqual([
      "failure",
      expect.stringMatching(/^UNSTAGED Merging this PR changes c-0, c-1 at once/),
    ]);
    const meant = planCheck({ ...NOTHING, against: [unstagedLine("payments", many(2), { held: "bypassed" })] });
    expect([meant.conclusion, meant.summary]).toEqual(["success", expect.stringContaining("labelled `stagecoach/bypass`")]);
    expect(unstagedLine("payments", many(2), { held: "allowed" })).toContain("`allowUnstaged: true`.");
  });

  test("what cannot be seen now is neither green nor red, but an error is red all the same", () => {
    expect(planCheck({ ...NOTHING, waiting: { code: "PLANE_UNSEEN_NOW", plane: "hub", because: "x" } })).toMatchObject({
      status: "in_progress",
      title: "waiting: Stagecoach cannot read control plane hub: x",
    });
    expect(planCheck({ ...NOTHING, waiting: { code: "ARGOCD_UNSEEN" }, problems: [problem()] }).conclusion).toBe("failure");
  });

  test("a PR that concerns nothing, and a batch's own, are green and say so", () => {
    expect([notARollout(), ownBatch()].map(({ conclusion, title }) => [conclusion, title])).toEqual([
      ["success", "not a rollout PR"],
      ["success", "a batch of a run"],
    ]);
  });

  test("the largest of everything stays within GitHub's limits, whole", () => {
    const stage = samplePlan().stages[0];
    if (stage === undefined) throw new Error("the sample has stages");
    const plan = {
      ...samplePlan(),
      rollout: "p".repeat(63),
      stages: Array.from({ length: 300 }, () => ({ ...stage, name: "|".repeat(500) })),
      warnings: Array.from({ length: 100 }, () => ({ code: "COVERAGE" as const, clusters: ["|".repeat(9000)], of: 2 })),
    };
    const problems = Array.from({ length: 900 }, () =>
      problem({ message: "|".repeat(9000), hint: "`".repeat(9000), file: "x".repeat(4000) }),
    );
    const words = planCheck({
      plans: Array.from({ length: 30 }, () => ({ plan, mode: "Run", overlap: overlap({ onNewRelease: "Queue" }, sampleRun()).sentence })),
      problems,
      against: Array.from({ length: 30 }, () => unstagedLine("payments", many(9000), { held: "refused" })),
      fails: true,
      notes: Array.from({ length: 90 }, () => ({ code: "NOTE_NO_RELEASE", rollout: "n".repeat(100) })),
    });
    expect(words.summary.length).toBeLessThan(65_535);
    expect(words.title.length).toBeLessThanOrEqual(255);
    expect(words.annotations).toHaveLength(100);
    for (const line of words.summary.split("\n")) if (line.startsWith("|")) expect(line.endsWith("|")).toBe(true);
  });
});
