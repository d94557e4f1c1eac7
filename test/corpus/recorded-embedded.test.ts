/** The embedded Argo CD beside the real one: what was seen in the recording is seen in it, too. */
import { afterEach, describe, expect, test } from "vitest";
import { type TestWorld, testWorld } from "../../src/sim/argocd/testing/world.ts";
import { type Application, asApplication } from "../../src/sim/argocd/types.ts";
import { eventsOf, isRecordedHere, recorded } from "./recorded.ts";

if (!isRecordedHere) console.log("skipped: the embedded Argo CD beside the real one, since ../shared/data/argocd/recorded is not there");

let world: TestWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

type States = readonly Application[];

function real(file: string, application: string, [from, to] = ["00:00:00", "23:59:59"]): States {
  const events = eventsOf(recorded(file), application);
  return events.filter(({ at }) => at.slice(11) >= from && at.slice(11) <= to).map(({ object }) => asApplication(object as never));
}

async function begin(names: readonly string[] = ["a"]): Promise<TestWorld> {
  world = await testWorld(
    { "app/deployment.yaml": "image: app:v1\n", "dry/web.yaml": "image: app:v1\n" },
    { clusters: [{ name: "eu-1" }] },
  );
  for (const name of names) world.create(name);
  return world;
}

const isLive = ({ status, operation }: Application) =>
  status?.sync?.status === "Synced" && status.health?.status === "Healthy" && operation === undefined;

const seconds = (time: string | undefined) => Date.parse(time ?? "") / 1000;

/** How long it is between the ends of tries. */
function pauses(states: States): number[] {
  const ends = new Map<number, number>();
  for (const { status } of states) {
    const { retryCount = 0, finishedAt } = status?.operationState ?? {};
    if (retryCount > 0 && finishedAt !== undefined && !ends.has(retryCount)) ends.set(retryCount, seconds(finishedAt));
  }
  return [1, 2].map((count) => Math.round(((ends.get(count + 1) ?? Number.NaN) - (ends.get(count) ?? Number.NaN)) / 10) * 10);
}

/** What stands in the status while the Git server does not answer. */
function blip(states: States) {
  const one = states.find(({ status }) => status?.conditions?.some(({ type }) => type === "ComparisonError"));
  return { ...one?.status?.sync, comparedTo: undefined, health: one?.status?.health?.status };
}

/** Sync and health of full comparisons. */
const comparisons = (states: States) => [
  ...new Set(states.map(({ status }) => `${status?.reconciledAt} ${status?.sync?.status} ${status?.health?.status}`)),
];

/** The steps of a hydration, each once. */
function hydration(states: States, [old, dry]: readonly [string, string]): string[] {
  const said = states.map(({ status }) => {
    const { currentOperation: current, lastComparedDryRevision: compared, lastSuccessfulOperation: last } = status?.sourceHydrator ?? {};
    const is = (sha: string | undefined) => (sha === dry ? "new" : sha === old ? "old" : "none");
    return `${current?.phase} compared ${is(compared)} last ${is(last?.drySHA)} ${status?.sync?.status}`;
  });
  return said.filter((one, index) => one !== said[index - 1]);
}

describe.skipIf(!isRecordedHere)("as the real one", () => {
  test("tries again after 10 s, then after 20", async () => {
    const { argo, repo, ...now } = await begin();
    await now.until("it is live", () => isLive(now.app("a")));
    argo.setFault("eu-1", { kind: "unreachable" });
    await repo.commit({ "app/deployment.yaml": "image: app:v2\n" });
    argo.notifyPush({ repoURLs: [repo.url], ref: "refs/heads/main" });
    await now.until("three tries", () => (now.app("a").status?.operationState?.retryCount ?? 0) >= 3);
    expect(pauses(real("watch", "lab-c4", ["08:52:28", "08:53:13"]))).toEqual([10, 20]);
    expect(pauses(now.states("a"))).toEqual([10, 20]);
  });

  test("a refresh while Git does not answer leaves Unknown, the name as revision, and health as it was", async () => {
    const { argo, ...now } = await begin();
    await now.until("it is live", () => isLive(now.app("a")));
    argo.setRepoDown(true);
    now.edit("a", (app) => ({ ...app, metadata: { ...app.metadata, annotations: { "argocd.argoproj.io/refresh": "normal" } } }));
    await now.until("the error", () => now.app("a").status?.conditions !== undefined);
    const expected = { status: "Unknown", revision: "main", health: "Healthy" };
    expect(blip(real("watch", "lab-ok", ["09:07:46", "09:08:30"]))).toMatchObject(expected);
    expect(blip(now.states("a"))).toMatchObject(expected);
  });

  test("a cluster that is gone stays Synced and Healthy in comparisons that go on", async () => {
    const { argo, ...now } = await begin();
    await now.until("it is live", () => isLive(now.app("a")));
    argo.setFault("eu-1", { kind: "unreachable" });
    const before = now.states("a").length;
    await now.pass(400_000);
    for (const states of [real("watch", "lab-c4", ["08:52:09", "08:52:28"]), now.states("a").slice(before)]) {
      expect(comparisons(states).length).toBeGreaterThan(0);
      expect(comparisons(states).filter((one) => !one.endsWith("Synced Healthy"))).toEqual([]);
    }
  });

  test("a shortened id is shown in full once, and as it is written from then on", async () => {
    const { repo, ...now } = await begin([]);
    const targetRevision = (await repo.git("rev-parse", "main")).slice(0, 8);
    now.create("a", { source: { repoURL: repo.url, targetRevision, path: "app" } });
    await now.until("it is live", () => isLive(now.app("a")));
    await now.pass(400_000);
    const lengths = (states: States) => [...new Set(states.map(({ status }) => status?.sync?.revision?.length ?? 0))].filter(Boolean);
    expect(lengths(real("watch", "lab-short", ["08:50:18", "09:07:00"]))).toEqual([40, 8]);
    expect(lengths(now.states("a"))).toEqual([40, 8]);
  });

  const HYDRATION = [
    "Hydrated compared old last old Synced",
    "Hydrated compared new last old Synced",
    "Hydrating compared new last old Synced",
    "Hydrated compared new last new Synced",
  ];

  test("what it compared is written down before it hydrates, and only the sync comes after", async () => {
    const { argo, repo, ...now } = await begin([]);
    const drySource = { repoURL: repo.url, targetRevision: "main", path: "dry" };
    now.create("a", { source: undefined, sourceHydrator: { drySource, syncSource: { targetBranch: "env/a", path: "a" } } });
    await now.until("it is live", () => isLive(now.app("a")));
    const before = now.states("a").length;
    const old = await repo.git("rev-parse", "main");
    const dry = await repo.commit({ "dry/web.yaml": "image: app:v2\n" });
    argo.notifyPush({ repoURLs: [repo.url], ref: "refs/heads/main" });
    await now.until("it is hydrated", () => now.app("a").status?.sourceHydrator?.lastSuccessfulOperation?.drySHA === dry);
    const shas = ["e8ef8fe6c511f8808f09a31e571a1b7658d6ab93", "3e0766d1486882bb51cef0a34953b79b2c1118dc"] as const;
    expect(hydration(real("hydrator", "h8", ["09:52:00", "09:52:12.3"]), shas)).toEqual(HYDRATION);
    expect(hydration(now.states("a").slice(before - 1), [old, dry])).toEqual(HYDRATION);
  });

  test("the second one of a branch is called hydrated, and its path stays as it was", async () => {
    const { repo, ...now } = await begin([]);
    await repo.git("tag", "dry-1", "main");
    const spec = (name: string, targetRevision: string) => ({
      drySource: { repoURL: repo.url, targetRevision, path: "dry" },
      syncSource: { targetBranch: "env/shared", path: name },
    });
    for (const name of ["a", "b"]) now.create(name, { source: undefined, sourceHydrator: spec(name, "dry-1") });
    await now.until("both are live", () => isLive(now.app("a")) && isLive(now.app("b")));
    const dry = await repo.commit({ "dry/web.yaml": "image: app:v2\n" });
    await repo.git("tag", "dry-2", dry);
    for (const name of ["a", "b"]) {
      now.edit(name, (app) => ({ ...app, spec: { ...app.spec, sourceHydrator: spec(name, "dry-2") } }));
      await now.until("it is called hydrated", () => now.app(name).status?.sourceHydrator?.lastSuccessfulOperation?.drySHA === dry);
      await now.pass(60_000);
    }
    const last = real("hydrator", "shared-b").at(-1);
    for (const app of [last, now.app("b")]) {
      expect(app?.status?.sync).toMatchObject({
        status: "Synced",
        revision: app?.status?.sourceHydrator?.lastSuccessfulOperation?.hydratedSHA,
      });
    }
    expect(await repo.git("show", `${now.app("b").status?.sync?.revision}:a/hydrator.metadata`)).toContain(dry);
    expect(await repo.git("show", `${now.app("b").status?.sync?.revision}:b/hydrator.metadata`)).not.toContain(dry);
  });
});

test("chart versions 1, 1.10 and v4.5 are looked for by their very text", async () => {
  const { repo: _, ...now } = await begin([]);
  for (const [index, targetRevision] of ["1", "1.10", "v4.5"].entries()) {
    now.create(`chart-${index}`, { source: { repoURL: "https://charts.example.com", chart: "web", targetRevision } });
    await now.until("it is live", () => isLive(now.app(`chart-${index}`)));
    expect(now.app(`chart-${index}`).status?.sync?.revision).toBe(targetRevision);
  }
});

test("the revision of a `$ref` source is looked up in a second call: it is shown, Synced, though what was rendered is of before", async () => {
  const { repo, ...now } = await begin([]);
  const helm = { valueFiles: ["$values/app/deployment.yaml"] };
  const sources = [
    { repoURL: "https://charts.example.com", chart: "web", targetRevision: "1", helm },
    { repoURL: repo.url, ref: "values", targetRevision: "main" },
  ];
  now.create("a", { source: undefined, sources });
  await now.until("it is live", () => isLive(now.app("a")));
  // Somewhere among these moments the manifests are made, and the comparison is not written yet.
  for (const ms of [40, 42, 44, 46, 48]) {
    now.edit("a", (app) => ({ ...app, metadata: { ...app.metadata, annotations: { "argocd.argoproj.io/refresh": "normal" } } }));
    await now.pass(ms);
    await repo.commit({ "app/deployment.yaml": `image: app:v${ms}\n` });
    await now.pass(600_000);
  }
  // Each commit renders to something else, so that one which is Synced was deployed.
  const early = now.states("a").filter(({ status }) => {
    const deployed = status?.history?.map(({ revisions }) => revisions?.[1]);
    return status?.sync?.status === "Synced" && deployed !== undefined && !deployed.includes(status.sync.revisions?.[1]);
  });
  expect(early.length).toBeGreaterThan(0);
});

test("a SyncError stays for as long as a sync window is closed, whatever is synced by hand", async () => {
  const { argo, repo, ...now } = await begin();
  await now.until("it is live", () => isLive(now.app("a")));
  argo.setFault("eu-1", { kind: "sync-failed" });
  await repo.commit({ "app/deployment.yaml": "image: app:v2\n" });
  argo.notifyPush({ repoURLs: [repo.url], ref: "refs/heads/main" });
  const hasError = () => now.app("a").status?.conditions?.some(({ type }) => type === "SyncError") === true;
  await now.until("the error", hasError);
  argo.setFault("eu-1", null);
  argo.setSyncWindows("default", [{ kind: "deny", schedule: "* * * * *", duration: "1h", applications: ["a"], manualSync: true }]);
  now.edit("a", (app) => ({ ...app, operation: { sync: {}, initiatedBy: { username: "alice" } } }));
  await now.until("it is live", () => isLive(now.app("a")));
  await now.pass(60_000);
  expect(hasError()).toBe(true);
  argo.setSyncWindows("default", []);
  await now.pass(400_000);
  expect(hasError()).toBe(false);
});
