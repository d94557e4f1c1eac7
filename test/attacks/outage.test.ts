import { afterEach, expect, test } from "vitest";
import { type Journey, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const OUTAGE_MS = 10 * 60_000;

test("who waits for GitHub to come back does not keep it down: ten minutes of 502 cost a few requests, and the run goes on", async () => {
  journey = await startJourney({ files: short() });
  const { world } = journey;
  await journey.release();
  await journey.until("batch 1 is merged", (run) => run.batches[0]?.merged !== undefined);
  let asked = 0;
  world.github.faults.request = () => {
    asked += 1;
    return { status: 502 };
  };
  await new Promise<void>((resolve) => void world.clock.after(OUTAGE_MS, resolve));
  delete world.github.faults.request;
  expect(asked).toBeGreaterThan(5);
  expect(asked).toBeLessThan(40);
  const run = await journey.until("batch 2 is merged", ({ batches }) => batches[1]?.merged !== undefined);
  expect(run.phase).toBe("Progressing");
});
