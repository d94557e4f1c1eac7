import { afterEach, expect, test } from "vitest";
import { hasCode } from "../../src/core/base/reason.ts";
import { byHand, switchAutoSyncOff, syncsOf } from "../support/by-hand.ts";
import { type Journey, startJourney } from "../support/journey.ts";

let journey: Journey | undefined;

afterEach(async () => {
  await journey?.close();
  journey = undefined;
});

test("what somebody left to be synced, and nobody would, is not brought along by the bot's sync", async () => {
  journey = await startJourney(byHand("Request"));
  const { world } = journey;
  // Of each Application's spec, merged past review, and waiting for somebody to press Sync.
  await switchAutoSyncOff(world, (set) =>
    set.replace("path: apps/my-app\n", "path: apps/my-app\n        kustomize: { namePrefix: evil- }\n"),
  );
  await journey.release();
  const held = await journey.until("a person is asked", (run) => hasCode(run.batches[0]?.targets[0]?.why, "SYNC_NOT_ASKED"));
  expect(held.batches[0]?.targets[0]?.why).toMatchObject({ because: { code: "SYNC_UNSAFE", kind: "More" } });
  const merged = held.batches.filter((batch) => batch.merged !== undefined).length;
  expect([syncsOf(world), merged, journey.errors]).toEqual([{ asked: 0, revisions: new Map() }, 1, []]);
});
