import { expect, test } from "vitest";
import { samplePlan, sampleRollout } from "../../../test/support/sample-run.ts";
import { silentLog } from "../round/context.ts";
import { gateWarnings } from "./plan-check-gates.ts";

type Input = Parameters<typeof gateWarnings>[0];

function surroundings(teams: Record<string, boolean>, applications: string[] = [], failed: string[] = []): Input {
  const names = ["eu-1", "eu-2", "us-1", "far-1"];
  const plane = {
    name: "hub",
    state: () => ({ fresh: true, since: "2026-01-01T00:00:00.000Z" }),
    clusters: () =>
      names.map((name) => ({
        name,
        server: `https://${name}`,
        labels: name === "us-1" ? { stopped: "true" } : {},
        registered: true,
        connection: { status: failed.includes(name) ? "Failed" : "Successful", message: "" },
      })),
    applications: () =>
      applications.map((cluster) => ({
        name: `ledger-${cluster}`,
        namespace: "argocd",
        labels: {},
        owner: { kind: "ApplicationSet", name: "ledger" },
        spec: { destination: { name: cluster }, sources: [] },
      })),
  };
  return {
    forge: { inTeam: async (team: string) => teams[team] },
    planes: new Map([["hub", plane]]),
    log: silentLog,
  } as unknown as Input;
}

const [first, ...rest] = sampleRollout().stages;

test("a team that nobody can be seen to be in is told; one without that member is not", async () => {
  if (first === undefined) throw new Error("no stage");
  const rollout = sampleRollout({ stages: [{ ...first, approval: { teams: ["sre", "srre"], count: 1 } }, ...rest] });
  const warnings = await gateWarnings(surroundings({ sre: false }), rollout, samplePlan(), { project: { rollouts: [], problems: [] } });
  expect(warnings).toEqual([{ code: "TEAM_UNSEEN", teams: ["srre"] }]);
});

test("a dependency on a rollout that is on none of the clusters is told", async () => {
  const rollout = sampleRollout({ dependsOn: [{ rollout: "ledger", atLeast: "SameVersion" }] });
  const ledger = sampleRollout({ name: "ledger", source: { ...rollout.source, name: "ledger" } });
  const project = { rollouts: [rollout, ledger], problems: [] };
  const told = await gateWarnings(surroundings({}, ["far-1"]), rollout, samplePlan(), { project });
  expect(told.map((one) => one.code)).toEqual(["DEPENDS_NOWHERE"]);
  expect(await gateWarnings(surroundings({}, ["eu-1"]), rollout, samplePlan(), { project })).toEqual([]);
});

test("clusters that quarantine would leave out now are named: connection failed, or labelled as stopped", async () => {
  const selector = { matchLabels: { stopped: "true" }, matchExpressions: [] };
  const rollout = sampleRollout({ quarantine: { max: { count: 1 }, onReturn: "CatchUp", selector } });
  const told = await gateWarnings(surroundings({}, [], ["eu-2", "far-1"]), rollout, samplePlan(), {
    project: { rollouts: [], problems: [] },
  });
  expect(told).toEqual([{ code: "IN_QUARANTINE", clusters: ["eu-2", "us-1"] }]);
});
