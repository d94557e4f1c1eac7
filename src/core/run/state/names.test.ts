import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseBranch, printBranch } from "./branch-name.ts";

const rollout = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
const count = fc.integer({ min: 1, max: 999_999 });

describe("branch names of batches", () => {
  it("prints as the specification spells it", () => {
    expect(printBranch({ rollout: "payments", run: 42, stage: 2, batch: 3, attempt: 1 })).toBe("stagecoach-run/payments/42/2-3-1");
    expect(printBranch({ rollout: "payments", run: 42, stage: 2, batch: 3, attempt: 1, step: 2 })).toBe(
      "stagecoach-run/payments/42/2-3-1-step2",
    );
  });

  it("parses every name it prints", () => {
    const required = { rollout, run: count, stage: count, batch: count, attempt: count };
    const branch = fc.record({ ...required, step: count }, { requiredKeys: ["rollout", "run", "stage", "batch", "attempt"] });
    fc.assert(fc.property(branch, (one) => void expect(parseBranch(printBranch(one))).toEqual(one)));
  });

  it("prints every name it parses just as it was", () => {
    const near = fc.stringMatching(/^stagecoach-run\/[a-z0-9-]{1,5}\/[0-9]{1,3}\/[0-9]{1,2}-[0-9]{1,2}-[0-9]{1,2}(-step[0-9]{1,2})?$/);
    fc.assert(
      fc.property(near, (name) => {
        const parsed = parseBranch(name);
        if (parsed !== undefined) expect(printBranch(parsed)).toBe(name);
      }),
    );
  });

  it.each([
    "main",
    "stagecoach/journal",
    "stagecoach-run/payments/42",
    "stagecoach-run/payments/42/2-3",
    "stagecoach-run/payments/042/2-3-1",
    "stagecoach-run/payments/42/0-3-1",
    "stagecoach-run/pay/ments/42/2-3-1",
    "stagecoach-run/payments/42/2-3-1/x",
    "x/stagecoach-run/payments/42/2-3-1",
  ])("does not take %s for one of ours", (name) => {
    expect(parseBranch(name)).toBeUndefined();
  });
});
