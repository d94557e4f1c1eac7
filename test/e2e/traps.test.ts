import { afterEach, describe, expect, test } from "vitest";
import type { Run } from "../../src/rollout/run.ts";
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

const TIMEOUT = { timeout: 120_000 };

async function begin(options: JourneyOptions): Promise<{ journey: Journey; truth: Truth }> {
  journey = await startJourney({ speed: 60, ...options });
  return { journey, truth: watchTruth(journey) };
}

async function expectWell(now: Journey, truth: Truth, clusters = SHORT_CLUSTERS): Promise<Run> {
  const run = await now.until("it ends", ended);
  expect([run.phase, now.errors, truth.early]).toEqual(["Succeeded", [], []]);
  expect(truth.looks()).toBeGreaterThanOrEqual(clusters.length);
  expect(clusters.map((cluster) => now.versions().get(cluster))).toEqual(clusters.map(() => "v1.4.2"));
  return run;
}

/** The sample in which people may turn auto-sync off and on for a single Application, as Argo CD's documents propose. */
const withSwitch: NonNullable<JourneyOptions["files"]> = (files) => {
  short()(files);
  const path = "appsets/my-app-set.yaml";
  const ignored = "  ignoreApplicationDifferences:\n    - jsonPointers: [/spec/syncPolicy]\n";
  files.set(path, (files.get(path) ?? "").replace("spec:\n", `spec:\n${ignored}`));
};

function autoSync({ world }: Journey, cluster: string, enabled: boolean): void {
  world.kubernetes.store.change("applications", "argocd", `my-app-${cluster}`, (object) => {
    const { spec, ...app } = asApplication(object);
    return { ...app, spec: { ...spec, syncPolicy: { automated: { prune: true, enabled } } } };
  });
}

describe("traps, seen through Kubernetes", () => {
  test("shards that are late or down, retries, windows, auto-sync off, health that flashes and dips", TIMEOUT, async () => {
    const { journey, truth } = await begin({ files: withSwitch, lag: { flash: 6000 } });
    const { argocd } = journey.world;
    // argo-cd#22558, #12325, #29410: one cluster sees its new spec minutes late, and is Synced and Healthy until then.
    argocd.setFault("eu-west-1-a", { kind: "late", by: 150_000 });
    // argo-cd#20428, #22639: the wait between two tries looks like an end.
    argocd.setFault("eu-central-1-a", { kind: "sync-failed", attempts: 3 });
    // argo-cd#29307: nothing in the status says that a window is closed.
    const closed = { kind: "deny", schedule: "* * * * *", duration: "1h", applications: ["my-app-us-east-1-a"] } as const;
    argocd.setSyncWindows("default", [{ ...closed, applications: [...closed.applications] }]);
    autoSync(journey, "us-east-1-b", false);
    // kargo#672: Degraded for a while on the way.
    argocd.setFault("us-east-1-c", { kind: "degraded", recoversAfter: 30_000 });
    argocd.setFault("us-east-1-d", { kind: "controller-down" });
    await journey.release();

    await truth.hears("eu-west-1-a", /older spec \(comparedTo is not the spec\)/);
    await truth.hears("eu-central-1-a", /waits for retry \d/);
    await truth.hears("us-east-1-a", /waits for a sync window/);
    argocd.setSyncWindows("default", []);
    await truth.hears("us-east-1-b", /auto-sync is off: a person must sync/);
    autoSync(journey, "us-east-1-b", true);
    await truth.hears("us-east-1-c", /Progressing|Degraded/);
    await truth.hears("us-east-1-d", /older spec \(comparedTo is not the spec\)/);
    argocd.setFault("us-east-1-d", null);
    await expectWell(journey, truth);
  });
});
