import { afterEach, describe, expect, test } from "vitest";
import { epoch } from "../../src/core/base/time.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import { ended, type Journey, SHORT_CLUSTERS, short, startJourney } from "../support/journey.ts";
import { watchTruth } from "../support/truth.ts";
import { overTwoHubs, PLANES } from "../support/two-hubs.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const mergedBatches = (now: Journey) => now.run()?.batches.filter((batch) => batch.merged !== undefined).length;

describe("one rollout over two control planes", () => {
  test("each has its own clusters; one that cannot be reached holds its own batches, says so, and no other", async () => {
    journey = await startJourney({ files: overTwoHubs, planes: PLANES });
    const { world } = journey;
    const [eu, us] = world.planes;
    const applications = ({ kubernetes }: (typeof world.planes)[number]) =>
      kubernetes.store.list("applications").filter(({ metadata }) => metadata.name.startsWith("my-app-")).length;
    expect(world.planes.map(applications)).toEqual([8, 4]);
    const truth = watchTruth(journey);
    const release = await journey.release();

    await journey.until("the first batch is there", (run) => run.batches.length > 0);
    us?.kubernetes.faults.down(true);
    const held = await journey.until("the first batch is done without hub-us", (run) => run.batches[0]?.phase === "Settled");
    expect(held.batches[0]?.targets.map((target) => target.key)).toEqual([
      "hub-eu/argocd/my-app-eu-central-1-a",
      "hub-eu/argocd/my-app-eu-west-1-a",
    ]);
    await world.untilComment(release, "hub-us");
    expect(mergedBatches(journey)).toBe(1);
    us?.kubernetes.faults.down(false);

    await journey.until("hub-us is being updated", (run) => run.batches.filter((batch) => batch.merged !== undefined).length === 2);
    // The other one has no target in what is left: nothing waits for it.
    eu?.kubernetes.faults.down(true);
    const run = await journey.until("it ends", ended);
    expect([run.phase, journey.errors, truth.early]).toEqual(["Succeeded", [], []]);
    expect(SHORT_CLUSTERS.map((cluster) => journey?.versions().get(cluster))).toEqual(SHORT_CLUSTERS.map(() => "v1.4.2"));
  });
});

describe("an app of apps that nobody tells of pushes", () => {
  const ASKED = ["argocd.argoproj.io/refresh", "argocd.argoproj.io/application-set-refresh"];

  /** Names of who was asked to look, in the order they were. */
  function watchAsks({ world }: Journey): string[] {
    const asks: string[] = [];
    const isAsked = (object: { metadata: { annotations?: Record<string, string> } } | undefined) =>
      ASKED.some((annotation) => object?.metadata.annotations?.[annotation] !== undefined);
    for (const resource of ["applications", "applicationsets"])
      world.kubernetes.store.subscribe(resource, ({ object, previous }) => {
        if (isAsked(object) && !isAsked(previous)) asks.push(object.metadata.name);
      });
    return asks;
  }

  /** Seconds from the merge of each batch to the first comparison that shows it. */
  const untilSeen = (run: Run) =>
    run.batches.map(({ merged, targets }) => {
      const seen = targets.map(({ firstSeenAt }) => (firstSeenAt === undefined ? Number.NaN : epoch(firstSeenAt)));
      return (Math.max(...seen) - epoch(merged?.at ?? "")) / 1000;
    });

  test("the parent is asked once a merge, across a crash too, and a batch is seen in seconds instead of minutes", async () => {
    journey = await startJourney({ files: short(), argocdWebhook: false, annotationRefresh: true });
    const asks = watchAsks(journey);
    await journey.release();
    await journey.until("the parent was asked", () => asks.includes("config"));
    await journey.stop();
    await journey.start();
    const run = await journey.until("it ends", ended);
    expect([run.phase, journey.errors]).toEqual(["Succeeded", []]);
    // Where it looked by itself in the moment after a merge, nobody asks it.
    expect(asks.filter((name) => name === "config").length).toBeLessThanOrEqual(run.batches.length);
    // By itself it looks every two to three minutes.
    expect(untilSeen(run).filter((seconds) => !(seconds < 60))).toEqual([]);
  });

  test("where it may not be asked, people read who is waited for and what would help", async () => {
    journey = await startJourney({ files: short(), argocdWebhook: false });
    const release = await journey.release();
    const body = await journey.world.untilComment(release, "argo-cds-webhook");
    expect(body).toContain("Application config, which applies ApplicationSet my-app-set");
  });
});
