import { describe, expect, test } from "vitest";
import { iso } from "../../base/time.ts";
import { planRollback } from "../../run/outcome/rollback.ts";
import { startRollback, startRun } from "../../run/start.ts";
import type { Run } from "../../run/state/run.ts";
import { AT, type Bench, bench, bring, judge, MINUTE, merged, round, say } from "../../run/testing/bench.ts";
import { figuresOf } from "./releases.ts";
import { waitOf } from "./waits.ts";

const NOTHING = { isChange: false, isFailedChange: false, merges: [] };

/** What a run became another by, since it was looked at before. */
function since(self: Bench, before: Run | undefined) {
  return figuresOf(before, self.run);
}

/** Two clusters, one after the other; the first has failed, 10 minutes after the release was merged. */
function failed(): Bench {
  const self = bench(2);
  bring(self, 1, "merged");
  self.now = AT + 10 * MINUTE - 1000;
  judge(self, "c1", "failing");
  round(self);
  expect(self.run.paused?.kind).toBe("Failure");
  return self;
}

function next(before: Run, now: number): Run {
  const { spec: rollout, release, plan, trigger } = before;
  return startRun({ rollout, number: before.number + 1, release, trigger, plan, now, before });
}

function ended(run: Run, phase: Run["phase"], at: number): Run {
  return { ...run, phase, since: iso(at), endedAt: iso(at) };
}

describe("what is told of releases", () => {
  test("one that comes to its last stage: lead times from its merge and its opening, once, and that it is a change, once", () => {
    const self = bench(1);
    self.run = { ...self.run, trigger: { ...self.run.trigger, openedAt: iso(AT - 60 * MINUTE) } };
    expect(since(self, undefined)).toEqual(NOTHING);
    bring(self, 1, "merged");
    expect(since(self, undefined)).toMatchObject({ isChange: true, isFailedChange: false });
    const [before] = [self.run];
    self.now = AT + 30 * MINUTE - 1000;
    judge(self, "c1", "live");
    for (const _ of [1, 2, 3]) round(self);
    expect(self.run.phase).toBe("Succeeded");
    const took = (Date.parse(self.run.endedAt ?? "") - AT) / 1000;
    expect(took).toBeGreaterThanOrEqual(30 * 60);
    expect(since(self, before)).toEqual({
      ...NOTHING,
      ended: { phase: "Succeeded", kind: "release", took },
      leadFromMerged: took,
      leadFromOpened: took + 3600,
    });
    // What a process finds when it starts, or a later record of the same, tells nothing.
    expect(since(self, self.run)).toEqual(NOTHING);
  });

  test("how long a merge took: from when it was meant, never less than nothing though GitHub's clock is behind", () => {
    const self = bench(1);
    bring(self, 1, "merging");
    const before = self.run;
    const meant = Date.parse(before.batches[0]?.intention?.at ?? "");
    merged(self, 1, { at: iso(meant + 4000) });
    round(self);
    expect(since(self, before).merges).toEqual([4]);
    const late = { ...before, batches: before.batches.map((one) => ({ ...one, intention: { head: "h", at: iso(meant + 9000) } })) };
    expect(figuresOf(late, self.run).merges).toEqual([0]);
  });

  test("a failure is told once, though it is tried again and fails again; what is over well after all is restored", () => {
    const self = failed();
    const { failedAt } = self.run;
    expect(failedAt).toBe(iso(AT + 10 * MINUTE));
    expect(since(self, undefined).isFailedChange).toBe(true);
    const before = self.run;
    say(self, "/retry");
    round(self);
    self.now += MINUTE;
    judge(self, "c1", "failing");
    round(self);
    expect(self.run.failedAt).toBe(failedAt);
    expect(since(self, before)).toEqual(NOTHING);
    const over = ended(self.run, "Succeeded", AT + 40 * MINUTE);
    expect(figuresOf(self.run, over)).toMatchObject({ isFailedChange: false, restoredAfter: 30 * 60 });
  });

  test("what fails before anything came to a cluster is no failed change, and leaves nothing broken", () => {
    const { run } = bench(1);
    const early: Run = { ...run, failedAt: iso(AT) };
    expect(figuresOf(run, early)).toEqual(NOTHING);
    expect(figuresOf(early, ended(early, "Succeeded", AT + MINUTE)).restoredAfter).toBeUndefined();
    expect(next(ended(early, "Aborted", AT), AT).brokenSince).toBeUndefined();
  });

  test("restored is counted from the first failure over every run until one ends well: aborted, superseded, forward again", () => {
    const first = ended(failed().run, "Aborted", AT + 20 * MINUTE);
    expect(figuresOf(failed().run, first).restoredAfter).toBeUndefined();
    const second = ended(next(first, AT + 21 * MINUTE), "Superseded", AT + 30 * MINUTE);
    const third = next(second, AT + 31 * MINUTE);
    expect([second.brokenSince, third.brokenSince]).toEqual([first.failedAt, first.failedAt]);
    const over = ended(third, "Succeeded", AT + 70 * MINUTE);
    expect(figuresOf(third, over).restoredAfter).toBe(3600);
    expect(next(over, AT).brokenSince).toBeUndefined();
  });

  test("a rollback of what had ended well: the release failed when somebody said so, and is restored once it is taken back", () => {
    const self = bench(1);
    bring(self, 1, "confirmed");
    for (const _ of [1, 2]) round(self);
    expect(self.run.phase).toBe("Succeeded");
    self.now = AT + 600 * MINUTE - 1000;
    const before = self.run;
    say(self, "/rollback", { permission: "maintain" });
    round(self);
    expect(since(self, before)).toEqual({ ...NOTHING, isFailedChange: true });
    const asked = self.run.rollback;
    const back = planRollback(self.run);
    if (asked === undefined || "error" in back) throw new Error("it cannot be rolled back");
    const rollback = startRollback({ of: self.run, back, number: 43, asked, now: self.now });
    expect(rollback.brokenSince).toBe(iso(AT + 600 * MINUTE));
    const over = ended(rollback, "RolledBack", AT + 605 * MINUTE);
    expect(figuresOf(undefined, rollback)).toEqual(NOTHING);
    expect(figuresOf(rollback, over)).toEqual({
      ...NOTHING,
      ended: { phase: "RolledBack", kind: "rollback", took: 300 },
      restoredAfter: 300,
    });
    expect(next(over, AT).brokenSince).toBeUndefined();
  });
});

describe("what a run waits for", () => {
  const gateOf = (self: Bench) => waitOf(self.run)?.gate;

  test("from its pull request over health and a bake to its end, and a person once it has failed", () => {
    const self = bench(1, [{ bakeMs: 10 * MINUTE }]);
    expect(waitOf(self.run)).toBeUndefined();
    const seen: (string | undefined)[] = [];
    for (const to of ["open", "merged", "confirmed"] as const) {
      bring(self, 1, to);
      seen.push(gateOf(self));
    }
    self.now += 11 * MINUTE;
    for (const _ of [1, 2]) round(self);
    expect([...seen, self.run.phase, gateOf(self)]).toEqual(["github", "health", "bake", "Succeeded", undefined]);
    const paused = failed();
    expect(waitOf(paused.run)).toEqual({ gate: "person", since: paused.run.since });
  });

  test("a freeze by its name, though its pull request is open", () => {
    const self = bench(1, [{}], (rollout) => {
      rollout.windows = [{ kind: "deny", schedule: "0 0 * * *", durationMs: 24 * 60 * MINUTE, timeZone: "UTC" }];
    });
    bring(self, 1, "open");
    expect([self.run.why.code, gateOf(self)]).toEqual(["PULL_WAITS", "window"]);
  });
});
