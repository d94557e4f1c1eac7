import { afterEach, describe, expect, test } from "vitest";
import { ended, type Journey, SHORT_CLUSTERS, startJourney } from "../support/journey.ts";
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
