import { expect, test } from "vitest";
import { sampleRollout } from "../../test/support/sample-run.ts";
import { planRules } from "./plan-rules.ts";

/** A Monday, nine o'clock UTC. */
const NOW = Date.UTC(2026, 0, 5, 9, 0, 0);
const OFFICE = { schedule: "0 14 * * 1-5", durationMs: 4 * 3_600_000, timeZone: "UTC", kind: "allow" as const };

test("a rollout that sets none of them has no list of rules", () => {
  expect(planRules(sampleRollout(), { now: NOW })).toBe("");
});

test("a plan says windows with their next opening, dependencies, limits, growing batches, failures, joiners and quarantine", () => {
  const [canary, rest] = sampleRollout().stages;
  if (canary === undefined || rest === undefined) throw new Error("no stages");
  const rollout = sampleRollout({
    windows: [OFFICE],
    dependsOn: [{ rollout: "ledger", atLeast: "v2.0.0" }],
    onFailure: { action: "Rollback", maxFailures: { percent: 5 } },
    rollback: { maxUnavailable: { percent: 50 }, skipBake: true },
    joiners: "Hold",
    quarantine: { max: { count: 3 }, onReturn: "Skip" },
    onNewRelease: "Queue",
    stages: [canary, { ...rest, grow: { start: 1, factor: 2 }, maxUnavailable: { percent: 25 } }],
  });
  const text = planRules(rollout, { now: NOW, limits: { clusters: 10, label: { key: "region", percent: 30 } } });
  for (const words of [
    "Windows: allow `0 14 * * 1-5` for 4h (UTC); closed now, next open 14:00:00 UTC.",
    "Each cluster waits for `ledger` there, at least `v2.0.0`.",
    "In flight at once over all rollouts of the repo: at most 10 clusters, 30% of the clusters of one `region`.",
    "Batches of everywhere else grow: 1, then times 2 after each in which nothing failed, up to 25%.",
    "More than 5% failed clusters: it is rolled back.",
    "A rollback goes by 50% at once, without bakes.",
    "Clusters that appear during the run are asked about.",
    "Clusters that cannot be reached are left out, at most 3; also where they come back.",
    "`onNewRelease: Queue`",
  ])
    expect(text).toContain(words);
  expect(planRules(rollout, { now: NOW + 6 * 3_600_000 })).toContain("open now, until 18:00:00 UTC at the earliest");
});
