import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseBranch, printBranch } from "./branch-name.ts";
import { printTitle } from "./pull-title.ts";

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

describe("titles of batch pull requests", () => {
  it("names a planned batch by its number and the catch-up batch as such", () => {
    const title = { rollout: "payments", release: "v1.4.2", stage: "rest of the world" };
    expect(printTitle({ ...title, batch: { number: 2, of: 3 } })).toBe("payments v1.4.2: batch 2 of 3 of rest of the world");
    expect(printTitle(title)).toBe("payments v1.4.2: catch-up batch of rest of the world");
    expect(printTitle({ ...title, batch: { number: 1, of: 3 }, step: { number: 2, of: 3, weight: 60 } })).toBe(
      "payments v1.4.2: step 2 of 3, weight 60, of batch 1 of 3 of rest of the world",
    );
  });

  it("cuts a stage's name where GitHub would refuse the title", () => {
    const text = printTitle({ rollout: "payments", release: "v1", stage: "s".repeat(400), batch: { number: 1, of: 2 } });
    expect(text.length).toBe(250);
    expect(text.endsWith("s…")).toBe(true);
  });
});
