import { describe, expect, test } from "vitest";
import { iso } from "../base/time.ts";
import { onOverlap } from "../run/outcome/overlap.ts";
import { supersede } from "../run/start.ts";
import {
  AT,
  type Bench,
  batch,
  bench,
  bring,
  guard,
  judge,
  MINUTE,
  merged,
  phases,
  pull,
  round,
  SECOND,
  say,
  see,
  wants,
} from "../run/testing/bench.ts";
import type { Rollout } from "../spec/rollout.ts";

/*
 * The settled points of the specification that are about a run, each as the sequence that goes wrong without it. Those with worlds of
 * their own (joiners, rollbacks, Argo CD, the journal) are named in docs/gates.md; those about the plan are in spec-9-plan.test.ts.
 */

const approving = (rollout: Rollout) => {
  for (const stage of rollout.stages) stage.approval = { teams: ["sre"], count: 1 };
};

/** c1 is merged and fails. */
function failed(clusters = 2, change?: (rollout: Rollout) => void): Bench {
  const self = bench(clusters, [{}], change);
  bring(self, 1, "merged");
  judge(self, "c1", "failing");
  round(self);
  return self;
}

describe("docs/spec.md §9", () => {
  test("§9.1 one failed cluster is one failure, whatever the number of its targets; the budget counts clusters", () => {
    const self = failed(2, (rollout) => {
      rollout.onFailure = { action: "Pause", maxFailures: { percent: 50 } };
    });
    expect(self.run.phase).toBe("Progressing");
  });

  test("§9.4 the guard's answer is void on another base and after a minute: nothing merges on an old one", () => {
    const self = bench(1);
    bring(self, 1, "open");
    guard(self, 1, { base: "f".repeat(40) });
    expect(wants(round(self))).not.toContain("Merge 1");
    guard(self, 1, { at: iso(self.now - MINUTE) });
    expect(wants(round(self))).not.toContain("Merge 1");
    guard(self, 1);
    expect(wants(round(self))).toContain("Merge 1");
  });

  test("§9.8 releases that come faster than a run takes do not starve it; what is paused on a failure is in nobody's way", () => {
    const self = bench(1);
    expect(onOverlap("Supersede", { ...self.run, superseded: 3 })).toBe("Queue");
    expect(onOverlap("Queue", failed().run)).toBe("Supersede");
    expect(onOverlap("Supersede", { kind: "Rollback" })).toBe("Queue");
    bring(self, 1, "merged");
    self.run = supersede(self.run, { values: { version: "v3" }, commit: "e".repeat(40) }, self.now);
    round(self);
    expect(self.run.endedAt).toBeUndefined();
  });

  test("§9.9 in flight is from the intention on; /retry re-arms what failed, /resume accepts it and needs maintain", () => {
    const self = failed();
    say(self, "/resume");
    round(self);
    expect(self.run.commands.at(-1)?.outcome).toBe("refused");
    say(self, "/retry");
    judge(self, "c1", "pending");
    round(self);
    expect(phases(self.run, 1)).toEqual(["Syncing"]);
    const other = failed();
    say(other, "/resume", { permission: "maintain" });
    round(other);
    expect(other.run).toMatchObject({ phase: "Progressing", failedAccepted: ["hub/c1"] });
  });

  test("§9.10 a PR opens before its approval and waits for it open; another's /promote ends bakes only", () => {
    const self = bench(1, [{ bakeMs: 30 * MINUTE }], approving);
    bring(self, 1, "merging");
    expect(batch(self.run, 1)).toMatchObject({ phase: "Open", why: expect.toHaveCode("APPROVAL_WANTED") });
    say(self, "/promote", { actor: "dan", teams: [], batch: 1 });
    round(self);
    expect(self.run.commands.at(-1)?.outcome).toBe("refused");
    self.world = { ...self.world, approvals: new Map([[1, [{ by: "bob", at: iso(self.now) }]]]) };
    bring(self, 1, "confirmed");
    expect(batch(self.run, 1).phase).toBe("Baking");
    round(self, MINUTE);
    say(self, "/promote", { actor: "dan", teams: [], batch: 1 });
    round(self);
    expect(batch(self.run, 1).phase).toBe("Settled");
  });

  test("§9.11 what was confirmed long ago is not forgotten: its pin changed by hand stops the next merge", () => {
    const self = bench(2);
    bring(self, 1, "confirmed");
    bring(self, 2, "open");
    guard(self, 2);
    see(self, "c1", { pins: ["v1"], drift: { commit: "9".repeat(40), author: "bob", subject: "by hand" } });
    expect(wants(round(self))).not.toContain("Merge 2");
    expect(self.run.paused).toMatchObject({
      kind: "Drift",
      reason: expect.toHaveCode("PIN_DRIFT", { by: expect.objectContaining({ author: "bob", commit: expect.stringMatching(/^9{40}$/) }) }),
    });
  });

  test("§9.12 a merge commit that changes more than the batch's pins pauses the run", () => {
    const self = bench(2);
    bring(self, 1, "merging");
    merged(self, 1, { exact: false });
    round(self);
    expect(self.run.paused?.kind).toBe("UnexpectedMerge");
  });

  test("§9.13 /pause is answered once no merge can be under way, and an intention lapses after 30 s", () => {
    const self = bench(1);
    bring(self, 1, "merging");
    say(self, "/pause");
    expect(wants(round(self))).not.toContain("Answer done");
    expect(self.run.phase).toBe("Progressing");
    guard(self, 1);
    round(self, 31 * SECOND);
    round(self);
    expect(self.run).toMatchObject({ phase: "Paused" });
    expect(batch(self.run, 1).intention).toBeUndefined();
  });

  test("§9.13 /pause holds over a run that had stopped by itself: what ends the one pause does not end the other", () => {
    const self = failed();
    say(self, "/pause");
    round(self);
    judge(self, "c1", "pending");
    say(self, "/retry");
    round(self);
    expect(self.run.paused).toMatchObject({ kind: "Command", by: "alice" });
    say(self, "/resume");
    round(self);
    expect(self.run.phase).toBe("Progressing");
  });

  test("§9.13 /halt is answered only after every other run has had a round to fence what it covers", () => {
    const self = bench(1);
    const other = bench(1);
    bring(other, 1, "open");
    self.world = { ...self.world, others: [{ ...other.run, rollout: "ledger" }] };
    say(self, "/halt stop", { permission: "maintain" });
    expect(wants(round(self))).not.toContain("Answer done");
    expect(wants(round(self))).toContain("Answer done");
  });

  test("§9.14 a look at a requeued cluster writes nothing while it still matches, and its stage's catch-up batch holds the next stage", () => {
    const self = bench(2, [{ region: "eu", requeue: { attempts: 3, intervalMs: 30 * MINUTE } }, {}]);
    const c1 = self.world.clusters.get("hub/c1");
    if (c1 === undefined) throw new Error("no cluster");
    self.world = {
      ...self.world,
      clusters: new Map(self.world.clusters).set(c1.key, { ...c1, labels: { ...c1.labels, drained: "true" } }),
    };
    round(self);
    round(self);
    expect([self.run.batches.length, self.run.requeued[0]?.attempts, self.run.stage]).toEqual([0, 1, 0]);
    self.world = { ...self.world, clusters: new Map(self.world.clusters).set(c1.key, c1) };
    round(self, 30 * MINUTE);
    expect(batch(self.run, 1)).toMatchObject({ kind: "CatchUp", stage: 0 });
  });

  test("§9.15 the deadline stands still while a person is waited for, and past waitingDeadline the run pauses", () => {
    const self = bench(1);
    bring(self, 1, "merged");
    judge(self, "c1", "waiting", "sync");
    round(self);
    round(self, 30 * MINUTE);
    expect(phases(self.run, 1)).not.toContain("Failed");
    round(self, self.run.spec.waitingDeadlineMs);
    expect(self.run.paused?.kind).toBe("Waiting");
  });

  test("§9.16 a target never changes its stage: relabelled mid-run it travels where it was planned", () => {
    const self = bench(2, [{ region: "eu" }, { region: "us" }]);
    const c2 = self.world.clusters.get("hub/c2");
    if (c2 === undefined) throw new Error("no cluster");
    self.world = { ...self.world, clusters: new Map(self.world.clusters).set(c2.key, { ...c2, labels: { region: "eu" } }) };
    bring(self, 1, "confirmed");
    expect(phases(self.run, 1)).toHaveLength(1);
    round(self);
    expect(batch(self.run, 2)).toMatchObject({ stage: 1, targets: [{ cluster: "hub/c2" }] });
  });

  test("§9.18 under Tolerate what was unhealthy before settles as Failed (baseline), outside the budget and never confirmed", () => {
    const self = bench(2, [{}], (rollout) => {
      rollout.baseline = "Tolerate";
    });
    see(self, "c1", { healthIssues: ["Degraded"] });
    bring(self, 1, "merged");
    see(self, "c1", { healthIssues: ["Degraded"] });
    judge(self, "c1", "failing");
    round(self);
    expect(batch(self.run, 1).targets[0]).toMatchObject({ phase: "Failed", excused: true });
    expect(self.run.phase).toBe("Progressing");
  });

  test("§9.19 a rolling stage has one PR open and is filled again at most every two minutes", () => {
    const self = bench(3, [{ batching: "Rolling", maxUnavailable: 2 }]);
    bring(self, 1, "merged");
    judge(self, "c1", "live", "all");
    round(self);
    expect(self.run.batches).toHaveLength(1);
    round(self, 2 * MINUTE);
    expect(self.run.batches.length).toBeGreaterThan(1);
  });

  test("§9.20 a command acts on the wait that was current when it was written, and once", () => {
    const self = bench(2, [{ bakeMs: 10 * MINUTE }]);
    bring(self, 1, "confirmed");
    say(self, "/promote", { createdAt: iso(AT + SECOND) });
    round(self);
    expect(self.run.commands.at(-1)).toMatchObject({ outcome: "refused", message: expect.toHaveCode("PROMOTE_CAME_LATE") });
    const before = self.run.commands.length;
    round(self);
    expect(self.run.commands).toHaveLength(before);
  });

  test("§9.21 bare /requeue on a batch's PR means its failed clusters", () => {
    const self = bench(2, [{ maxUnavailable: 2 }]);
    bring(self, 1, "merged");
    judge(self, "c1", "live", "all");
    judge(self, "c2", "failing");
    round(self);
    say(self, "/requeue", { args: [], batch: 1 });
    round(self);
    expect(phases(self.run, 1)).toEqual(["Baked", "Requeued"]);
  });

  test("§9.22 /hotfix goes out of turn, without bake and windows, and never past health or a pause", () => {
    const other = bench(3, [{ bakeMs: 30 * MINUTE }], (rollout) => {
      rollout.windows = [{ schedule: "0 0 1 1 *", durationMs: MINUTE, timeZone: "UTC", kind: "allow" }];
    });
    bring(other, 1, "open");
    say(other, "/hotfix c3 customer down", { permission: "maintain", args: ["c3", "customer", "down"] });
    round(other);
    expect(batch(other.run, 2).kind).toBe("Hotfix");
    pull(other, 2);
    guard(other, 2);
    round(other);
    round(other);
    expect(batch(other.run, 2).phase).toBe("Merging");
    expect(batch(other.run, 1).phase).toBe("Open");
  });
});
