import { afterEach, describe, expect, test } from "vitest";
import { ended, type Journey, SHORT_CLUSTERS, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

/** Every cluster at the release, each batch merged once, no invariant violated. */
async function expectSameEnd(now: Journey): Promise<void> {
  const run = await now.until("it ends", ended);
  const versions = now.versions();
  const merged = now.subjects().filter((subject) => subject.startsWith("my-app v1.4.2: "));
  expect([run.phase, now.errors]).toEqual(["Succeeded", []]);
  expect(SHORT_CLUSTERS.map((cluster) => versions.get(cluster))).toEqual(SHORT_CLUSTERS.map(() => "v1.4.2"));
  expect(merged.length).toBe(3);
  expect(new Set(merged).size).toBe(3);
}

describe("an API that fails", () => {
  test("GitHub answers 502 after having merged: the merge is found, and nothing is merged twice", async () => {
    journey = await startJourney({ files: short() });
    let failed = 0;
    journey.world.github.faults.request = ({ method, path, actor }) => {
      if (method !== "PUT" || !path.endsWith("/merge") || actor !== journey?.world.github.app.login) return undefined;
      failed += 1;
      return { status: 502, body: { message: "Server Error" }, afterwards: true };
    };
    await journey.release();
    await expectSameEnd(journey);
    expect(failed).toBe(3);
  });

  test("405 'Base branch was modified' is tried again", async () => {
    journey = await startJourney({ files: short() });
    await journey.release();
    const refused = new Set<number>();
    journey.world.github.faults.merge = ({ number }) => {
      if (refused.has(number)) return undefined;
      refused.add(number);
      return { status: 405, message: "Base branch was modified. Review and try the merge again." };
    };
    await expectSameEnd(journey);
    expect(refused.size).toBeGreaterThan(1);
  });

  test("tokens taken back before their time are minted anew, again and again", async () => {
    // A token that was just made and is refused is tried for five seconds of the wall's clock before another is asked for.
    journey = await startJourney({ files: short(), pace: 60 });
    const { bot, world } = journey;
    let taken = 0;
    bot.onChange(() => {
      const merged = (journey?.run()?.batches ?? []).filter((batch) => batch.merged !== undefined).length;
      if (merged > taken) world.github.expireTokens();
      taken = merged;
    });
    await journey.release();
    const run = await journey.until("it ends", ended);
    expect([run.phase, taken]).toEqual(["Succeeded", 3]);
  });
});
