import { expect, test } from "vitest";
import { recordedEvents } from "./recorded-events.ts";

const RUN = { rollout: "payments", number: 3 };

test("of a commit that recorded several events each is told, so that no failure hides behind `(and 1 more)`", () => {
  const trailers = {
    "Stagecoach-Run": "payments/3",
    "Stagecoach-Event": "payments run 3: merged #6 as 7909f38; payments run 3: eu-1 failed; it has been Degraded",
  };
  expect(recordedEvents(RUN, "payments run 3: merged #6 as 7909f38 (and 1 more)", trailers)).toEqual([
    "merged #6 as 7909f38",
    "eu-1 failed; it has been Degraded",
  ]);
});

test("a commit of several runs, or without its events, says its subject", () => {
  const both = { "Stagecoach-Run": "payments/3 search/1", "Stagecoach-Event": "payments run 3: a; search run 1: b" };
  expect(recordedEvents(RUN, "payments run 3: a (and 1 more)", both)).toEqual(["a (and 1 more)"]);
  expect(recordedEvents(RUN, "payments #3: a", {})).toEqual(["payments #3: a"]);
});
