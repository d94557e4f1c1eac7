import { afterEach, describe, expect, test } from "vitest";
import type { Run } from "../../src/core/run/state/run.ts";
import { asApplication } from "../../src/sim/argocd/types.ts";
import { ended, type Journey, type JourneyOptions, SHORT_CLUSTERS, short, startJourney } from "../support/journey.ts";
import { type Truth, watchTruth } from "../support/truth.ts";

/*
 * What peers were bitten by, end to end: several traps a world, one a cluster. Whatever Argo CD shows, a target is confirmed and
 * the next batch merged only once the clusters themselves, behind Argo CD's back, are at the new version and healthy; and the run
 * says what it waits for.
 */

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

async function begin(options: JourneyOptions): Promise<{ journey: Journey; truth: Truth }> {
  journey = await startJourney(options);
  return { journey, truth: watchTruth(journey) };
}

async function expectWell(now: Journey, truth: Truth, clusters = SHORT_CLUSTERS): Promise<Run> {
  const run = await now.until("it ends", ended);
  expect([run.phase, now.errors, truth.early]).toEqual(["Succeeded", [], []]);
  expect(truth.looks()).toBeGreaterThanOrEqual(clusters.length);
  expect(clusters.map((cluster) => now.versions().get(cluster))).toEqual(clusters.map(() => "v1.4.2"));
  return run;
}

/**
 * The sample in which people may turn auto-sync off and on for a single Application, as Argo CD's documents propose. Syncs are tried
 * for ever and failures have time to mend, so that each trap lasts until the test has seen it, however slow the machine is.
 */
const withSwitch: NonNullable<JourneyOptions["files"]> = (files) => {
  short({ spec: "grace: 20m" })(files);
  const path = "appsets/my-app-set.yaml";
  const ignored = "  ignoreApplicationDifferences:\n    - jsonPointers: [/spec/syncPolicy]\n";
  const set = (files.get(path) ?? "").replace("spec:\n", `spec:\n${ignored}`);
  files.set(path, set.replace("      syncPolicy:\n", "      syncPolicy:\n        retry: { limit: -1 }\n"));
};

function autoSync({ world }: Journey, cluster: string, enabled: boolean): void {
  world.kubernetes.store.change("applications", "argocd", `my-app-${cluster}`, (object) => {
    const { spec, ...app } = asApplication(object);
    return { ...app, spec: { ...spec, syncPolicy: { automated: { prune: true, enabled } } } };
  });
}

describe("traps, seen through Kubernetes", () => {
  test("shards that are late or down, retries, windows, auto-sync off, health that flashes and dips", async () => {
    const { journey, truth } = await begin({ files: withSwitch, lag: { flash: 6000 } });
    const { argocd } = journey.world;
    // argo-cd#22558, #12325, #29410: one cluster sees its new spec minutes late, and is Synced and Healthy until then.
    argocd.setFault("eu-west-1-a", { kind: "late", by: 400_000 });
    // argo-cd#20428, #22639: the wait between two tries looks like an end.
    argocd.setFault("eu-central-1-a", { kind: "sync-failed" });
    // argo-cd#29307: nothing in the status says that a window is closed.
    const closed = { kind: "deny", schedule: "* * * * *", duration: "1h", applications: ["my-app-us-east-1-a"] } as const;
    argocd.setSyncWindows("default", [{ ...closed, applications: [...closed.applications] }]);
    autoSync(journey, "us-east-1-b", false);
    // kargo#672: Degraded for a while on the way.
    argocd.setFault("us-east-1-c", { kind: "degraded" });
    argocd.setFault("us-east-1-d", { kind: "controller-down" });
    await journey.release();

    await truth.hears("eu-west-1-a", /an older spec of it \(status\.sync\.comparedTo\)/);
    await truth.hears("eu-central-1-a", /waits for retry \d/);
    argocd.setFault("eu-central-1-a", null);
    await truth.hears("us-east-1-a", /waits for a sync window/);
    argocd.setSyncWindows("default", []);
    await truth.hears("us-east-1-b", /auto-sync is off: a person who may sync it must press Sync/);
    autoSync(journey, "us-east-1-b", true);
    await truth.hears("us-east-1-c", /has been Degraded since/);
    argocd.setFault("us-east-1-c", null);
    await truth.hears("us-east-1-d", /an older spec of it \(status\.sync\.comparedTo\)/);
    argocd.setFault("us-east-1-d", null);
    await expectWell(journey, truth);
  });
});

/** The sample as an Argo Rollout that stops after half of its pods. */
const withCanary: NonNullable<JourneyOptions["files"]> = (files) => {
  short()(files);
  const path = "apps/my-app/deployment.yaml";
  const text = (files.get(path) ?? "").replace("apiVersion: apps/v1\nkind: Deployment", "apiVersion: argoproj.io/v1alpha1\nkind: Rollout");
  files.set(path, text.replace("spec:\n", "spec:\n  strategy: { canary: { steps: [{ setWeight: 50 }, { pause: {} }] } }\n"));
};

/** Resolves once this holds of the world; looked at whenever an Application is written. */
function untilSeen({ world }: Journey, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const off = world.kubernetes.store.subscribe("applications", look);
    function look(): void {
      if (!holds()) return;
      off();
      resolve();
    }
    look();
  });
}

/** Truly, in the clusters; the clock alone tells, since nothing else may. */
async function untilHealthy(argocd: Journey["world"]["argocd"], clusters: readonly string[]): Promise<void> {
  await expect
    .poll(() => clusters.map((cluster) => argocd.liveHealth(`my-app-${cluster}`)), { timeout: 600_000 })
    .toEqual(clusters.map(() => "Healthy"));
}

describe("traps, seen through Argo CD's REST API", () => {
  test("canaries that pause, a cluster that is down, a generator that fails, controllers that are started anew", async () => {
    const { journey, truth } = await begin({ overApi: true, files: withCanary });
    const { argocd, kubernetes } = journey.world;
    const rollout = (cluster: string) => argocd.rolloutsOf(`my-app-${cluster}`)[0]?.["status"] as { phase?: string } | undefined;
    const paused = (cluster: string) => rollout(cluster)?.phase === "Paused";
    const release = await journey.release();

    // argo-cd#25054: Suspended is in progress, however long.
    await truth.hears("eu-west-1-a", /Suspended.*paused, such as a Rollout at a canary step/);
    await untilSeen(journey, () => paused("eu-west-1-a") && paused("eu-central-1-a"));
    expect(journey.run()?.batches.filter(({ merged }) => merged !== undefined)).toHaveLength(1);
    argocd.resume("eu-west-1-a");
    // argo-cd#8860: the other one goes away, and stays as healthy as it was.
    argocd.setFault("eu-central-1-a", { kind: "unreachable", noticed: true });
    argocd.resume("eu-central-1-a");
    await truth.hears("eu-central-1-a", /Argo CD cannot reach cluster eu-central-1-a/);
    argocd.failGenerator("my-app-set", "plugin: 503");
    argocd.setFault("eu-central-1-a", null);

    // An error of the generator changes nothing, and nothing in the Applications looks wrong.
    await journey.world.untilComment(release, "plugin: 503");
    argocd.failGenerator("my-app-set", null);
    await untilSeen(journey, () => paused("us-east-1-a") && paused("us-east-1-b"));
    await truth.hears("us-east-1-a", /Suspended/);
    // Controllers that are started anew: what they had written stands, whatever went on in the clusters meanwhile.
    argocd.setControllersDown(true);
    argocd.resume("us-east-1-a");
    argocd.resume("us-east-1-b");
    await untilHealthy(argocd, ["us-east-1-a", "us-east-1-b"]);
    expect(journey.run()?.batches.flatMap(({ merged }) => merged ?? [])).toHaveLength(2);
    argocd.setControllersDown(false);
    await untilSeen(journey, () => paused("us-east-1-c") && paused("us-east-1-d"));
    argocd.resume("us-east-1-c");
    argocd.resume("us-east-1-d");
    await expectWell(journey, truth);
    expect(kubernetes.requests().size).toBe(0);
  });
});

/** Whether this is the sick one's Degraded: what the streams do not tell. */
const isDegraded = (cluster: string) => (object: { metadata: { name: string } }) =>
  object.metadata.name === `my-app-${cluster}` &&
  (object as { status?: { health?: { status?: string } } }).status?.health?.status === "Degraded";

describe("the one event that matters is dropped on the way (argo-cd#24750)", () => {
  test.each([
    ["by Argo CD's stream", true],
    ["by the watch", false],
  ])("%s: neither the confirmation nor the end of a bake believes the Healthy that was told", async (_, overApi) => {
    const spec = short({ spec: "settle: 30s", bake: "5m" });
    const { journey, truth } = await begin({ overApi, annotationRefresh: !overApi, files: spec });
    const { argocd, kubernetes } = journey.world;
    const lose = overApi ? argocd.api.faults.loseEvents : kubernetes.faults.loseEvents;
    const alice = journey.world.github.actAs("alice");
    const failed = (cluster: string) =>
      journey.until(`${cluster} has failed`, ({ paused, batches }) => {
        const target = batches.flatMap(({ targets }) => targets).find((one) => one.cluster === `hub/${cluster}`);
        return paused?.kind === "Failure" && target?.phase === "Failed";
      });

    // Healthy for less than it takes to settle.
    argocd.setFault("eu-west-1-a", { kind: "degraded", after: 20_000 });
    lose(isDegraded("eu-west-1-a"));
    const release = await journey.release();
    const first = await failed("eu-west-1-a");
    expect(first.batches.filter(({ merged }) => merged !== undefined)).toHaveLength(1);
    lose(null);
    argocd.setFault("eu-west-1-a", null);

    // Healthy until the bake has begun, and not until its end.
    alice.comment(journey.world.repository, release, "/retry");
    await journey.until("the second batch bakes", ({ batches }) => batches[1]?.phase === "Baking");
    lose(isDegraded("us-east-1-b"));
    argocd.setFault("us-east-1-b", { kind: "degraded", scope: "now" });
    const second = await failed("us-east-1-b");
    expect(second.batches.filter(({ merged }) => merged !== undefined)).toHaveLength(2);
    lose(null);
    argocd.setFault("us-east-1-b", null);
    alice.comment(journey.world.repository, release, "/retry");
    await expectWell(journey, truth);
  });
});
