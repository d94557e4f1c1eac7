import { afterEach, describe, expect, test } from "vitest";
import { SHORT_LAG } from "../../src/sim/argocd/application/lag.ts";
import { ended, type Journey, SHORT_CLUSTERS, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

async function expectSameEnd(now: Journey): Promise<void> {
  const run = await now.until("it ends", ended);
  const versions = now.versions();
  const merged = now.subjects().filter((subject) => subject.startsWith("my-app v1.4.2: "));
  expect([run.phase, now.errors]).toEqual(["Succeeded", []]);
  expect(SHORT_CLUSTERS.map((cluster) => versions.get(cluster))).toEqual(SHORT_CLUSTERS.map(() => "v1.4.2"));
  expect([merged.length, new Set(merged).size]).toEqual([3, 3]);
}

describe("more than one life", () => {
  test("a release merged while no bot runs is found when one starts", async () => {
    journey = await startJourney({ files: short() });
    await journey.stop();
    const pull = await journey.release();
    await journey.start();
    await expectSameEnd(journey);
    expect(journey.run()?.trigger.pull).toBe(pull);
  });

  test("a bot that never lives for longer than one look brings a run to its end", async () => {
    journey = await startJourney({ files: short(), lag: SHORT_LAG, annotationRefresh: true });
    await journey.release();
    const { clock } = journey.world;
    let lives = 0;
    for (; lives < 40 && journey.run()?.phase !== "Succeeded"; lives++) {
      await journey.stop();
      await new Promise<void>((resolve) => void clock.after(4_000, resolve));
      await journey.start();
    }
    // Of each of three batches: opened, merged, seen, settled; and what only passes the time.
    expect(lives).toBeLessThan(40);
    await expectSameEnd(journey);
  });
});
