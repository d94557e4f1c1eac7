import { expect, test } from "vitest";
import { samplePlan, sampleRollout } from "../../../test/support/sample-run.ts";
import type { BranchRules } from "../../adapters/forge/port.ts";
import type { BareBranch } from "../../core/reasons/gates.ts";
import { parseRepoConfig } from "../../core/spec/parse/config.ts";
import { freezesOf, SETTINGS_FILE } from "../../core/spec/repo-config.ts";
import type { Rollout } from "../../core/spec/rollout.ts";
import type { Window } from "../../core/spec/windows.ts";
import { bindingOf } from "../../core/spec/windows-binding.ts";
import type { Snapshot } from "../config-repo/snapshot.ts";
import { silentLog } from "../round/context.ts";
import { openPlanWarnings, windowWarning } from "./outside-warnings.ts";

type Input = Parameters<typeof openPlanWarnings>[0];

function surroundings(teams: Record<string, boolean>, applications: string[] = [], failed: string[] = []): Input {
  const names = ["eu-1", "eu-2", "us-1", "far-1"];
  const plane = {
    name: "hub",
    state: () => ({ fresh: true, since: "2026-01-01T00:00:00.000Z" }),
    // Every Application follows the tag that the plan moves.
    application: () => ({ spec: { sources: [{ repoURL: "https://git.example/acme/app", targetRevision: "v1.4.1" }] } }),
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
    clock: { now: () => 0 },
    log: silentLog,
  } as unknown as Input;
}

function warned(
  input: Input,
  rollout: Rollout,
  rollouts: Rollout[],
  base?: Partial<BranchRules>,
  commit: string | null | "hidden" = "3f2a91c0de",
  codeowners = "* @acme/platform",
  bare: readonly BareBranch[] = [],
) {
  const rules = { of: async () => base && { ...NO_RULES, ...base }, bare: async () => bare };
  return openPlanWarnings(input, rules, async (named) => named.map((one) => ({ ...one, commit })))(
    rollout,
    samplePlan(),
    { project: { rollouts }, branch: "main" },
    { read: async (path: string) => (path === "CODEOWNERS" ? codeowners : null) } as unknown as Snapshot,
    () => [],
  );
}

const NO_RULES: BranchRules = {
  ...{ requiredChecks: [], strict: false, approvals: 0, mergeQueue: false },
  ...{ codeOwners: false, lastPushApproval: false, signatures: false },
};

const [first, ...rest] = sampleRollout().stages;

test("a team that nobody can be seen to be in is told; one without that member is not", async () => {
  if (first === undefined) throw new Error("no stage");
  const rollout = sampleRollout({ stages: [{ ...first, approval: { teams: ["sre", "srre"], count: 1 } }, ...rest] });
  const warnings = await warned(surroundings({ sre: false }), rollout, []);
  expect(warnings).toEqual([{ code: "TEAM_UNSEEN", teams: ["srre"] }]);
});

test("a dependency on a rollout that is on none of the clusters is told", async () => {
  const rollout = sampleRollout({ dependsOn: [{ rollout: "ledger", atLeast: "SameVersion" }] });
  const ledger = sampleRollout({ name: "ledger", source: { ...rollout.source, name: "ledger" } });
  const told = await warned(surroundings({}, ["far-1"]), rollout, [rollout, ledger]);
  expect(told.map((one) => one.code)).toEqual(["DEPENDS_NOWHERE"]);
  expect(await warned(surroundings({}, ["eu-1"]), rollout, [rollout, ledger])).toEqual([]);
});

test("clusters that quarantine would leave out now are named: connection failed, or labelled as stopped", async () => {
  const selector = { matchLabels: { stopped: "true" }, matchExpressions: [] };
  const rollout = sampleRollout({ quarantine: { max: { count: 1 }, onReturn: "CatchUp", selector } });
  const told = await warned(surroundings({}, [], ["eu-2", "far-1"]), rollout, []);
  expect(told).toEqual([{ code: "IN_QUARANTINE", clusters: ["eu-2", "us-1"] }]);
});

const OFFICE: Window = { schedule: "0 9 * * 1-5", durationMs: 8 * 3_600_000, timeZone: "UTC", kind: "allow" };

function shut(at: string, windows: Window[], settings: string | null = null, freezes: Window[] = []) {
  const { bounds } = parseRepoConfig(settings, SETTINGS_FILE);
  const rollout = sampleRollout({ windows });
  const clusters = new Map(
    samplePlan().stages.flatMap((stage) =>
      stage.clusters.map((key) => [key, { name: key, labels: { env: stage.name === "canary" ? "dev" : "prod" } }]),
    ),
  );
  const setsOf = bindingOf(rollout, freezesOf(bounds.freezes, freezes), (key) => clusters.get(key));
  return windowWarning(rollout, samplePlan(), setsOf, Date.parse(at));
}

test("a release in its window, or without one, is not warned about", () => {
  expect(shut("2026-11-23T10:00:00Z", [OFFICE])).toEqual([]);
  expect(shut("2026-11-22T10:00:00Z", [])).toEqual([]);
});

test("outside of it the warning says until when", () => {
  expect(shut("2026-11-22T10:00:00Z", [OFFICE])).toEqual([
    {
      code: "WINDOW_CLOSED",
      rule: { kind: "allow", schedule: "0 9 * * 1-5", timeZone: "UTC" },
      until: "2026-11-23T09:00:00.000Z",
    },
  ]);
});

test("windows and freezes that are never open together are warned about, also while the window is open", () => {
  const settings = "freezes:\n  - { schedule: '0 0 * * 1-5', duration: 24h, kind: deny }\n";
  expect(shut("2026-11-22T10:00:00Z", [OFFICE], settings)).toEqual([
    {
      code: "WINDOW_NEVER_OPENS",
      ...{ kind: "Apart", whose: [{ kind: "Rollout" }, { kind: "File", file: ".github/stagecoach.yaml" }] },
    },
  ]);
});

test("what is said is when all of them are open", () => {
  const settings = "freezes:\n  - { schedule: '0 0 * * 1', duration: 24h, kind: deny }\n";
  expect(shut("2026-11-22T10:00:00Z", [OFFICE], settings)[0]).toMatchObject({ until: "2026-11-24T09:00:00.000Z" });
});

test("freezes of the repo and of the server count, too", () => {
  const settings = "freezes:\n  - { schedule: '0 0 20 12 *', duration: 240h, timeZone: UTC, kind: deny }\n";
  expect(shut("2026-12-21T10:00:00Z", [], settings)[0]).toMatchObject({
    rule: { schedule: "0 0 20 12 *", kind: "deny" },
    until: "2026-12-30T00:00:00.000Z",
  });
  const freeze: Window = { ...OFFICE, kind: "deny" };
  expect(shut("2026-11-23T10:00:00Z", [], null, [freeze])).toHaveLength(1);
});

test("a freeze that never opens is named, not the window that is closed only now", () => {
  const settings = "freezes:\n  - { schedule: '0 0 * * *', duration: 24h, kind: deny }\n";
  expect(shut("2026-11-22T10:00:00Z", [OFFICE], settings)).toEqual([
    {
      code: "WINDOW_NEVER_OPENS",
      ...{ kind: "Shut", whose: [{ kind: "File", file: ".github/stagecoach.yaml" }] },
    },
  ]);
});

test("windows that change too often to be looked through are held until the next change", () => {
  const half: Window = { schedule: "0 * * * *", durationMs: 1_800_000, timeZone: "UTC", kind: "allow" };
  const freeze: Window = { ...half, schedule: "0 * * 1-11 *", kind: "deny" };
  expect(shut("2026-01-05T09:10:00Z", [half], null, [freeze])).toEqual([
    {
      code: "WINDOW_CLOSED",
      rule: { kind: "deny", schedule: "0 * * 1-11 *", timeZone: "UTC" },
      until: "2026-01-05T09:30:00.000Z",
    },
  ]);
});

test("what the base branch wants of every batch and only a person can give is told before the release is merged", async () => {
  const batches = samplePlan().stages.reduce((sum, stage) => sum + stage.batches.length, 0);
  const asks = { approvals: 1, codeOwners: true };
  const told = await warned(surroundings({}), sampleRollout({ mode: "Run" }), [], asks);
  const owners = { names: ["@acme/platform"], batches };
  expect(told).toEqual([{ code: "BASE_WANTS_PERSON", branch: "main", batches, reviews: 1, codeOwners: true, owners, lastPush: false }]);
  // Where people merge every batch anyway, and where the rules cannot be read, nothing is said.
  const manual = sampleRollout({ mode: "Run" });
  manual.delivery = { ...manual.delivery, merge: "Manual" };
  expect(await warned(surroundings({}), manual, [], asks)).toEqual([]);
  expect(await warned(surroundings({}), sampleRollout({ mode: "Run" }), [])).toEqual([]);
});

test("where code owners are wanted, those of the files that batches change are named, and nobody where nobody owns them", async () => {
  const rollout = sampleRollout({ mode: "Run" });
  const [batch] = samplePlan().stages.flatMap((stage) => stage.batches);
  const file = batch?.targets[0]?.edits[0]?.file ?? "";
  const told = async (codeowners: string) => await warned(surroundings({}), rollout, [], { codeOwners: true }, undefined, codeowners);
  expect(await told(`/${file} @eve\n`)).toMatchObject([{ code: "BASE_WANTS_PERSON", codeOwners: true, owners: { names: ["@eve"] } }]);
  expect(await told("/docs/ @eve\n")).toEqual([]);
  expect(await told(`* @eve\n/${file.split("/")[0]}\n`)).toEqual([]);
});

test("branches of ours that others may write to are told of where the bot merges by itself, and nowhere else", async () => {
  const bare: BareBranch[] = [{ branch: "stagecoach/journal", lacks: ["update"] }];
  const told = async (mode: Rollout["mode"]) => await warned(surroundings({}), sampleRollout({ mode }), [], {}, undefined, undefined, bare);
  expect(await told("Run")).toEqual([{ code: "BRANCHES_UNPROTECTED", bare }]);
  expect(await told("Propose")).toEqual([]);
});

test.each([
  { what: "whoever reports it", app: undefined, told: ["CHECK_UNBOUND"] },
  { what: "the App alone", app: 4711, told: [] },
])("a required check of ours that counts from $what", async ({ app, told }) => {
  const requiredChecks = [{ context: "ci" }, { context: "stagecoach/gate", ...(app === undefined ? {} : { app }) }];
  const warnings = await warned(surroundings({}), sampleRollout({ mode: "Run" }), [], { requiredChecks });
  expect(warnings.map(({ code }) => code)).toEqual(told);
});

test("a branch that takes signed commits only is told of where nobody signs the batches", async () => {
  const rollout = sampleRollout({ mode: "Run" });
  expect((await warned(surroundings({}), rollout, [], { signatures: true })).map(({ code }) => code)).toEqual(["BASE_WANTS_SIGNED"]);
  const signing = { ...surroundings({}), writer: {} } as unknown as Input;
  expect(await warned(signing, rollout, [], { signatures: true })).toEqual([]);
});

test("a tag that cannot be resolved beforehand is told with the reason, and one that can is not", async () => {
  const told = async (commit: string | null | "hidden") =>
    (await warned(surroundings({}), sampleRollout(), [], undefined, commit)).filter(({ code }) => code === "REVISION_UNRESOLVED");
  expect(await told("3f2a91c0de")).toEqual([]);
  const place = { code: "REVISION_UNRESOLVED", repo: "git.example/acme/app", revision: "v1.4.2" };
  expect(await told("hidden")).toEqual([{ ...place, kind: "Hidden" }]);
  expect(await told(null)).toEqual([{ ...place, kind: "Absent" }]);
});

test("what binds a later stage alone does not hold the first batch, and is told where it never opens", () => {
  const prod = "selector: { matchLabels: { env: prod } }";
  const frozen = `freezes:\n  - { schedule: '0 0 * * 1', duration: 24h, kind: deny, ${prod} }\n`;
  expect(shut("2026-11-23T10:00:00Z", [], frozen)).toEqual([]);
  expect(shut("2026-11-23T10:00:00Z", [], frozen.replace("env: prod", "env: dev"))[0]).toMatchObject({ until: "2026-11-24T00:00:00.000Z" });
  const apart = `freezes:\n  - { schedule: '0 0 * * 1-5', duration: 24h, kind: deny, ${prod} }\n`;
  expect(shut("2026-11-23T10:00:00Z", [OFFICE], apart)).toEqual([
    {
      code: "WINDOW_NEVER_OPENS",
      kind: "Apart",
      whose: [{ kind: "Rollout" }, { kind: "File", file: ".github/stagecoach.yaml", only: { selector: "env=prod" } }],
    },
  ]);
});
