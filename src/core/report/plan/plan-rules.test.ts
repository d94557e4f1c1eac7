import { expect, test } from "vitest";
import { samplePlan, sampleRollout } from "../../../../test/support/sample-run.ts";
import { planRules } from "./plan-rules.ts";
import { gatesOfStages } from "./plan-stages.ts";

/** A Monday, nine o'clock UTC. */
const NOW = Date.UTC(2026, 0, 5, 9, 0, 0);
const OFFICE = { schedule: "0 14 * * 1-5", durationMs: 4 * 3_600_000, timeZone: "UTC", kind: "allow" as const };

const PROD = { selector: { matchLabels: { env: "prod" }, matchExpressions: [] }, clusters: 2 };

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
    inventory: { file: "fleet/clusters.yaml" },
    quarantine: { max: { count: 3 }, onReturn: "Skip" },
    onNewRelease: "Queue",
    delivery: { ...sampleRollout().delivery, ahead: false },
    stages: [
      canary,
      { ...rest, grow: { start: 1, factor: 2 }, maxUnavailable: { percent: 25 }, windows: [{ ...OFFICE, schedule: "0 16 * * 2" }] },
    ],
  });
  const text = planRules(rollout, { now: NOW, limits: { clusters: 10, label: { key: "region", percent: 30 }, selected: [PROD] } });
  for (const words of [
    "Windows: allow `0 14 * * 1-5` for 4h (UTC); closed now, next open 14:00:00 UTC.",
    "Each cluster waits for `ledger` there, at least `v2.0.0`.",
    "In flight at once over all rollouts of the repo: at most 10 clusters, 30% of the clusters of one `region`; 2 clusters where `env=prod`.",
    "Windows of everywhere else, besides: allow `0 16 * * 2` for 4h (UTC); closed now, next open 2026-01-06 16:00:00 UTC.",
    "Batches of everywhere else grow: 1, then times 2 after each in which nothing failed, up to 25%.",
    "More than 5% failed clusters: it is rolled back.",
    "A rollback goes by 50% at once, without bakes.",
    "Clusters are those of `fleet/clusters.yaml`, as it is on the base branch at the time.",
    "Clusters that appear during the run are asked about.",
    "Clusters that cannot be reached are left out, at most 3; also where they come back.",
    "`onNewRelease: Queue`",
    "A batch's pull request is opened in its turn, never ahead.",
  ])
    expect(text).toContain(words);
  expect(planRules(rollout, { now: NOW + 6 * 3_600_000 })).toContain("open now, until 18:00:00 UTC at the earliest");
});

test("a plan says for whom each window and limit is, and which of its stages have one", () => {
  const { selector } = PROD;
  const rollout = sampleRollout({
    windows: [OFFICE, { ...OFFICE, kind: "deny", schedule: "0 0 * * 5", selector, stages: ["canary"] }],
    limits: { targets: 1, selected: [{ ...PROD, stages: ["canary", "everywhere else"] }] },
  });
  const text = planRules(rollout, { now: NOW, limits: { selected: [{ rollouts: ["payments"], stages: ["canary"], clusters: 3 }] } });
  for (const words of [
    "Windows: allow `0 14 * * 1-5` for 4h (UTC); closed now, next open 14:00:00 UTC.",
    "Windows where `env=prod` in stage canary: deny `0 0 * * 5` for 4h (UTC); open now",
    "In flight at once over all rollouts of the repo: at most 3 clusters in stage canary of rollout payments.",
    "In flight at once of this rollout: at most 1 Application; 2 clusters where `env=prod` in stages canary, everywhere else.",
  ])
    expect(text).toContain(words);
  const some = sampleRollout({ windows: [{ ...OFFICE, stages: ["canary"] }] });
  expect(gatesOfStages(some, samplePlan()).map((gates) => gates.includes("windows"))).toEqual([true, false]);
});

test("a plan says which freezes of the repo and the server it goes by, each scope by itself, and none that are for others", () => {
  const file = { kind: "File" as const, file: ".github/stagecoach.yaml" };
  const friday = { ...OFFICE, kind: "deny" as const, schedule: "0 0 * * 5", where: file };
  const now = { ...OFFICE, kind: "deny" as const, schedule: "0 8 * * 1", where: file };
  const freezes = [
    { ...friday, selector: PROD.selector, stages: ["canary"] },
    { ...now, rollouts: ["payments"] },
    { ...friday, rollouts: ["ledger"] },
    { ...friday, stages: ["elsewhere"] },
    { ...friday, where: { kind: "Server" as const } },
  ];
  const limits = { selected: [{ rollouts: ["ledger"], clusters: 3 }] };
  expect(
    planRules(sampleRollout(), { now: NOW, freezes, limits })
      .split("\n")
      .filter((line) => line.startsWith("- ")),
  ).toEqual([
    "- Freezes of the repo where `env=prod` in stage canary: deny `0 0 * * 5` for 4h (UTC); open now, until 2026-01-09 00:00:00 UTC at the earliest.",
    "- Freezes of the repo of rollout payments: deny `0 8 * * 1` for 4h (UTC); closed now, next open 12:00:00 UTC.",
    "- Freezes of the server: deny `0 0 * * 5` for 4h (UTC); open now, until 2026-01-09 00:00:00 UTC at the earliest.",
  ]);
});

test("a plan says in which order clusters go, what keeps them apart, and when one counts as live and as failed, where that is not the usual", () => {
  const [canary, rest] = sampleRollout().stages;
  if (canary === undefined || rest === undefined) throw new Error("no stages");
  const rollout = sampleRollout({
    settleMs: 5000,
    graceMs: 120_000,
    seenDeadlineMs: 1_800_000,
    waitingDeadlineMs: 3_600_000,
    flap: { ignoreMs: 30_000, most: 3, windowMs: 600_000 },
    suspended: "Accept",
    proof: "revision",
    stages: [
      { ...canary, order: { by: "label", key: "priority" }, progressDeadlineMs: 1_200_000, topologyKey: "zone" },
      { ...rest, order: { by: "seeded", seed: "x" }, pairs: [["a", "b"]], batching: "Rolling" },
    ],
  });
  const text = planRules(rollout, { now: NOW });
  for (const words of [
    "Clusters of canary: by label `priority`; never two of one `zone` at once.",
    "Clusters of everywhere else: in an order that looks random, the same for one seed; never two of a pair at once (1 of them); the next as soon as there is room (`batching: Rolling`).",
    "A cluster is live once it held still for 5s; failing after 2m in a bad state; failed where its change is not seen within 30m; in canary healthy within 20m; a person is asked after 1h of waiting; dips under 30s are passed over, 3 within 10m; what is paused counts as healthy; the revision that Argo CD shows is proof enough.",
  ])
    expect(text).toContain(words);
});

test("a plan says of each stage what it waits for: approvals, bake, analysis, hooks, the wait before each merge", () => {
  const [canary, rest] = sampleRollout().stages;
  if (canary === undefined || rest === undefined) throw new Error("no stages");
  const hook = { url: "https://changes.example.com", timeoutMs: 10_000 };
  const templates = [{ templateName: "webcheck", clusterScope: false }];
  const stages = [
    {
      ...canary,
      approval: { teams: ["sre"], count: 2, notBy: ["author" as const, "merger" as const] },
      jitterMs: 300_000,
      sync: "Request" as const,
      hooks: { before: [hook], after: [hook], onFailure: [] },
    },
    { ...rest, analysis: { templates, args: [], when: ["Background" as const] } },
  ];
  expect(gatesOfStages(sampleRollout({ stages }), samplePlan())).toEqual([
    [
      "health",
      "2 approvals of sre, not by who merged it",
      "Argo CD is asked to sync",
      "bake 10m",
      "hooks before",
      "hooks after",
      "up to 5m apart",
    ],
    ["health", "analysis webcheck (Background)"],
  ]);
});

test("a plan says what the base branch asks of every batch", () => {
  const base = { branch: "main", checks: ["ci/test"], queue: false, strict: true };
  expect(planRules(sampleRollout(), { now: NOW, base })).toContain(
    "Each batch, by the rules of `main`: waits for the check `ci/test`; is built again whenever the branch moves",
  );
  expect(planRules(sampleRollout(), { now: NOW, base: { ...base, queue: true } })).toContain("goes through the merge queue");
  expect(planRules(sampleRollout(), { now: NOW, base: { ...base, checks: [], strict: false } })).toBe("");
});

test("of inventory files, one for each control plane, all are named", () => {
  const text = planRules(sampleRollout({ inventory: { files: { eu: "fleet/eu.yaml", us: "fleet/us.yaml" } } }), { now: NOW });
  expect(text).toContain("Clusters are those of `fleet/eu.yaml`, `fleet/us.yaml`, as they are on the base branch at the time.");
});

test("where Applications or namespaces are counted the rules are said of these", () => {
  const stages = sampleRollout().stages.map((stage) => ({ ...stage, topologyKey: "zone" }));
  const quarantine = { max: { count: 1 }, onReturn: "CatchUp" as const };
  const rules = (targetBy: "application" | "namespace") =>
    planRules(sampleRollout({ stages, quarantine, joiners: "Hold", targetBy }), { now: NOW });
  expect(rules("application")).toContain("Applications of canary: never two of one `zone` at once.");
  expect(rules("application")).toContain(
    "Applications on clusters that cannot be reached are left out, at most 1; caught up once they are back.",
  );
  expect(rules("namespace")).toContain("Namespaces that appear during the run are asked about.");
});
