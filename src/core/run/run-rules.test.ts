import { describe, expect, test } from "vitest";
import { hasCode } from "../base/reason.ts";
import { epoch, iso } from "../base/time.ts";
import { said } from "../reasons/run.ts";
import type { Rollout } from "../spec/rollout.ts";
import {
  batch,
  bench,
  bring,
  guard,
  judge,
  MERGE,
  MINUTE,
  merged,
  noPull,
  phases,
  pull,
  round,
  SECOND,
  see,
  wants,
} from "./testing/bench.ts";

function tolerating(clusters: number): (rollout: Rollout) => void {
  return (rollout) => {
    rollout.onFailure.maxFailures = { count: clusters };
  };
}

describe("a merged target", () => {
  test("is Merged, Syncing at first sight, Healthy with its evidence, Baked with its batch", () => {
    const run = bench(1, [{ bakeMs: 5 * MINUTE }]);
    bring(run, 1, "open");
    guard(run, 1);
    round(run);
    merged(run, 1);
    see(run, "c1", { pins: ["v2"], inHistory: true });
    round(run);
    expect(phases(run.run, 1)).toEqual(["Merged"]);
    judge(run, "c1", "pending");
    round(run);
    expect(phases(run.run, 1)).toEqual(["Syncing"]);
    expect(run.last.change).toBe("observation");
    judge(run, "c1", "live", "all");
    round(run);
    expect(batch(run.run, 1).targets[0]).toMatchObject({ phase: "Healthy", confirmedAt: iso(run.now), evidence: { verdict: "live" } });
    expect(batch(run.run, 1)).toMatchObject({ phase: "Baking", bake: { from: iso(run.now), until: iso(run.now + 5 * MINUTE) } });
    round(run, 5 * MINUTE);
    expect(phases(run.run, 1)).toEqual(["Baked"]);
    expect(run.run.phase).toBe("Succeeded");
  });

  test("is not confirmed by evidence older than the merge", () => {
    const run = bench(1);
    bring(run, 1, "merging");
    judge(run, "c1", "live", "all");
    merged(run, 1, { at: iso(run.now + MINUTE) });
    round(run, MINUTE + SECOND);
    expect(phases(run.run, 1)).toEqual(["Syncing"]);
  });

  test("has failed where nothing is seen within seenDeadline of the merge", () => {
    const run = bench(1);
    bring(run, 1, "merging");
    merged(run, 1);
    const deadline = run.now + 15 * MINUTE;
    judge(run, "c1", "pending", "compared");
    round(run);
    // Once right after the merge, to ask for what is to be seen; then nothing is due before the deadline.
    expect(run.last.wakeAt).toBe(run.now);
    judge(run, "c1", "pending", "compared");
    round(run, SECOND);
    expect(run.last.wakeAt).toBe(deadline);
    judge(run, "c1", "pending", "compared");
    round(run, deadline - run.now - 1);
    expect(phases(run.run, 1)).toEqual(["Merged"]);
    round(run, 1);
    expect(phases(run.run, 1)).toEqual(["Failed"]);
    expect(run.run).toMatchObject({ phase: "Paused", paused: { kind: "Failure" } });
    expect(run.run.paused?.ask).toHaveCode("ASK_FAILED");
  });

  test("has failed where it is not healthy within progressDeadline of first sight; waiting stops that clock", () => {
    const run = bench(1);
    bring(run, 1, "merged");
    const deadline = epoch(batch(run.run, 1).targets[0]?.deadlineAt ?? "");
    judge(run, "c1", "waiting", "synced", "A window is closed.");
    round(run);
    round(run, 30 * MINUTE);
    expect(phases(run.run, 1)).toEqual(["Syncing"]);
    expect(run.run.why).toHaveCode("SAID", { text: "A window is closed." });
    judge(run, "c1", "pending");
    round(run);
    expect(epoch(batch(run.run, 1).targets[0]?.deadlineAt ?? "")).toBe(deadline + 30 * MINUTE + SECOND);
    round(run, 15 * MINUTE);
    expect(phases(run.run, 1)).toEqual(["Failed"]);
  });

  test("that waits past waitingDeadline pauses the run", () => {
    const run = bench(1);
    bring(run, 1, "merged");
    judge(run, "c1", "waiting", "synced", "A window is closed.");
    round(run);
    round(run, 60 * MINUTE);
    expect(run.run.paused).toMatchObject({ kind: "Waiting", reason: { code: "WAITED_TOO_LONG", cluster: "hub/c1", forMs: 60 * MINUTE } });
  });

  test.each([
    ["one that we have not reached", 3600],
    ["one from before the merge", -3600],
    ["one of a moment ago, which stands", -10],
  ])("its first sight counts by our clock, too, however far off the cluster's is: %s", (_name, seconds) => {
    const run = bench(1);
    bring(run, 1, "merging");
    round(run, 10 * SECOND);
    merged(run, 1);
    const at = run.now;
    round(run, 60 * SECOND);
    judge(run, "c1", "pending");
    const seen = run.world.targets.get("hub/argocd/app-c1");
    if (seen?.assessment === undefined) throw new Error("not judged");
    see(run, "c1", { assessment: { ...seen.assessment, firstSeenAt: iso(run.now + seconds * SECOND) } });
    round(run);
    const [target] = run.run.batches[0]?.targets ?? [];
    const wanted = Math.max(at, Math.min(run.now, run.now - SECOND + seconds * SECOND));
    expect([target?.firstSeenAt, target?.deadlineAt]).toEqual([
      iso(wanted),
      iso(wanted + (run.run.spec.stages[0]?.progressDeadlineMs ?? 0)),
    ]);
  });

  test("does not fail while Argo CD cannot be read: that is nobody's failure", () => {
    const run = bench(1);
    bring(run, 1, "merging");
    merged(run, 1);
    see(run, "c1", { pins: ["v2"], inHistory: true });
    round(run);
    round(run);
    expect(run.run.why).toHaveCode("NOT_READ_SINCE_MERGE");
    round(run, 30 * MINUTE);
    expect(phases(run.run, 1)).toEqual(["Merged"]);
    expect(hasCode(run.run.why, "ARGOCD_UNREADABLE")).toBe(true);
  });

  test("that is well by its deadline has five minutes more to settle and be read again, and not if it ails once more", () => {
    for (const [clause, then] of [
      ["settled", "Syncing"],
      ["health", "Failed"],
    ] as const) {
      const run = bench(1);
      bring(run, 1, "merged");
      judge(run, "c1", "pending", "health");
      round(run);
      judge(run, "c1", "pending", clause);
      round(run, 15 * MINUTE);
      expect(phases(run.run, 1)).toEqual([then]);
      round(run, 5 * MINUTE);
      expect(phases(run.run, 1)).toEqual(["Failed"]);
    }
  });

  test("that is Missing after it was confirmed fails at a deadline of its own, unless it gets well", () => {
    for (const [well, then] of [
      [true, "Baked"],
      [false, "Failed"],
    ] as const) {
      const run = bench(2);
      bring(run, 1, "confirmed");
      round(run);
      judge(run, "c1", "pending", "health");
      const assessment = [...run.world.targets.values()].find((seen) => seen.assessment?.clause === "health")?.assessment;
      if (assessment !== undefined) assessment.evidence.fields["health"] = "Missing";
      round(run);
      expect(batch(run.run, 1).targets[0]?.why).toHaveCode("UNWELL_AFTERWARDS", { lost: false, until: "2026-01-05T09:15:06.000Z" });
      if (well) judge(run, "c1", "live", "all");
      round(run, 15 * MINUTE);
      expect(phases(run.run, 1)).toEqual([then]);
    }
  });

  test("that is lost fails at its deadline; with its pin gone, too, it has left", () => {
    const run = bench(2, [{ maxUnavailable: 2 }]);
    bring(run, 1, "merged");
    judge(run, "c1", "lost", "exists");
    judge(run, "c2", "lost", "exists");
    see(run, "c2", { pins: [null] });
    round(run);
    expect(phases(run.run, 1)).toEqual(["Syncing", "Skipped"]);
    round(run, 15 * MINUTE);
    expect(phases(run.run, 1)).toEqual(["Failed", "Skipped"]);
  });
});

describe("a bake", () => {
  test("starts over where a cluster becomes unhealthy, from the moment it is confirmed again", () => {
    const run = bench(1, [{ bakeMs: 5 * MINUTE }]);
    bring(run, 1, "confirmed");
    judge(run, "c1", "pending", "health", "Degraded.");
    round(run, 4 * MINUTE);
    expect(phases(run.run, 1)).toEqual(["Syncing"]);
    judge(run, "c1", "live", "all");
    round(run, MINUTE);
    expect(batch(run.run, 1).bake).toEqual({ from: iso(run.now), until: iso(run.now + 5 * MINUTE), restarts: 1 });
  });

  test("is counted from our own confirmation, never from a health that Argo CD has called Healthy for days", () => {
    const run = bench(1, [{ bakeMs: 5 * MINUTE }]);
    bring(run, 1, "merged");
    judge(run, "c1", "live", "all", "Healthy since 2025-12-01T00:00:00Z.");
    round(run, MINUTE);
    expect(batch(run.run, 1).bake).toMatchObject({ from: iso(run.now), until: iso(run.now + 5 * MINUTE) });
    judge(run, "c1", "live", "all", "Healthy since 2025-12-01T00:00:00Z.");
    round(run, 4 * MINUTE);
    expect(batch(run.run, 1).phase).toBe("Baking");
  });

  test("starts over at most 3 times, then the cluster has failed", () => {
    const run = bench(1, [{ bakeMs: 5 * MINUTE }]);
    bring(run, 1, "confirmed");
    for (let time = 1; time <= 4; time += 1) {
      expect(run.run.phase).toBe("Progressing");
      judge(run, "c1", "pending", "health", "Degraded.");
      round(run);
      judge(run, "c1", "live", "all");
      round(run);
    }
    expect(phases(run.run, 1)).toEqual(["Failed"]);
    expect(run.run.paused?.kind).toBe("Failure");
  });

  test("is not disturbed by a comparison under way, but does not end on it either", () => {
    const run = bench(1, [{ bakeMs: 5 * MINUTE }]);
    bring(run, 1, "confirmed");
    judge(run, "c1", "pending", "compared");
    round(run, 6 * MINUTE);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Baking", bake: { restarts: 0 } });
    judge(run, "c1", "live", "all");
    round(run);
    expect(run.run.phase).toBe("Succeeded");
  });
});

describe("failures", () => {
  test("within the budget let the batch settle and the run go on, and are named at the end", () => {
    const run = bench(2, [{}], tolerating(1));
    bring(run, 1, "merged");
    judge(run, "c1", "failing", "health", "Degraded.");
    round(run);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Settled", why: { code: "BATCH_SETTLED_WITH", failed: ["hub/c1"], excused: [] } });
    bring(run, 2, "confirmed");
    expect(run.run).toMatchObject({ phase: "Succeeded", why: { code: "RUN_THROUGH", failed: ["hub/c1"] } });
  });

  test("count clusters of the whole run against a percentage, rounded down", () => {
    const half = bench(3, [{}], (rollout) => {
      rollout.onFailure.maxFailures = { percent: 50 };
    });
    bring(half, 1, "merged");
    judge(half, "c1", "failing");
    expect(round(half).run.phase).toBe("Progressing");
    const third = bench(3, [{}], (rollout) => {
      rollout.onFailure.maxFailures = { percent: 33 };
    });
    bring(third, 1, "merged");
    judge(third, "c1", "failing");
    expect(round(third).run.phase).toBe("Paused");
  });

  test("of a cluster that was confirmed long ago count all the same", () => {
    const run = bench(2);
    bring(run, 1, "confirmed");
    bring(run, 2, "open");
    guard(run, 2);
    judge(run, "c1", "failing", "health", "Degraded.");
    expect(wants(round(run))).toEqual([]);
    expect(run.run.paused?.reason).toHaveCode("TOO_MANY_FAILED", { clusters: ["hub/c1"] });
  });
});

describe("confirmed is not forgotten", () => {
  test("a pin changed since pauses the run and names the commit", () => {
    const run = bench(2);
    bring(run, 1, "confirmed");
    see(run, "c1", { pins: ["v9"], drift: { commit: "d".repeat(40), author: "bob", subject: "hotfix" } });
    bring(run, 2, "merging");
    expect(batch(run.run, 2).intention).toBeUndefined();
    expect(run.run.paused).toMatchObject({ kind: "Drift", by: "bob" });
    expect(run.run.why).toHaveCode("PIN_DRIFT", { found: "v9", want: "v2" });
  });

  test("a commit no longer in the history pauses the run", () => {
    const run = bench(2);
    bring(run, 1, "confirmed");
    see(run, "c1", { inHistory: false });
    round(run);
    expect(run.run.paused?.kind).toBe("History");
  });

  test.each(["assessment", "pins", "inHistory"] as const)("and where its %s cannot be seen nothing merges", (part) => {
    const run = bench(2);
    bring(run, 1, "confirmed");
    bring(run, 2, "open");
    guard(run, 2);
    const targets = new Map(run.world.targets);
    const { [part]: _, ...rest } = targets.get("hub/argocd/app-c1") ?? {};
    run.world = { ...run.world, targets: targets.set("hub/argocd/app-c1", rest) };
    expect(wants(round(run))).toEqual([]);
    expect(run.run).toMatchObject({
      phase: "Progressing",
      why: { code: "ROUND_HELD", because: { code: "TARGETS_UNREAD", clusters: ["hub/c1"] } },
    });
  });
});

describe("a Rolling stage", () => {
  test("is filled again as single clusters are confirmed, one PR at a time, at most every 2 minutes", () => {
    const run = bench(4, [{ maxUnavailable: 2, batching: "Rolling" }]);
    bring(run, 1, "merged");
    expect(batch(run.run, 1).targets.map((target) => target.cluster)).toEqual(["hub/c1", "hub/c2"]);
    judge(run, "c2", "live", "all");
    round(run);
    expect(run.run.batches).toHaveLength(1);
    expect(run.run.why).not.toBe("");
    round(run, 2 * MINUTE);
    expect(batch(run.run, 2).targets.map((target) => target.cluster)).toEqual(["hub/c3"]);
    pull(run, 2);
    guard(run, 2);
    expect(wants(round(run))).toContain("Merge 2");
  });

  test("gives a place back only when its cluster has baked", () => {
    const run = bench(3, [{ maxUnavailable: 1, batching: "Rolling", bakeMs: 10 * MINUTE }]);
    bring(run, 1, "confirmed");
    round(run, 9 * MINUTE);
    expect(run.run.batches).toHaveLength(1);
    round(run, MINUTE);
    round(run);
    expect(run.run.batches).toHaveLength(2);
  });
});

describe("requeue", () => {
  const requeueing = [{ requeue: { attempts: 2, intervalMs: 30 * MINUTE } }];
  function drained(run: ReturnType<typeof bench>, cluster: string, value: boolean): void {
    const key = `hub/${cluster}`;
    const old = run.world.clusters.get(key);
    if (old === undefined) throw new Error(`no ${key}`);
    const labels: Record<string, string> = value ? { drained: "true" } : {};
    run.world = { ...run.world, clusters: new Map(run.world.clusters).set(key, { ...old, labels }) };
  }

  test("puts off a cluster whose label is seen before its PR is opened", () => {
    const run = bench(2, requeueing);
    drained(run, "c1", true);
    round(run);
    expect(run.run.requeued.map((one) => one.cluster)).toEqual(["hub/c1"]);
    expect(batch(run.run, 1).targets.map((target) => target.cluster)).toEqual(["hub/c2"]);
  });

  test("looks every interval, writes nothing while it still matches, and catches up when it does not", () => {
    const run = bench(1, requeueing);
    drained(run, "c1", true);
    round(run);
    round(run);
    expect(run.run.requeued).toMatchObject([{ attempts: 1, nextAt: iso(run.now + 30 * MINUTE) }]);
    expect(run.run.why).toMatchObject({ code: "CLUSTERS_PUT_OFF", because: { code: "REQUEUE_STILL_MATCHES", attempt: 1, of: 2 } });
    expect(run.run.next).toEqual({ what: { code: "NEXT_LOOKED_AGAIN" }, eta: iso(run.now + 30 * MINUTE) });
    expect(run.run.batches).toEqual([]);
    drained(run, "c1", false);
    expect(wants(round(run, 30 * MINUTE))).toEqual(["Propose 1"]);
    expect(batch(run.run, 1).kind).toBe("CatchUp");
    expect(run.run.requeued).toEqual([]);
  });

  test("counts a cluster as failed after the last look", () => {
    const run = bench(1, requeueing);
    drained(run, "c1", true);
    round(run);
    round(run);
    round(run, 30 * MINUTE);
    expect(run.run).toMatchObject({ phase: "Paused", requeued: [{ attempts: 2, failed: true }] });
    expect(run.run.paused?.reason).toHaveCode("REQUEUED_TOO_OFTEN", { attempts: 2 });
  });

  test("waits, and says so, where the clusters cannot be read", () => {
    const run = bench(1, requeueing);
    run.world = { ...run.world, clusters: new Map(), clustersKnown: false };
    round(run);
    expect(run.run.batches).toEqual([]);
    expect(run.run.why).toHaveCode("CLUSTERS_UNREAD");
  });

  test("holds the next stage back", () => {
    const run = bench(2, [{ region: "eu", ...requeueing[0] }, {}]);
    drained(run, "c1", true);
    round(run);
    round(run, MINUTE);
    expect(run.run.stage).toBe(0);
    expect(run.run.batches).toEqual([]);
  });
});

describe("a catch-up batch", () => {
  test("is never empty: clusters of one pin that the window has no room for are waited for, and named", () => {
    const run = bench(2, [{ region: null, requeue: { attempts: 9, intervalMs: MINUTE } }]);
    const [stage] = run.run.plan.stages;
    const edits = stage?.batches[0]?.targets[0]?.edits ?? [];
    const shared = stage?.batches.map((one) => ({ ...one, targets: one.targets.map((target) => ({ ...target, edits })) })) ?? [];
    const requeued = ["hub/c1", "hub/c2"].map((cluster) => ({
      ...{ cluster, stage: 0, attempts: 0, why: said("put off") },
      ...{ since: iso(run.now), nextAt: iso(run.now) },
    }));
    run.run = { ...run.run, requeued, plan: { ...run.run.plan, stages: stage === undefined ? [] : [{ ...stage, batches: shared }] } };
    round(run);
    expect(run.run.batches).toEqual([]);
    expect(run.run.why).toHaveCode("CANNOT_TRAVEL", { clusters: ["hub/c1", "hub/c2"] });
  });
});

describe("a cluster that left before its batch was proposed", () => {
  test("is skipped where cluster and pin are gone", () => {
    const run = bench(2);
    run.world = { ...run.world, clusters: new Map([...run.world.clusters].filter(([key]) => key !== "hub/c1")) };
    see(run, "c1", { pins: [null] });
    round(run);
    expect(run.run.skipped).toMatchObject([{ cluster: "hub/c1", why: { code: "CLUSTER_GONE" } }]);
    expect(batch(run.run, 1).phase).toBe("Settled");
  });

  test("and is asked about where the cluster is still there", () => {
    const run = bench(1);
    see(run, "c1", { pins: [null] });
    expect(wants(round(run))).toEqual([]);
    expect(run.run.paused).toMatchObject({ kind: "Drift" });
    expect(run.run.why).toHaveCode("PIN_GONE", { cluster: "hub/c1", file: "apps.yaml" });
  });
});

describe("stages", () => {
  test("follow one another; the second's first batch opens when the first is settled", () => {
    const run = bench(4, [{ region: "eu", maxUnavailable: 2 }, { maxUnavailable: 2 }]);
    bring(run, 1, "merged");
    expect(run.run.batches).toHaveLength(1);
    judge(run, "c1", "live", "all");
    judge(run, "c3", "live", "all");
    expect(wants(round(run))).toEqual(["Propose 2"]);
    expect(run.run.stage).toBe(1);
    expect(batch(run.run, 2).branch).toBe("stagecoach-run/payments/42/2-1-1");
    noPull(run, 2);
    expect(batch(run.run, 1).merged?.commit).toBe(MERGE);
  });
});

describe("a branch of our name that somebody else made", () => {
  test("pauses the run, which names it; nothing is proposed until it is resumed", () => {
    const run = bench(1);
    round(run);
    noPull(run, 1);
    run.world = { ...run.world, taken: new Map([[1, MERGE]]) };
    expect(wants(round(run))).toEqual([]);
    expect(run.run.paused).toMatchObject({
      kind: "Refused",
      reason: { code: "BRANCH_TAKEN", branch: batch(run.run, 1).branch, head: MERGE },
    });
    run.world = { ...run.world, taken: new Map() };
    expect(wants(round(run))).toEqual([]);
  });
});
