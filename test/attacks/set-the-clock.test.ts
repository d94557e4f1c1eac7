import { afterEach, expect, test } from "vitest";
import { type Clock, epoch } from "../../src/core/base/time.ts";
import type { Run } from "../../src/core/run/state/run.ts";
import { type Journey, short, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

const QUARTER_MS = 15 * 60_000;
const BAKE_MS = 10 * 60_000;

const bakes = (number: number) => (run: Run) => run.batches[number - 1]?.phase === "Baking";

test("whoever sets the clock a quarter of an hour ahead ends no bake, not even over a restart", async () => {
  let ahead = 0;
  const machine = (world: Clock): Clock => ({ now: () => world.now() + ahead, after: world.after });
  journey = await startJourney({ files: short({ bake: "10m" }), machine });
  const { world } = journey;
  /** When each batch was seen to bake, and to be merged, by the time that nobody has set. */
  const [baking, merged] = [new Map<number, number>(), new Map<number, number>()];
  const note = () => {
    for (const batch of journey?.run()?.batches ?? []) {
      if (batch.merged !== undefined && !merged.has(batch.number)) merged.set(batch.number, world.clock.now());
      if (batch.phase === "Baking" && !baking.has(batch.number)) baking.set(batch.number, world.clock.now());
    }
  };
  journey.bot.onChange(note);
  await journey.release();
  await journey.until("batch 1 bakes", bakes(1));
  ahead = QUARTER_MS;
  await journey.until("batch 2 bakes", bakes(2));
  await journey.stop();
  ahead = 2 * QUARTER_MS;
  await journey.start();
  journey.bot.onChange(note);
  const run = await journey.until("batch 3 is merged", ({ batches }) => batches[2]?.merged !== undefined);
  expect([run.phase, journey.errors]).toEqual(["Progressing", []]);
  note();
  for (const number of [1, 2]) {
    const baked = (merged.get(number + 1) ?? 0) - (baking.get(number) ?? Number.POSITIVE_INFINITY);
    expect(baked, `bake ${number}`).toBeGreaterThan(BAKE_MS - 20_000);
  }
  // What the journal says is GitHub's time again.
  expect(Math.abs(epoch(run.batches[1]?.settledAt ?? "") - world.clock.now())).toBeLessThan(60_000);
});
