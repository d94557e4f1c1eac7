import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import { said } from "../../reasons/run.ts";
import { planRollback } from "../outcome/rollback.ts";
import { startRollback, startRun } from "../start.ts";
import { openDraft } from "../state/draft.ts";
import type { Run } from "../state/run.ts";
import { AT, type Bench, batch, bench, bring, judge, MINUTE, round } from "../testing/bench.ts";
import { missingAt, versionAt } from "./depends.ts";
import { limitsGate } from "./limits.ts";

const SAME = { rollout: "ledger", atLeast: "SameVersion" };

/** The same rollout's next run, which finds what the one before it left. */
function nextRun(before: Run): Run {
  const { spec, release, trigger, plan } = before;
  return startRun({ rollout: spec, number: before.number + 1, release, trigger, plan, now: AT, before });
}

/** Two clusters of which the first has moved, and failed. */
function failedHalfway(action: "Continue" | "Pause" = "Pause"): Bench {
  const self = bench(2, [{}], (rollout) => {
    rollout.onFailure = { action, maxFailures: { count: 0 } };
  });
  bring(self, 1, "merged");
  judge(self, "c1", "failing");
  round(self);
  return self;
}

function rollbackOf({ run: of, now }: Bench, halts: Run["halts"] = []): Run {
  const back = planRollback(of);
  if ("error" in back) throw new Error(back.error.code);
  const asked = { by: "alice", reason: said("it is bad"), at: iso(now) };
  return startRollback({ of: { ...of, halts }, back, number: of.number + 1, asked, now });
}

describe("what a run leaves to the next", () => {
  test("a rollback cut short before it was through: what it was to take back is not taken for good", () => {
    const back = rollbackOf(failedHalfway());
    const next = nextRun({ ...back, phase: "Superseded", endedAt: iso(AT) });
    expect(next.lastGood).toEqual({ "hub/argocd/app-c1": ["v1"] });
  });

  test("a run that never got to a cluster hands on what was last good there before it", () => {
    const first = { ...failedHalfway().run, phase: "Superseded" as const };
    const second = { ...nextRun(first), phase: "Superseded" as const };
    expect(nextRun(second).lastGood).toEqual({ "hub/argocd/app-c1": ["v1"] });
  });

  test("halts go with a rollback, too, while they are on", () => {
    const self = failedHalfway();
    const over = { clusters: ["c1"], reason: "over", by: "bob", at: iso(AT), until: iso(AT) };
    const on = { clusters: [], reason: "incident", by: "bob", at: iso(AT) };
    expect(rollbackOf(self, [over, on]).halts).toEqual([on]);
  });
});

describe("dependsOn over several runs", () => {
  test("what failed at a cluster is not there, though the next run finds it standing", () => {
    const { run } = failedHalfway("Continue");
    expect(versionAt(run, "hub/c1")).toBeUndefined();
    const next = nextRun({ ...run, phase: "Failed" });
    expect(missingAt(next, SAME, bench(2).run, "hub/c1")).toMatchObject({ code: "VERSION_UNKNOWN" });
    expect(versionAt(next, "hub/c2")).toBe("v1");
  });

  test("clusters that a release never came to before it was rolled back hold the old version, and are waited for", () => {
    const back = rollbackOf(failedHalfway());
    expect(back.stays).toEqual(["hub/c2"]);
    const done = { ...back, release: { values: { version: "v1" }, attempt: 1 } };
    expect(missingAt(done, SAME, bench(2).run, "hub/c2")).toEqual({ code: "VERSION_OTHER", there: "v1", wanted: "v2" });
  });
});

describe("limits over several runs", () => {
  test("what an aborted run left in flight counts until its deadline, and not for ever", () => {
    const aborted = bench(1);
    bring(aborted, 1, "merged");
    const other: Run = { ...aborted.run, rollout: "ledger", phase: "Aborted", endedAt: iso(aborted.now) };
    const self = bench(2);
    self.run = { ...self.run, plan: { ...self.run.plan } };
    bring(self, 1, "open");
    self.world = { ...self.world, others: [other], limits: { targets: 1 } };
    const over = (now: number) =>
      limitsGate(openDraft(self.run, self.world, now), {
        ...batch(self.run, 1),
        targets: [{ ...batch(self.run, 1).targets[0], key: "hub/argocd/ledger-c9" }] as never,
      });
    expect(over(self.now)?.why).toHaveCode("LIMITS_FULL", { now: ["ledger"] });
    expect(over(self.now + 60 * MINUTE)).toBeUndefined();
  });
});
