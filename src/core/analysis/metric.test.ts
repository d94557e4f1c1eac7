import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AnalysisPhase,
  countMeasurement,
  dueAt,
  effectiveCount,
  isComplete,
  type MetricResult,
  type MetricRules,
  newResult,
  runPhase,
  stopMetric,
} from "./metric.ts";

const T0 = "2026-11-21T10:00:00.000Z";
const RULES: MetricRules = {
  name: "m",
  failureLimit: 0,
  inconclusiveLimit: 0,
  consecutiveErrorLimit: 4,
  consecutiveSuccessLimit: 0,
  dryRun: false,
  retention: 10,
};

const LETTERS: Record<string, AnalysisPhase> = { s: "Successful", f: "Failed", i: "Inconclusive", e: "Error" };

/** `ssf`: a success, a success, a failure. */
function outcomeOf(rules: MetricRules, outcomes: string): MetricResult {
  let result = newResult(rules);
  for (const letter of outcomes) {
    if (isComplete(result.phase)) break;
    result = countMeasurement(rules, result, { phase: LETTERS[letter] ?? "Error", value: "", startedAt: T0, finishedAt: T0 });
  }
  return result;
}

describe("a metric", () => {
  test.each<[string, Partial<MetricRules>, string, AnalysisPhase]>([
    ["measures once without count and interval", {}, "s", "Successful"],
    ["fails at the first failure by default", { count: 5 }, "sf", "Failed"],
    ["tolerates failures up to its limit", { count: 5, failureLimit: 2 }, "sfsfs", "Successful"],
    ["fails past its limit", { count: 9, failureLimit: 2 }, "sfsff", "Failed"],
    ["runs on until it is stopped, with an interval and no count", { intervalMs: 5000 }, "sssssss", "Running"],
    ["is inconclusive past that limit", { count: 5, inconclusiveLimit: 1 }, "sii", "Inconclusive"],
    ["errs only after too many errors in a row", { count: 5 }, "eeee", "Running"],
    ["errs after five errors in a row", { count: 5 }, "eeeee", "Error"],
    ["counts errors anew after a measurement", { count: 5 }, "eeeeseeees", "Running"],
    ["does not count errors as measurements", { count: 2 }, "eses", "Successful"],
    ["is enough with so many successes in a row", { intervalMs: 1, failureLimit: -1, consecutiveSuccessLimit: 3 }, "ssfsss", "Successful"],
    ["has no failure limit at -1", { intervalMs: 1, failureLimit: -1, consecutiveSuccessLimit: 3 }, "fffffff", "Running"],
    [
      "fails where the count is used up without the successes in a row, and no failure was limited",
      { count: 4, failureLimit: -1, consecutiveSuccessLimit: 3 },
      "ssfs",
      "Failed",
    ],
    [
      "is inconclusive where the count is used up without the successes in a row, and no more failed than may",
      { count: 4, failureLimit: 1, consecutiveSuccessLimit: 3 },
      "ssfs",
      "Inconclusive",
    ],
    ["an error ends the successes in a row, too", { intervalMs: 1, consecutiveSuccessLimit: 3 }, "ssess", "Running"],
    ["an inconclusive one, too", { intervalMs: 1, inconclusiveLimit: 9, consecutiveSuccessLimit: 3 }, "ssiss", "Running"],
    ["fails first where both limits are set", { count: 9, failureLimit: 1, consecutiveSuccessLimit: 4 }, "fsf", "Failed"],
  ])("%s", (_name, rules, outcomes, expected) => {
    expect(outcomeOf({ ...RULES, ...rules }, outcomes).phase).toBe(expected);
  });

  test("is first due after its initial delay, then an interval after the last one ended, and 10 s after an error, whatever the interval", () => {
    const rules = { ...RULES, initialDelayMs: 60_000, intervalMs: 5000, count: 3 };
    const start = Date.parse(T0);
    expect(dueAt(rules, newResult(rules), T0)).toBe(start + 60_000);
    expect(dueAt(rules, outcomeOf(rules, "s"), T0)).toBe(start + 5000);
    expect(dueAt(rules, outcomeOf(rules, "e"), T0)).toBe(start + 10_000);
    expect(dueAt(RULES, outcomeOf(RULES, "e"), T0)).toBe(start + 10_000);
    expect(dueAt(RULES, outcomeOf(RULES, "s"), T0)).toBeUndefined();
    expect(effectiveCount({ ...RULES, intervalMs: 1 })).toBeUndefined();
  });

  test("keeps as many measurements as it retains, and counts them all", () => {
    const result = outcomeOf({ ...RULES, count: 50, retention: 3 }, "s".repeat(50));
    expect(result.measurements).toHaveLength(3);
    expect(result.successful).toBe(50);
  });

  test("never turns good again once it has failed, and its counts add up, whatever is measured", () => {
    const rules = fc.record({
      ...Object.fromEntries(Object.entries(RULES).map(([key, value]) => [key, fc.constant(value)])),
      count: fc.integer({ min: 1, max: 8 }),
      failureLimit: fc.integer({ min: -1, max: 3 }),
      consecutiveSuccessLimit: fc.integer({ min: 0, max: 3 }),
    }) as fc.Arbitrary<MetricRules>;
    fc.assert(
      fc.property(rules, fc.array(fc.constantFrom("s", "f", "i", "e"), { maxLength: 30 }), (some, outcomes) => {
        const result = outcomeOf(some, outcomes.join(""));
        expect(result.count).toBe(result.successful + result.failed + result.inconclusive);
        if (result.phase === "Successful" && some.failureLimit >= 0) expect(result.failed).toBeLessThanOrEqual(some.failureLimit);
        if (result.phase === "Failed") expect(result.failed).toBeGreaterThan(some.failureLimit);
      }),
    );
  });
});

describe("a run of several metrics", () => {
  const running = newResult(RULES);
  const good = outcomeOf(RULES, "s");
  const bad = outcomeOf(RULES, "f");

  test("is over as soon as one has failed, and the worst counts", () => {
    expect(runPhase([running, good])).toBe("Running");
    expect(runPhase([running, bad])).toBe("Failed");
    expect(runPhase([good, outcomeOf(RULES, "i")])).toBe("Inconclusive");
    expect(runPhase([outcomeOf(RULES, "i"), bad])).toBe("Failed");
  });

  test("a dry-run metric never counts", () => {
    expect(runPhase([good, { ...bad, dryRun: true }])).toBe("Successful");
    expect(runPhase([running, { ...bad, dryRun: true }])).toBe("Running");
  });

  test("what is stopped undecided is a success, and what has failed stays failed", () => {
    expect(stopMetric(running).phase).toBe("Successful");
    expect(stopMetric(bad).phase).toBe("Failed");
  });
});
