import type { VNode } from "preact";
import { describe, expect, test } from "vitest";
import { samplePlan, sampleRollout, sampleRun } from "../../../../test/support/sample-run.ts";
import { engineReason } from "../../../core/reasons/engine.ts";
import { said } from "../../../core/reasons/run.ts";
import { fleetOf, fleetReleases, fleetRollout, fleetUnread } from "../../../core/report/model/fleet.ts";
import { modelOf } from "../../../core/report/model/run-model.ts";
import type { Fleet, FleetRepository } from "../../../core/report/model/schema/fleet.ts";
import type { ReleasePull } from "../../../core/report/model/schema/plan.ts";
import { expectedDuration } from "../../../core/report/plan/duration.ts";
import { plannedRelease, planRoom, refusedPlan, unplannedOf } from "../../../core/report/plan/plan-model.ts";
import { FleetScreen } from "./fleet.tsx";
import { PlanScreen } from "./plan.tsx";
import { pageText } from "./testing/page-text.ts";
import { ClockContext } from "./times.tsx";

const NOW = Date.parse("2026-11-21T12:00:00.000Z");
const repository = "acme/config";
const url = "https://github.example/acme/config/pull/12";

const shown = (screen: VNode) => pageText(<ClockContext.Provider value={{ now: () => NOW }}>{screen}</ClockContext.Provider>);
const drawn = (of: Partial<Fleet>, q = "", state = "") =>
  shown(<FleetScreen of={{ ...EMPTY, ...of }} filter={{ q, state }} change={() => undefined} />);

const EMPTY = fleetOf({ isWhole: true, rollouts: [], releases: [], repositories: [] });
const PLACE: FleetRepository = { repository, attention: [], state: "Read", idle: [], idleCount: 0 };

const expected = expectedDuration(sampleRollout(), samplePlan(), {
  stages: new Map([["canary", [600_000, 900_000]]]),
  totals: [3_600_000],
});
const PULL: ReleasePull = {
  ...{ repository, pull: 12, title: "<b>Release</b> v1.4.2", author: "alice", head: "a".repeat(40), isFork: true },
  ...{ judgedAt: "2026-11-21T11:00:00.000Z", links: [{ name: "#12", url }] },
  planned: [
    plannedRelease(sampleRollout(), samplePlan(), "v1.4.1", { extras: { expected, against: ["**us-1** is frozen"] }, room: planRoom() }),
    refusedPlan([], "search"),
    unplannedOf("NotPlanned", engineReason("PLAN_OF_FORK")),
  ],
};

function rowOf(rollout: string, endedAt?: string) {
  const over = endedAt === undefined ? {} : { phase: "Succeeded" as const, endedAt };
  const why = said("waiting for #7 to merge");
  const run = sampleRun({ rollout, why, trigger: { ...sampleRun().trigger, pull: 3 }, ...over });
  return {
    ...fleetRollout(repository, run, modelOf(run, NOW), undefined),
    links: [{ name: "#3", url: "https://github.example/acme/config/pull/3" }],
  };
}

test("the fleet shows versions, what cannot be read, and open release PRs with their plans", async () => {
  const unread = fleetUnread(repository, { rollout: "search", run: 3, file: "runs/search/3/run.yaml", says: "it is no YAML" });
  const text = drawn({ rollouts: [rowOf("payments"), unread], releases: fleetReleases(PULL), repositories: [PLACE] });
  await expect(text).toMatchFileSnapshot("./__snapshots__/fleet.txt");
});

test("the plan of a release PR shows its stages, batches, gates and times, and what stands against it", async () => {
  const [planned] = PULL.planned;
  if (planned === undefined) throw new Error("it is planned");
  const { planned: _, ...pull } = PULL;
  const text = shown(<PlanScreen of={{ apiVersion: "stagecoach.dev/v1", kind: "Plan", ...pull, ...planned }} />);
  await expect(text).toMatchFileSnapshot("./__snapshots__/plan.txt");
});

test("a release, and its plan, count what their rollout counts", () => {
  const plan = { ...samplePlan(), warnings: [], targetBy: "application" as const };
  const planned = plannedRelease(sampleRollout(), plan, "v1.4.1", { extras: {}, room: planRoom() });
  expect(drawn({ releases: fleetReleases({ ...PULL, planned: [planned] }) })).toMatch(/\d Applications in \d+ batches/);
  const { planned: _, ...pull } = PULL;
  const unnamed = {
    ...planned,
    stages: planned.stages?.map((stage) => ({ ...stage, batches: stage.batches.map((one) => ({ ...one, clusters: [] })) })),
  };
  const text = shown(<PlanScreen of={{ apiVersion: "stagecoach.dev/v1", kind: "Plan", ...pull, ...unnamed }} />);
  expect(text).toMatch(/\d Applications/);
  expect(text).not.toMatch(/\d clusters/);
});

test("a run that failed and waits for a person counts as both, and stands once", () => {
  const at = "2026-11-21T11:00:00.000Z";
  const paused = { kind: "Failure", by: "", at, reason: said("us-1 failed"), ask: said("somebody acts") } as const;
  const run = sampleRun({ rollout: "search", phase: "Paused", why: said("us-1 failed"), paused });
  const rollouts = [rowOf("payments"), fleetRollout(repository, run, modelOf(run, NOW), undefined)];
  const text = drawn({ rollouts });
  expect(text).toContain("[Waits for a person 1]");
  expect(text).toContain("[Failing 1]");
  expect(text).toContain("Waits for a person 1, failing");
  expect(text.match(/r\/acme\/config\/search/g)).toHaveLength(1);
  const asked = drawn({ rollouts }, "", "Failing");
  expect(asked).toContain("/r/acme/config/search");
  expect(asked).not.toContain("/r/acme/config/payments");
});

test("a pull request that a row names leads to it", () => {
  const text = drawn({ rollouts: [rowOf("payments")] });
  expect(text).toContain("https://github.example/acme/config/pull/3");
  expect(text).toContain("https://github.example/acme/config/pull/7");
});

test("what was done last comes first, and what was done long before folds away but where somebody searches", () => {
  const rollouts = Array.from({ length: 14 }, (_unused, hour) =>
    rowOf(`r-${hour}`, `2026-11-21T${String(hour).padStart(2, "0")}:00:00.000Z`),
  );
  const named = (text: string) => [...text.matchAll(/\/r\/acme\/config\/(r-\d+)/g)].map(([, name]) => name);
  expect(named(drawn({ rollouts })).slice(0, 2)).toEqual(["r-13", "r-12"]);
  expect(drawn({ rollouts })).toContain("4 more, done before");
  expect(drawn({ rollouts }, "r-")).not.toContain("more, done before");
});

describe("where nothing is to be shown it says why", () => {
  const two = [PLACE, { ...PLACE, repository: "acme/other" }];
  test.each<[string, Partial<Fleet>]>([
    ["The App is installed on no repository yet. Install it on your config repo, and it appears here.", {}],
    ["There is no rollout here that GitHub shows you.", { isWhole: false }],
    ["The bot is still reading acme/other.", { repositories: [PLACE, { ...PLACE, repository: "acme/other", state: "Reading" }] }],
    ["acme/config: its journal cannot be read now. What is shown of it is from before.", { repositories: [{ ...PLACE, state: "Held" }] }],
    ["acme/config: the journal is not ours", { repositories: [{ ...PLACE, state: "Held", attention: ["the journal is not ours"] }] }],
    [
      "There is no rollout in acme/config, acme/other yet: add one below rollouts/, or merge the pull request that proposes one.",
      { repositories: two },
    ],
    [
      "No run yet of payments, search. Merge a release PR to start one.",
      { repositories: [{ ...PLACE, idle: ["payments", "search"], idleCount: 2 }] },
    ],
    ["No run had begun at that moment, as far as the journals know.", { at: "2026-11-21T09:00:00.000Z" }],
  ])("%s", (sentence, of) => {
    expect(drawn(of)).toContain(sentence);
    for (const other of ["No rollout is like that", "undefined"]) expect(drawn(of)).not.toContain(other);
  });

  test("No rollout is like that.", () => {
    expect(drawn({ rollouts: [rowOf("payments")] }, "nothing like it")).toContain("No rollout is like that.");
  });
});
