import { describe, expect, test } from "vitest";
import { batchTarget, samplePlan, sampleRollout, sampleRun } from "../../../../test/support/sample-run.ts";
import { JournalFileError } from "../../../adapters/git/journal/read-run.ts";
import type { Fleet } from "../../../core/report/model/schema/fleet.ts";
import type { PlanDocument, ReleasePull } from "../../../core/report/model/schema/plan.ts";
import type { RunDocument } from "../../../core/report/model/schema/run.ts";
import type { RolloutVersions, Versions } from "../../../core/report/model/schema/versions.ts";
import { plannedRelease, planRoom, refusedPlan } from "../../../core/report/plan/plan-model.ts";
import type { Run } from "../../../core/run/state/run.ts";
import type { LookedAfter, WebSource } from "../source.ts";
import { apiApp } from "./routes.ts";
import { undescribed } from "./testing/described.ts";
import { hearing } from "./testing/hearing.ts";

const NOW = Date.parse("2026-11-21T12:00:00.000Z");
const clock = { now: () => NOW, after: () => () => undefined };
const HERE = { incoming: { socket: { remoteAddress: "127.0.0.1" }, headers: {} } };
const AWAY = { incoming: { socket: { remoteAddress: "10.0.0.9" }, headers: {} } };
const ROLLOUT = "/api/v1/repos/acme/config/rollouts/payments";
const AT = "?at=2026-11-21T09:01:00Z";

/** Run 41 ended before run 42 began at 09:00; its first batch merged at 09:00:30. */
const ENDED = sampleRun({ number: 41, phase: "Succeeded", startedAt: "2026-11-21T08:00:00.000Z", endedAt: "2026-11-21T08:30:00.000Z" });
const [first, ...later] = sampleRun().batches;
if (first === undefined) throw new Error("the sample has batches");
const merged = { commit: "c".repeat(40), at: "2026-11-21T09:00:30.000Z", by: "bot" };
const live = { ...batchTarget("eu-1", "Baked"), confirmedAt: "2026-11-21T09:00:50.000Z" };
const batches = [
  { ...first, merged, targets: [live, { ...batchTarget("eu-2", "Syncing") }] },
  ...later.map(({ merged: _, ...one }) => one),
];
const RUN: Run = { ...sampleRun({ startedAt: "2026-11-21T09:00:00.000Z" }), batches };

const PULL: ReleasePull = {
  ...{ repository: "acme/config", pull: 12, title: "v1.4.2", author: "alice", head: "a".repeat(40), isFork: false },
  ...{ judgedAt: "2026-11-21T11:00:00.000Z", links: [{ name: "#12", url: "https://github.example/acme/config/pull/12" }] },
  planned: [
    plannedRelease(sampleRollout(), samplePlan(), "v1.4.1", { extras: { rules: { now: NOW } }, room: planRoom() }),
    refusedPlan([], "search"),
  ],
};

const listed = (run: Run) =>
  ({
    ...run,
    recorded: [Date.parse(run.startedAt) + 1000],
    release: "v1.4.2",
    ...(run.endedAt !== undefined && { endedAt: run.endedAt }),
  }) as never;

const JOURNAL: ReturnType<NonNullable<WebSource["journal"]>> = {
  runs: async () => [],
  run: async (_, number) => (number === 42 ? RUN : number === 41 ? ENDED : undefined),
  log: async () => [],
  async stateAt(time, only) {
    const run = time < Date.parse(ENDED.startedAt) ? undefined : time < Date.parse(RUN.startedAt) ? ENDED : RUN;
    if (run === undefined) return undefined;
    const isMeant = only === undefined || (only.rollout === "payments" && (only.number ?? run.number) === run.number);
    const broken = new Map([["search", { run: 3, file: "runs/search/3/run.yaml", why: "no YAML" }]]);
    return { commit: "d".repeat(40), runs: new Map(isMeant ? [["payments", run]] : []), broken };
  },
  runsAround: async () => [listed(ENDED), listed(RUN)],
};

const PLACE: LookedAfter = { repository: "acme/config", state: "Read", idle: ["b", "a"], unread: [], releases: [PULL] };

function worldOf(more: Partial<WebSource> = {}, here: object = HERE) {
  let changed = () => undefined as unknown;
  const source: WebSource = {
    runs: () => [{ repository: "acme/config", run: RUN }],
    onChange: (listener) => {
      changed = listener;
      return () => undefined;
    },
    journal: (repository) => (repository === "acme/config" ? JOURNAL : undefined),
    repositories: () => [PLACE],
    ...more,
  };
  const app = apiApp(source, clock);
  return {
    app,
    changed: () => changed(),
    async get<T>(path: string, headers: Record<string, string> = {}): Promise<T> {
      const response = await app.request(path, { headers }, here);
      expect(await undescribed(path, response)).toBe(undefined);
      return (await response.json()) as T;
    },
  };
}

describe("the fleet", () => {
  test("has every version with how many targets have it, open release PRs, and what of its repositories is there", async () => {
    const { rollouts, releases, repositories, isWhole } = await worldOf().get<Fleet>("/api/v1/fleet");
    expect(rollouts.map(({ versions }) => versions)).toEqual([
      [
        { version: "v1.4.1", targets: 4, live: 0, failed: 0 },
        { version: "v1.4.2", targets: 2, live: 1, failed: 0 },
      ],
    ]);
    expect(releases.map(({ key, state, counts }) => [key, state, counts?.clusters])).toEqual([
      ["acme/config/payments/pulls/12", "Planned", 6],
      ["acme/config/search/pulls/12", "Refused", undefined],
    ]);
    expect([repositories, isWhole]).toEqual([
      [{ repository: "acme/config", attention: [], state: "Read", idle: ["a", "b"], idleCount: 2 }],
      true,
    ]);
  });

  test("tells of a run that cannot be read as such, and goes on with the others", async () => {
    const unread = [{ rollout: "search", run: 3, file: "runs/search/3/run.yaml", says: "no YAML" }];
    const { rollouts } = await worldOf({ repositories: () => [{ ...PLACE, unread }] }).get<Fleet>("/api/v1/fleet");
    expect(rollouts.map(({ key, group, says }) => [key, group, says])).toEqual([
      ["acme/config/search", "WaitsForYou", "runs/search/3/run.yaml: no YAML"],
      ["acme/config/payments", "Running", rollouts[1]?.says],
    ]);
  });

  test("tells whoever listens of a release PR that comes, changes, or goes, and of a repository that is read by now", async () => {
    let places: LookedAfter[] = [{ ...PLACE, state: "Reading", releases: [] }];
    const { app, get } = worldOf({ repositories: () => places });
    const heard = hearing(await app.request("/api/v1/events", {}, HERE));
    await heard.next();
    const next = async (to: LookedAfter[]) => {
      places = to;
      await get("/api/v1/fleet");
      const { data } = await heard.next();
      return data as { release?: { key: string }; releaseGone?: string; repository?: { state: string } };
    };
    expect((await next([{ ...PLACE, releases: [] }])).repository?.state).toBe("Read");
    const [one] = PULL.planned;
    if (one === undefined) throw new Error("it has a plan");
    expect((await next([{ ...PLACE, releases: [{ ...PULL, planned: [one] }] }])).release?.key).toBe("acme/config/payments/pulls/12");
    expect((await next([{ ...PLACE, releases: [] }])).releaseGone).toBe("acme/config/payments/pulls/12");
    expect((await next([])).repository?.state).toBe("Gone");
    await heard.close();
  });
});

test("the plan of an open release PR is the one that was judged, stage by stage", async () => {
  const { get, app } = worldOf();
  const plan = await get<PlanDocument>(`${ROLLOUT}/pulls/12`);
  expect([plan.kind, plan.pull, plan.title, plan.change]).toEqual(["Plan", 12, "v1.4.2", { from: "v1.4.1", to: "v1.4.2" }]);
  expect(plan.stages.map(({ name, batchCount }) => [name, batchCount])).toEqual([
    ["canary", 1],
    ["everywhere else", 2],
  ]);
  for (const path of [`${ROLLOUT}/pulls/13`, `${ROLLOUT}/pulls/0`, `${ROLLOUT.replace("payments", "other")}/pulls/12`])
    expect((await app.request(path, {}, HERE)).status).toBe(404);
});

describe("a moment that is over", () => {
  test("is shown as the journal had it: the fleet, the run that went on, and one by its number", async () => {
    const { get } = worldOf();
    const then = await get<Fleet>(`/api/v1/fleet${AT}`);
    expect([then.at, then.releases]).toEqual(["2026-11-21T09:01:00.000Z", []]);
    expect(then.rollouts.map(({ rollout, number, unread }) => [rollout, number, unread])).toEqual([
      ["search", 3, "runs/search/3/run.yaml"],
      ["payments", 42, undefined],
    ]);
    const before = await get<Fleet>("/api/v1/fleet?at=2026-11-21T08:59:59Z");
    expect(before.rollouts.find(({ rollout }) => rollout === "payments")?.number).toBe(41);
    const run = await get<RunDocument>(ROLLOUT + AT);
    expect([run.number, run.asOf, run.actions]).toEqual([42, "2026-11-21T09:01:00.000Z", []]);
    expect(JSON.stringify(run.children)).not.toContain('"verb"');
    expect((await get<RunDocument>(`${ROLLOUT}/runs/42${AT}`)).number).toBe(42);
  });

  test("says which version each target had, how that is known, and what happened around it", async () => {
    const { get } = worldOf();
    const { rollouts, moments } = await get<Versions>(`/api/v1/versions${AT}`);
    expect(rollouts.map(({ number, versions }) => [number, versions[0]?.version])).toEqual([[42, "v1.4.1"]]);
    expect(moments.map(({ number, what }) => [number, what])).toEqual([
      [41, "Began"],
      [41, "Ended"],
      [42, "Began"],
    ]);
    // It happened before it was recorded: as of then it is shown.
    expect([moments[2]?.at, moments[2]?.recordedAt]).toEqual([RUN.startedAt, "2026-11-21T09:00:01.000Z"]);
    const of = await get<RolloutVersions>(`${ROLLOUT}/versions${AT}`);
    expect(of.targets.map(({ cluster, version, known }) => [cluster, version, known]).slice(0, 3)).toEqual([
      ["eu-1", "v1.4.2", "Live"],
      ["eu-2", "v1.4.2", "Merged"],
      ["us-1", "v1.4.1", "InGit"],
    ]);
    expect(of.moments.map(({ what, batch }) => [what, batch])).toEqual([
      ["Began", undefined],
      ["Ended", undefined],
      ["Began", undefined],
      ["Merged", 1],
    ]);
    const earlier = await get<RolloutVersions>(`${ROLLOUT}/versions?at=2026-11-21T07:00:00Z`);
    expect([earlier.number, earlier.targets]).toEqual([undefined, []]);
  });

  test.each(["yesterday", "2026-11-21", "2026-11-21T09:00:00", "2027-01-01T00:00:00Z", "1e3", ""])("%s is none", async (at) => {
    const { app } = worldOf();
    for (const path of ["/api/v1/fleet", "/api/v1/versions", ROLLOUT, `${ROLLOUT}/versions`])
      expect((await app.request(`${path}?at=${encodeURIComponent(at)}`, {}, HERE)).status).toBe(400);
  });

  test("of before the journal there is nothing, and a journal that cannot be read is said to be so while the others are shown", async () => {
    const { get, app } = worldOf();
    expect((await app.request(`${ROLLOUT}?at=2026-11-21T07:00:00Z`, {}, HERE)).status).toBe(404);
    const early = await get<Versions>("/api/v1/versions?at=2026-11-21T07:00:00Z");
    expect([early.rollouts, early.unread]).toEqual([[], ["acme/config"]]);
    const lost = () => Promise.reject(new JournalFileError("index.yaml", { code: "JOURNAL_FORMAT_OLD" }));
    const broken = { ...JOURNAL, stateAt: lost, runsAround: lost };
    const runs = () => ["acme/config", "acme/other"].map((repository) => ({ repository, run: RUN }));
    const two = worldOf({ runs, journal: (repository) => (repository === "acme/other" ? broken : JOURNAL) });
    const { rollouts, repositories } = await two.get<Fleet>(`/api/v1/fleet${AT}`);
    expect([rollouts.length, repositories.map(({ repository, state }) => [repository, state])]).toEqual([
      2,
      [
        ["acme/config", "Read"],
        ["acme/other", "Held"],
      ],
    ]);
  });

  test("is kept once nothing more can come to it; one that has just passed is read anew", async () => {
    let reads = 0;
    const journal: typeof JOURNAL = {
      ...JOURNAL,
      async stateAt(...given) {
        reads += 1;
        return await JOURNAL.stateAt(...given);
      },
    };
    const { get } = worldOf({ journal: () => journal });
    for (const at of [AT, AT, "?at=2026-11-21T11:59:30Z", "?at=2026-11-21T11:59:30Z"]) await get<Fleet>(`/api/v1/fleet${at}`);
    expect(reads).toBe(3);
  });

  test("shows nobody what is another's, nor plans", async () => {
    const headers = { authorization: "Bearer ghp_0123456789" };
    const { get, app } = worldOf({ sightOf: async () => "unseen" }, AWAY);
    const fleet = await get<Fleet>(`/api/v1/fleet${AT}`, headers);
    expect([fleet.rollouts, fleet.repositories, fleet.isWhole]).toEqual([[], [], false]);
    expect(await get<Fleet>("/api/v1/fleet", headers)).toMatchObject({ rollouts: [], releases: [], repositories: [], isWhole: false });
    expect(await get<Versions>("/api/v1/versions", headers)).toMatchObject({ rollouts: [], moments: [], unread: [] });
    for (const path of [ROLLOUT + AT, `${ROLLOUT}/runs/42${AT}`, `${ROLLOUT}/versions`, `${ROLLOUT}/pulls/12`])
      expect((await app.request(path, { headers }, AWAY)).status).toBe(404);
  });
});
