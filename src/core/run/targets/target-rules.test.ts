import { describe, expect, test } from "vitest";
import { application, input, MERGED } from "../../../adapters/argocd/testing/application.ts";
import { assess } from "../../argocd/liveness/liveness.ts";
import { epoch, iso } from "../../base/time.ts";
import { parseRollouts } from "../../spec/parse/parse.ts";
import type { Rollout } from "../../spec/rollout.ts";
import { type Bench, batch, bench, bring, guard, judge, MINUTE, merged, phases, pull, round, SECOND, see } from "../testing/bench.ts";
import { isWorse } from "./baseline.ts";

const tolerant = (rollout: Rollout) => {
  rollout.baseline = "Tolerate";
};

/** A run of one cluster after another whose first was proposed while it ailed, and has merged. */
function ailing(before: string[], change: (rollout: Rollout) => void = tolerant): Bench {
  const run = bench(2, [{}], change);
  see(run, "c1", { healthIssues: before });
  see(run, "c2", { healthIssues: [] });
  bring(run, 1, "merged");
  return run;
}

test("baseline, flap and suspended are read from the resource, with their defaults", () => {
  const yaml = (spec: string) => `apiVersion: stagecoach.dev/v1alpha1
kind: ProgressiveRollout
metadata: { name: a }
spec:
  sourceRef: { kind: ApplicationSet, name: a }
  release: { version: "1" }
  pins: [{ file: a.yaml, path: "x[name={{ cluster.name }}].v" }]
  stages: [{ name: s, clusters: { selector: {} } }]
${spec}`;
  const read = (spec: string) => {
    const { rollouts, problems } = parseRollouts(yaml(spec), "rollouts/a.yaml");
    expect(problems).toEqual([]);
    return rollouts[0];
  };
  expect(read("")).toMatchObject({ baseline: "Strict" });
  expect(read("")?.flap).toBeUndefined();
  expect(read("  baseline: Tolerate\n  suspended: Accept\n  flap: {}\n")).toMatchObject({
    baseline: "Tolerate",
    suspended: "Accept",
    flap: { ignoreMs: 30_000, most: 3, windowMs: 600_000 },
  });
  expect(read("  flap: { ignore: 1m, most: 5, window: 1h }\n")?.flap).toEqual({ ignoreMs: 60_000, most: 5, windowMs: 3_600_000 });
  const { problems } = parseRollouts(yaml("  flap: { ignore: 30 }\n  suspended: Yes\n  baseline: Lax\n"), "rollouts/a.yaml");
  expect(problems.map((problem) => problem.code).sort()).toEqual(["BAD_DURATION", "BAD_VALUE", "BAD_VALUE"]);
});

describe("baseline", () => {
  test("Tolerate: what was Degraded before and is no worse is Failed (baseline), outside the budget, and the run goes on", () => {
    const run = ailing(["Degraded"]);
    judge(run, "c1", "failing", "health", "It is Degraded.");
    round(run);
    expect(batch(run.run, 1).targets[0]).toMatchObject({ phase: "Failed", excused: true, baseline: ["Degraded"] });
    expect(batch(run.run, 1).targets[0]?.confirmedAt).toBeUndefined();
    expect(batch(run.run, 1)).toMatchObject({
      phase: "Settled",
      why: expect.toHaveCode("BATCH_SETTLED_WITH", { failed: [], excused: ["hub/c1"] }),
    });
    expect(run.run.phase).toBe("Progressing");
    expect(run.run.batches).toHaveLength(2);
    bring(run, 2, "confirmed");
    round(run);
    expect(run.run).toMatchObject({ phase: "Succeeded", why: expect.toHaveCode("RUN_THROUGH", { failed: ["hub/c1"] }) });
  });

  test("Strict, the default, counts it as failed", () => {
    const run = ailing(["Degraded"], () => undefined);
    judge(run, "c1", "failing", "health");
    round(run);
    expect(run.run).toMatchObject({ phase: "Paused", paused: { kind: "Failure" } });
  });

  test("Tolerate: getting worse is a failure like any other", () => {
    const run = ailing(["Missing"]);
    see(run, "c1", { healthIssues: ["Degraded"] });
    judge(run, "c1", "failing", "health");
    round(run);
    expect(run.run).toMatchObject({ phase: "Paused", paused: { kind: "Failure" } });
    expect(batch(run.run, 1).targets[0]?.excused).toBeUndefined();
  });

  test("Tolerate: an Application that was well when its batch was proposed has no baseline, whatever it became before the merge", () => {
    const run = bench(1, [{}], tolerant);
    see(run, "c1", { healthIssues: [] });
    bring(run, 1, "open");
    see(run, "c1", { healthIssues: ["Degraded"] });
    guard(run, 1);
    round(run);
    merged(run, 1);
    judge(run, "c1", "failing", "health");
    round(run);
    round(run);
    expect(run.run.phase).toBe("Paused");
  });

  test("Tolerate: one that got well before the merge is held to it", () => {
    const run = bench(1, [{}], tolerant);
    see(run, "c1", { healthIssues: ["Degraded"] });
    bring(run, 1, "open");
    expect(batch(run.run, 1).targets[0]?.baseline).toEqual(["Degraded"]);
    see(run, "c1", { healthIssues: [] });
    round(run);
    expect(batch(run.run, 1).targets[0]?.baseline).toBeUndefined();
  });

  test("Tolerate: one that is Progressing because it takes the change, before its merge is heard of, did not get well before it", () => {
    const run = bench(1, [{}], tolerant);
    see(run, "c1", { healthIssues: ["Degraded"] });
    bring(run, 1, "merging");
    see(run, "c1", { healthIssues: [] });
    round(run);
    expect(batch(run.run, 1).targets[0]?.baseline).toEqual(["Degraded"]);
    // Somebody else's merge, which nothing announced.
    const other = bench(1, [{}], tolerant);
    see(other, "c1", { healthIssues: ["Degraded"] });
    bring(other, 1, "open");
    see(other, "c1", { healthIssues: [] });
    merged(other, 1);
    round(other);
    expect(batch(other.run, 1).targets[0]?.baseline).toEqual(["Degraded"]);
  });

  test("Tolerate: what is seen of a batch that somebody merged as soon as it was proposed is not how it was before", () => {
    const run = bench(1, [{}], tolerant);
    see(run, "c1", { healthIssues: ["Degraded"] });
    round(run);
    round(run);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Proposing", targets: [{ baseline: ["Degraded"] }] });
    see(run, "c1", { healthIssues: [] });
    merged(run, 1);
    round(run);
    expect(batch(run.run, 1).targets[0]?.baseline).toEqual(["Degraded"]);
  });

  test("Tolerate: one that is mended by the change is confirmed as any other", () => {
    const run = ailing(["Degraded"]);
    see(run, "c1", { healthIssues: [] });
    judge(run, "c1", "live", "all");
    round(run);
    expect(phases(run.run, 1)).toEqual(["Baked"]);
  });

  test("Tolerate: one that never takes the change is excused only by what kept it from that before", () => {
    const unseen = (before: string[], now: string[]) => {
      const run = bench(1, [{}], tolerant);
      see(run, "c1", { healthIssues: before });
      bring(run, 1, "merging");
      merged(run, 1);
      see(run, "c1", { healthIssues: now });
      judge(run, "c1", "pending", "compared");
      round(run);
      judge(run, "c1", "pending", "compared");
      round(run, 15 * MINUTE);
      return run.run.phase;
    };
    expect(unseen(["ClusterUnreachable"], ["ClusterUnreachable"])).toBe("Succeeded");
    expect(unseen(["Degraded"], ["Degraded"])).toBe("Paused");
    expect(unseen(["Degraded"], ["Degraded", "SyncUnknown"])).toBe("Paused");
  });

  test("Tolerate: a failed one of the same cluster that was well still counts", () => {
    const run = ailing(["NeverInSync"]);
    see(run, "c1", { healthIssues: ["NeverInSync", "OperationFailed"] });
    judge(run, "c1", "failing", "operation");
    round(run);
    expect(run.run.phase).toBe("Paused");
  });

  test.each([
    [["Degraded"], ["Degraded"], false],
    [["Degraded"], ["Missing"], false],
    [["Degraded"], [], false],
    [["Missing"], ["Degraded"], true],
    [["Degraded"], ["Unknown"], true],
    [["ComparisonError"], ["ComparisonError", "Missing"], true],
    [["ComparisonError", "Degraded"], ["Degraded"], false],
    [["Degraded"], ["SyncError"], true],
  ])("from %j to %j: worse is %j", (before, now, worse) => {
    expect(isWorse(before, now)).toBe(worse);
  });
});

describe("flap", () => {
  const baked = (change: (rollout: Rollout) => void) => {
    const run = bench(1, [{ bakeMs: 30 * MINUTE }], change);
    bring(run, 1, "confirmed");
    expect(batch(run.run, 1).phase).toBe("Baking");
    return run;
  };
  const filtered = (rollout: Rollout) => {
    rollout.flap = { ignoreMs: 30 * SECOND, most: 2, windowMs: 10 * MINUTE };
  };
  const dip = (run: Bench, ms: number) => {
    judge(run, "c1", "pending", "health", "It is Progressing.");
    round(run);
    round(run, ms - SECOND);
    judge(run, "c1", "live", "all");
    round(run);
  };

  test("without it every dip begins the bake anew", () => {
    const run = baked(() => undefined);
    dip(run, 5 * SECOND);
    expect(batch(run.run, 1).bake?.restarts).toBe(1);
  });

  test("a dip shorter than `ignore` does not", () => {
    const run = baked(filtered);
    const { bake } = batch(run.run, 1);
    judge(run, "c1", "pending", "health", "It is Progressing.");
    round(run);
    expect(run.last.wakeAt).toBe(run.now + 30 * SECOND);
    expect(batch(run.run, 1).targets[0]?.why).toHaveCode("FLAP_IGNORED", { until: iso(run.now + 30 * SECOND) });
    judge(run, "c1", "live", "all");
    round(run, 20 * SECOND);
    expect(batch(run.run, 1).bake).toEqual(bake);
    expect(batch(run.run, 1).targets[0]?.dips).toHaveLength(1);
  });

  test("one that lasts counts", () => {
    const run = baked(filtered);
    dip(run, 40 * SECOND);
    expect(batch(run.run, 1).bake?.restarts).toBe(1);
    expect(batch(run.run, 1).targets[0]?.dips).toBeUndefined();
  });

  test("one too many within the window counts, and those outside of it are forgotten", () => {
    const often = baked(filtered);
    for (let i = 0; i < 3; i++) dip(often, 5 * SECOND);
    expect(batch(often.run, 1).bake?.restarts).toBe(1);
    const seldom = baked(filtered);
    for (let i = 0; i < 3; i++) {
      dip(seldom, 5 * SECOND);
      round(seldom, 6 * MINUTE);
    }
    expect(batch(seldom.run, 1).bake?.restarts).toBe(0);
  });

  test("the bake does not end in a dip", () => {
    const run = baked(filtered);
    round(run, 30 * MINUTE - 5 * SECOND);
    judge(run, "c1", "pending", "health", "It is Progressing.");
    round(run, 10 * SECOND);
    expect(batch(run.run, 1).phase).toBe("Baking");
    judge(run, "c1", "live", "all");
    round(run);
    expect(phases(run.run, 1)).toEqual(["Baked"]);
  });

  test("a target that is failing has failed, dip or not", () => {
    const run = baked(filtered);
    judge(run, "c1", "failing", "health");
    round(run);
    expect(phases(run.run, 1)).toEqual(["Failed"]);
  });
});

describe("limits", () => {
  const paused = (run: Bench) => {
    judge(run, "c1", "pending", "health", "Its health is Suspended.");
    const seen = run.world.targets.get("hub/argocd/app-c1");
    if (seen?.assessment !== undefined) see(run, "c1", { assessment: { ...seen.assessment, clockStopped: true } });
  };

  test("progressDeadline stands still while a Rollout is paused, and waitingDeadline runs", () => {
    const run = bench(1);
    bring(run, 1, "merged");
    const deadline = epoch(batch(run.run, 1).targets[0]?.deadlineAt ?? "");
    paused(run);
    round(run);
    const since = run.now;
    round(run, 50 * MINUTE);
    expect(phases(run.run, 1)).toEqual(["Syncing"]);
    judge(run, "c1", "pending");
    round(run);
    expect(epoch(batch(run.run, 1).targets[0]?.deadlineAt ?? "")).toBe(deadline + run.now - since);
    paused(run);
    round(run);
    round(run, 60 * MINUTE);
    expect(run.run).toMatchObject({ phase: "Paused", paused: { kind: "Waiting" } });
  });

  test("a Rollout that pauses while its target bakes is not unhealthy, and the bake waits for it", () => {
    const run = bench(1, [{ bakeMs: 5 * MINUTE }]);
    bring(run, 1, "confirmed");
    paused(run);
    round(run, 6 * MINUTE);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Baking", bake: { restarts: 0 } });
    judge(run, "c1", "live", "all");
    round(run);
    expect(run.run.phase).toBe("Succeeded");
  });

  test("what is not seen in time says how Argo CD would hear of it", () => {
    const run = bench(1);
    bring(run, 1, "merging");
    merged(run, 1);
    judge(run, "c1", "pending", "compared");
    round(run);
    judge(run, "c1", "pending", "compared");
    round(run, 15 * MINUTE);
    expect(run.run.paused?.reason).toHaveCode("DEADLINE_PASSED");
  });

  test("a cluster whose clock is ahead gives no target more time", () => {
    const run = bench(1);
    bring(run, 1, "merging");
    merged(run, 1);
    judge(run, "c1", "pending", "health");
    const seen = run.world.targets.get("hub/argocd/app-c1");
    if (seen?.assessment !== undefined) see(run, "c1", { assessment: { ...seen.assessment, firstSeenAt: iso(run.now + 60 * MINUTE) } });
    round(run);
    expect(batch(run.run, 1).targets[0]?.deadlineAt).toBe(iso(run.now + 15 * MINUTE));
  });

  test("the time of the comparison that first showed the change is kept as the cluster dated it", () => {
    const run = bench(1);
    bring(run, 1, "merging");
    merged(run, 1);
    judge(run, "c1", "pending", "reconciled");
    const seen = run.world.targets.get("hub/argocd/app-c1");
    const firstComparedAt = iso(run.now + 3 * SECOND);
    if (seen?.assessment !== undefined)
      see(run, "c1", { assessment: { ...seen.assessment, firstSeenAt: firstComparedAt, firstComparedAt } });
    round(run);
    const [target] = batch(run.run, 1).targets;
    expect([target?.firstSeenAt, target?.firstComparedAt]).toEqual([iso(run.now), firstComparedAt]);
  });

  test("a cluster that gives no sign of life once restarts no bake", () => {
    const run = bench(1, [{ bakeMs: 5 * MINUTE }]);
    bring(run, 1, "merged");
    judge(run, "c1", "live");
    round(run);
    const clusterAnswer = { at: MERGED, failed: "dial tcp: i/o timeout" };
    const { verdict, clause } = assess(input({ application: { ...application(), clusterAnswer }, kept: {} }));
    judge(run, "c1", verdict, clause);
    round(run, MINUTE);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Baking", bake: { restarts: 0 } });
  });

  test("a cluster that gives none for the whole grace begins the bake anew: a bake is time in which it was heard of", () => {
    const run = bench(1, [{ bakeMs: 5 * MINUTE }]);
    bring(run, 1, "merged");
    judge(run, "c1", "live");
    round(run);
    const clusterAnswer = { at: iso(Date.parse(MERGED) + 2 * MINUTE), since: MERGED, failed: "dial tcp: i/o timeout" };
    const { verdict, clause } = assess(input({ application: { ...application(), clusterAnswer }, kept: {} }));
    judge(run, "c1", verdict, clause);
    round(run, MINUTE);
    expect([verdict, batch(run.run, 1).targets[0]?.phase]).toEqual(["lost", "Syncing"]);
    judge(run, "c1", "live");
    round(run, MINUTE);
    expect(batch(run.run, 1)).toMatchObject({ phase: "Baking", bake: { restarts: 1 } });
  });

  test("a pin that Argo CD has seen changed pauses the run and names the commit, though the base has it right again", () => {
    const run = bench(1);
    bring(run, 1, "merged");
    judge(run, "c1", "waiting", "revision", "Argo CD has seen d4d4d4d.");
    const seen = run.world.targets.get("hub/argocd/app-c1");
    const changedBy = "d4".repeat(20);
    if (seen?.assessment !== undefined) see(run, "c1", { assessment: { ...seen.assessment, changedBy } });
    round(run);
    expect(run.run).toMatchObject({
      phase: "Paused",
      paused: { kind: "Drift", reason: expect.toHaveCode("OTHER_CHANGE_SEEN", { commit: "d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4" }) },
    });
  });

  test("a bake restarts three times, then the target has failed", () => {
    const run = bench(1, [{ bakeMs: 30 * MINUTE }]);
    bring(run, 1, "confirmed");
    for (let restart = 1; restart <= 3; restart++) {
      judge(run, "c1", "pending", "health");
      round(run);
      judge(run, "c1", "live", "all");
      round(run);
      expect(batch(run.run, 1).bake?.restarts).toBe(restart);
    }
    pull(run, 1);
    judge(run, "c1", "pending", "health");
    round(run);
    expect(phases(run.run, 1)).toEqual(["Failed"]);
  });
});
